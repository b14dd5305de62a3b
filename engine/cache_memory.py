"""The warm tier: blocks of idle conversations in main memory, within a budget.

It knows nothing of files or devices; what leaves it is either on disk too or has to be read again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from engine.cache_file import Block
from engine.eviction import Candidate, eviction_order, expired

RestoreSeconds = Callable[[str, int], float]


@dataclass(slots=True)
class _Warm:
    blocks: list[Block] = field(default_factory=list)
    last_used: float = 0.0
    pinned: bool = False

    @property
    def nbytes(self) -> int:
        return sum(block.nbytes for block in self.blocks)


class MemoryTier:
    """Blocks by conversation; safe to use from several threads.

    Args:
        budget: bytes of all together.
        idle_seconds: unused for so long, a conversation leaves.
        restore_seconds: from key and bytes, how long getting it back would take.
    """

    def __init__(
        self,
        budget: int,
        idle_seconds: float,
        restore_seconds: RestoreSeconds,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.budget = budget
        self._idle_seconds, self._restore_seconds = idle_seconds, restore_seconds
        self._clock = clock
        self._warm: dict[str, _Warm] = {}
        self._lock = threading.RLock()

    def touch(self, key: str, *, pinned: bool | None = None) -> None:
        """Notes a use. A pinned conversation doesn't leave; None leaves that as it is."""
        with self._lock:
            warm = self._warm.setdefault(key, _Warm())
            warm.last_used = self._clock()
            warm.pinned = warm.pinned if pinned is None else pinned

    def put(self, key: str, blocks: Iterable[Block]) -> None:
        """Keeps blocks in place of those of `key`, as the budget allows."""
        with self._lock:
            warm = self._warm.setdefault(key, _Warm(last_used=self._clock()))
            warm.blocks = list(blocks)
            while self.nbytes() > self.budget and self.release_one():
                pass

    def get(self, key: str) -> list[Block]:
        """The blocks, which stay."""
        with self._lock:
            return list(self._warm[key].blocks) if key in self._warm else []

    def pop(self, key: str) -> list[Block]:
        """The blocks, which leave."""
        with self._lock:
            blocks = self.get(key)
            if key in self._warm:
                self._warm[key].blocks = []
            return blocks

    def forget(self, key: str) -> None:
        """Drops blocks and everything noted."""
        with self._lock:
            self._warm.pop(key, None)

    def sweep(self) -> set[str]:
        """Drops what expired; returns whose, those that hold nothing here included."""
        with self._lock:
            gone = set(expired(self._candidates(empty=True), self._idle_seconds))
            for key in gone:
                self._warm[key].blocks = []
        return gone

    def order(self, sizes: dict[str, int]) -> list[str]:
        """In which order conversations of these sizes should leave another tier above."""
        with self._lock:
            found = self._candidates(empty=True, sizes=sizes)
            return eviction_order(found, self._idle_seconds)

    def release_one(self) -> bool:
        """Drops the conversation that matters least; False if none may go."""
        with self._lock:
            order = eviction_order(self._candidates(), self._idle_seconds)
            if order:
                self._warm[order[0]].blocks = []
        return bool(order)

    def nbytes(self, key: str = "") -> int:
        """Bytes of one conversation, or of all."""
        with self._lock:
            if key:
                return self._warm[key].nbytes if key in self._warm else 0
            return sum(warm.nbytes for warm in self._warm.values())

    def _candidates(
        self, *, empty: bool = False, sizes: dict[str, int] | None = None
    ) -> list[Candidate]:
        now = self._clock()
        found = []
        for key, warm in self._warm.items():
            if not (warm.blocks or empty) or (sizes is not None and key not in sizes):
                continue
            size = warm.nbytes if sizes is None else sizes[key]
            seconds = self._restore_seconds(key, size)
            found.append(Candidate(key, size, seconds, now - warm.last_used, warm.pinned))
        return found
