"""Steps down when memory runs low, and up again when it is back.

It decides from samples alone: which window conversations may have at present, and when idle
conversations have to leave. It frees nothing itself and knows no backend; every step is logged
and given to the caller as one line for the user.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence

from engine.memory_probe import Memory

WINDOWS = (8192, 4096, 2048, 1024)
RESERVE_SHARE = 0.08
RESERVE_LEAST = 96 << 20
RESERVE_MOST = 1 << 30
AMPLE = 2.0
CALM_SECONDS = 20.0

_log = logging.getLogger(__name__)

Sample = Callable[[], Sequence[Memory]]


def reserve(total: int) -> int:
    """Bytes that should stay free of `total`."""
    return int(min(max(total * RESERVE_SHARE, RESERVE_LEAST), RESERVE_MOST, total / 4))


class Governor:
    """The window that memory allows.

    Args:
        window: the window when memory is ample.
        sample: gives free and total bytes of each kind of memory that counts.
        release_idle: makes one idle conversation leave, and says whether there was one.
        interval: seconds between samples; `check` in between does nothing.
        calm_seconds: memory must be ample for so long before a step up.
    """

    def __init__(
        self,
        window: int,
        sample: Sample,
        release_idle: Callable[[], bool],
        *,
        interval: float = 1.0,
        calm_seconds: float = CALM_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._windows = [window, *(size for size in WINDOWS if size < window)]
        self._level = 0
        self._sample, self._release_idle = sample, release_idle
        self._interval, self._calm_seconds, self._clock = interval, calm_seconds, clock
        self._next = float("-inf")
        self._calm_since: float | None = None
        self._told_lowest = False
        self.short = self._refused = False

    @property
    def window(self) -> int:
        """Most tokens of a conversation at present."""
        return self._windows[self._level]

    def check(self) -> list[str]:
        """Samples if it is time, takes at most one step, and returns lines for the user."""
        now = self._clock()
        if now < self._next:
            return []
        self._next = now + self._interval
        if self._refused:
            self._refused, self._calm_since = False, None
            return self._step_down(Memory("memory", 0, 0))
        memories = self._sample()
        tight = [memory for memory in memories if memory.free < reserve(memory.total)]
        self.short = bool(tight)
        if tight:
            self._calm_since = None
            return self._step_down(min(tight, key=lambda memory: memory.free))
        if all(memory.free >= AMPLE * reserve(memory.total) for memory in memories):
            return self._calm(now)
        self._calm_since = None
        return []

    def refused(self) -> None:
        """An allocation failed: the next `check` steps down whatever the samples say."""
        self._refused = self.short = True
        self._next = float("-inf")

    def _step_down(self, memory: Memory) -> list[str]:
        if self._release_idle():
            return self._say(f"{_short(memory)}; an idle conversation was moved to disk.")
        if self._level + 1 < len(self._windows):
            self._level += 1
            return self._say(
                f"{_short(memory)}; conversations now keep {self.window:,} tokens in view."
            )
        if self._told_lowest:
            return []
        self._told_lowest = True
        return self._say(f"{_short(memory)} and nothing is left to give up; close other programs.")

    def _calm(self, now: float) -> list[str]:
        if self._calm_since is None:
            self._calm_since = now
        if now - self._calm_since < self._calm_seconds:
            return []
        self._told_lowest = False
        if self._level == 0:
            return []
        self._level -= 1
        self._calm_since = now
        return self._say(
            f"Memory is free again; conversations may keep {self.window:,} tokens in view."
        )

    def _say(self, line: str) -> list[str]:
        _log.warning("governor: %s", line)
        return [line]


def _short(memory: Memory) -> str:
    name = memory.name[0].upper() + memory.name[1:]
    return f"{name} is low ({memory.free >> 20:,} MB free)"
