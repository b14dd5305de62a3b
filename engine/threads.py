"""How many threads pay: one for each core that nobody else uses.

A decoder's threads wait for each other at every layer, so one that shares its core holds up all:
two threads on one free core are slower than one. What others did while the decoder had nothing to
do says little about now: the search that ranked a question's passages has just ended. So after a
pause it begins with all cores and looks anew. It knows cores and loads, no decoder.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import psutil

INTERVAL = 1.0
PAUSE = 0.25
FIRST_INTERVAL = 0.1
_MOSTLY_FREE = 0.6

Times = Callable[[], tuple[float, float]]


def usable_cores() -> int:
    """Physical cores that this process may use."""
    allowed = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    ) or 1
    physical = psutil.cpu_count(logical=False) or allowed
    return max(1, min(allowed, physical))


def busy_seconds() -> tuple[float, float]:
    """CPU seconds used so far by the whole machine, and by this process."""
    machine, own = psutil.cpu_times(), psutil.Process().cpu_times()
    busy = sum(machine) - machine.idle - getattr(machine, "iowait", 0.0)
    return busy, own.user + own.system


class Threads:
    """The number of threads for the next forward, looked at about once a second.

    Make it before the model is loaded: how busy others are meanwhile decides how it begins.

    Args:
        fixed: if not 0, always this many.
        cores: at most this many.
    """

    def __init__(
        self,
        fixed: int = 0,
        *,
        cores: int = 0,
        times: Times = busy_seconds,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._fixed, self._cores = fixed, cores or usable_cores()
        self._times, self._clock = times, clock
        self._count = self._cores
        self._since, self._interval = clock(), FIRST_INTERVAL
        self._last = times() if not fixed else (0.0, 0.0)
        self._ended: float | None = None

    def count(self) -> int:
        """Threads that pay now, at least 1."""
        if self._fixed:
            return self._fixed
        now = self._clock()
        passed = now - self._since
        if self._ended is not None and now - self._ended > PAUSE:
            self._count, self._interval = self._cores, FIRST_INTERVAL
            self._since, self._last = now, self._times()
        elif passed >= self._interval:
            machine, own = self._times()
            others = max(0.0, (machine - self._last[0]) - (own - self._last[1])) / passed
            self._count = max(1, min(self._cores, int(self._cores - others + _MOSTLY_FREE)))
            self._since, self._last, self._interval = now, (machine, own), INTERVAL
        return self._count

    def done(self) -> None:
        """A forward has ended."""
        self._ended = self._clock()
