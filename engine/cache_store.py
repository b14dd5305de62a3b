"""The tiers below the device: keys and values of idle conversations in memory and on disk.

It knows blocks and whose they are; it never touches a backend: the caller says what its device
holds, and gives a function that saves a range of positions.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from engine.cache_disk import CacheDisk
from engine.cache_file import Block
from engine.cache_identity import CacheIdentity
from engine.cache_memory import MemoryTier
from engine.cache_plan import Span, joined
from engine.cold_store import ColdStore, Save, Wanted
from engine.types import TokenId

DISK_SPEED = 1 << 30

Source = Literal["", "memory", "disk"]


class CacheStore:
    """Keeps blocks of conversations for as long as it pays.

    Attributes:
        memory: the warm tier; blocks of a conversation that leaves the device are put there.

    Args:
        disk: the cold tier; None keeps nothing on disk.
        memory_budget: bytes in memory.
        idle_seconds: unused for so long, a conversation leaves memory.
        bytes_per_token, prefill_speed: tell what a loss would cost.
        notify: gets lines for the user; called from any thread.
    """

    def __init__(
        self,
        disk: CacheDisk | None,
        *,
        memory_budget: int,
        idle_seconds: float,
        bytes_per_token: int,
        prefill_speed: Callable[[], float] = lambda: 300.0,
        notify: Callable[[str], None] = lambda line: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._cold = ColdStore(disk, notify) if disk is not None else None
        self.memory = MemoryTier(memory_budget, idle_seconds, self._restore_seconds, clock)
        self._bytes_per_token = max(bytes_per_token, 1)
        self._prefill_speed = prefill_speed
        self._known: set[str] = set()

    # Whose blocks are kept.

    def register(
        self, key: str, folder: Path | None, identity: CacheIdentity, origin: CacheIdentity | None
    ) -> None:
        """Makes a conversation known; its file is looked at when it is needed."""
        self._known.add(key)
        self.memory.touch(key)
        if self._cold is not None and folder is not None:
            self._cold.register(key, folder, identity, origin)

    def known(self, key: str) -> bool:
        """Whether `register` was called."""
        return key in self._known

    def forget(self, key: str) -> None:
        """Lets a conversation leave memory; its file stays."""
        self._known.discard(key)
        if self._cold is not None:
            self._cold.forget(key)
        self.memory.forget(key)

    def pin(self, key: str, pinned: bool) -> None:
        """A pinned (running) conversation keeps its place in every tier."""
        self.memory.touch(key, pinned=pinned)
        if self._cold is not None:
            self._cold.pin(key, pinned)

    # The device's content, written behind.

    def sync(
        self,
        key: str,
        spans: Sequence[Span],
        ids: Sequence[TokenId],
        save: Save,
        *,
        shared: str = "",
        whole: bool = False,
    ) -> int:
        """Makes the file hold exactly what the device holds, soon.

        Only ranges that the file lacks are saved (now) and written (later, in a thread).

        Args:
            key: the conversation.
            spans: all that the device holds of it, but for the shared beginning; in order.
            ids: its transcript, on which the blocks' contexts depend.
            save: `Backend.save` for the conversation's sequence.
            shared: key of the shared beginning.
            whole: the model's state can be saved only as one block.

        Returns:
            Tokens that are being written.
        """
        if self._cold is None:
            return 0
        parts = joined(spans) if whole else spans
        return self._cold.sync(key, parts, ids, save, shared, whole=whole)

    def prune(self, key: str, wanted: Wanted) -> None:
        """Drops the blocks that aren't wanted, from memory now and from the file soon."""
        self.memory.put(key, [block for block in self.memory.get(key) if wanted(block)])
        if self._cold is not None:
            self._cold.prune(key, wanted)

    def reject(self, key: str) -> None:
        """The backend refused what was kept: it isn't kept any longer."""
        self.memory.pop(key)
        if self._cold is not None:
            self._cold.reject(key)

    # Back to the device.

    def take(self, key: str, wanted: Wanted) -> tuple[list[Block], Source]:
        """Gives the blocks that are wanted, checked, in order; they leave memory."""
        self.flush(key)  # a prefetch may be on its way
        self.memory.touch(key)
        blocks = [block for block in self.memory.pop(key) if wanted(block)]
        if blocks:
            return blocks, "memory"
        blocks = self._cold.read(key, wanted) if self._cold is not None else []
        return blocks, "disk" if blocks else ""

    def shared(self, key: str) -> str:
        """Key of the shared beginning that the kept blocks build on, or ""."""
        return self._cold.shared(key) if self._cold is not None else ""

    def prefetch(self, key: str) -> None:
        """Reads a conversation from disk into memory, in a thread."""
        if self._cold is not None and not self.memory.nbytes(key):
            self._cold.read_later(key, lambda blocks: self.memory.put(key, blocks))

    # Copies and ends.

    def fork(
        self, key: str, new_key: str, folder: Path | None, identity: CacheIdentity
    ) -> CacheIdentity | None:
        """Gives `new_key` what `key` has; nothing is copied until one of them differs.

        Returns:
            Whose key the shared file has.
        """
        self._known.add(new_key)
        self.memory.touch(new_key)
        self.memory.put(new_key, self.memory.get(key))
        if self._cold is None or folder is None:
            return None
        return self._cold.fork(key, new_key, folder, identity)

    def delete(self, key: str) -> None:
        """Removes everything that is kept of a conversation."""
        self._known.discard(key)
        if self._cold is not None:
            self._cold.delete(key)
        self.memory.forget(key)

    def mark_use(self, shared: str, user: Path) -> None:
        """Notes that the conversation in the folder `user` builds on a shared beginning."""
        if self._cold is not None:
            self._cold.mark_use(shared, user)

    def release_unused(self) -> set[str]:
        """Removes shared beginnings from disk that nobody builds on; their keys."""
        return self._cold.release_unused() if self._cold is not None else set()

    def flush(self, key: str = "", timeout: float | None = None) -> bool:
        """Waits until what was queued (for `key`) is done; False on time-out."""
        return self._cold is None or self._cold.flush(key, timeout)

    def close(self) -> None:
        """Writes what is queued and ends the thread."""
        if self._cold is not None:
            self._cold.close()

    def _restore_seconds(self, key: str, nbytes: int) -> float:
        if self._cold is not None and self._cold.has_file(key):
            return nbytes / DISK_SPEED
        return nbytes / self._bytes_per_token / max(self._prefill_speed(), 1.0)
