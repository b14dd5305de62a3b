"""The tiers below the device: keys and values of idle conversations in memory and on disk.

Writing happens behind the caller's back, in one thread, in order. It knows blocks and whose they
are; it never touches a backend: the caller says what its device holds, and gives a function that
saves a range of positions.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from engine.background import Background
from engine.cache_disk import CacheDisk
from engine.cache_file import Block
from engine.cache_format import BlockEntry, CacheIdentity
from engine.cache_memory import MemoryTier
from engine.cache_plan import Planned, Span, compare, joined
from engine.disk import Buffer
from engine.types import TokenId

DISK_SPEED = 1 << 30

_log = logging.getLogger(__name__)

Source = Literal["", "memory", "disk"]
Save = Callable[[int, int], Buffer]
Wanted = Callable[[BlockEntry | Block], bool]


@dataclass(slots=True)
class _Entry:
    planned: list[Planned] | None = None  # what the file holds once the queue is done
    shared: str = ""


class CacheStore:
    """Keeps blocks of conversations for as long as it pays.

    Attributes:
        memory: the warm tier; blocks of a conversation that leaves the device are put there.

    Args:
        disk: the cold tier; None keeps nothing on disk.
        memory_budget: bytes in memory.
        idle_seconds: unused for so long, a conversation leaves memory.
        bytes_per_token, prefill_speed: tell what a loss would cost.
        notify: gets a line for the user; called from the writing thread.
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
        self._disk = disk
        self.memory = MemoryTier(memory_budget, idle_seconds, self._restore_seconds, clock)
        self._bytes_per_token = max(bytes_per_token, 1)
        self._prefill_speed, self._notify = prefill_speed, notify
        self._entries: dict[str, _Entry] = {}
        self._background = Background("cache")
        self._io = threading.RLock()  # whoever uses the files
        self._told_full = self._told_quota = False

    # Whose blocks are kept.

    def register(
        self, key: str, folder: Path | None, identity: CacheIdentity, origin: CacheIdentity | None
    ) -> None:
        """Makes a conversation known; its file is looked at when it is needed."""
        self._entries[key] = _Entry()
        self.memory.touch(key)
        if self._disk is not None and folder is not None:
            self._disk.register(key, folder, identity, origin)

    def known(self, key: str) -> bool:
        """Whether `register` was called."""
        return key in self._entries

    def forget(self, key: str) -> None:
        """Lets a conversation leave memory; its file stays."""
        self.flush(key)
        self._entries.pop(key, None)
        self.memory.forget(key)
        if self._disk is not None:
            self._disk.forget(key)

    def pin(self, key: str, pinned: bool) -> None:
        """A pinned (running) conversation keeps its place in every tier."""
        self.memory.touch(key, pinned=pinned)
        if self._disk is not None:
            self._disk.pin(key, pinned)

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

        Only ranges that the file lacks are saved (now) and written (later, in the thread).

        Args:
            key: the conversation.
            spans: all that the device holds of it, but for the shared prefix; in order.
            ids: its transcript, on which the blocks' contexts depend.
            save: `Backend.save` for the conversation's sequence.
            shared: key of the shared prefix.
            whole: the model's state can be saved only as one block.

        Returns:
            Tokens that are being written.
        """
        if self._disk is None:
            return 0
        entry = self._entries[key]
        if whole:
            spans = joined(spans)
        if not self._fits(key, spans):
            return 0
        if entry.planned is None:
            self._look(key)
        assert entry.planned is not None
        if entry.shared != shared:
            entry.planned = []
        keep, missing = compare(entry.planned, spans, ids, whole=whole)
        unchanged = not missing and len(keep) == len(entry.planned) and entry.shared == shared
        if unchanged:
            return 0
        blocks = [_block(span, save(span.position, span.stop)) for span in missing]
        entry.planned, entry.shared = [*keep, *missing], shared
        positions = [one.position for one in keep]
        size = sum(block.nbytes for block in blocks)
        self._background.add(key, lambda: self._write(key, blocks, positions, shared), size)
        return sum(len(block.ids) for block in blocks)

    # Back to the device.

    def take(self, key: str, wanted: Wanted) -> tuple[list[Block], Source]:
        """Gives the blocks that are wanted, checked, in order; they leave memory."""
        self.flush(key)
        self.memory.touch(key)
        blocks = [block for block in self.memory.pop(key) if wanted(block)]
        if blocks:
            return blocks, "memory"
        if self._disk is None:
            return [], ""
        with self._io:
            blocks = self._disk.read(key, wanted)
        self._look(key)
        return blocks, "disk" if blocks else ""

    def shared(self, key: str) -> str:
        """Key of the shared prefix that the kept blocks build on, or ""."""
        if self._disk is None:
            return ""
        self.flush(key)
        with self._io:
            return self._disk.shared(key)

    def prune(self, key: str, wanted: Wanted) -> None:
        """Drops the blocks that aren't wanted, from memory now and from the file soon."""
        self.memory.put(key, [block for block in self.memory.get(key) if wanted(block)])
        if self._disk is None:
            return
        self.flush(key)
        self._look(key)
        entry = self._entries[key]
        planned = entry.planned or []
        entry.planned = [one for one in planned if isinstance(one, BlockEntry) and wanted(one)]
        if len(entry.planned) < len(planned):
            keep = [one.position for one in entry.planned]
            self._background.add(key, lambda: self._write(key, [], keep, entry.shared))

    def reject(self, key: str) -> None:
        """The backend refused what was kept: sets the file aside."""
        self.memory.pop(key)
        if self._disk is not None:
            with self._io:
                self._disk.reject(key)
            self._look(key)

    def prefetch(self, key: str) -> None:
        """Reads a conversation from disk into memory, in the thread."""
        if self._disk is None or self.memory.nbytes(key):
            return
        self._background.add(key, lambda: self._read_ahead(key), 0)

    # Copies and ends.

    def fork(
        self, key: str, new_key: str, folder: Path | None, identity: CacheIdentity
    ) -> CacheIdentity | None:
        """Gives `new_key` what `key` has; nothing is copied until one of them differs.

        Returns:
            Whose key the shared file has.
        """
        self.flush(key)
        self._entries[new_key] = _Entry()
        self.memory.touch(new_key)
        self.memory.put(new_key, self.memory.get(key))
        if self._disk is not None and folder is not None:
            with self._io:
                return self._disk.fork(key, new_key, folder, identity)
        return None

    def delete(self, key: str) -> None:
        """Removes everything that is kept of a conversation."""
        self.flush(key)
        self._entries.pop(key, None)
        self.memory.forget(key)
        if self._disk is not None:
            with self._io:
                self._disk.remove(key)
                self._disk.forget(key)

    def mark_use(self, shared: str, user: Path) -> None:
        """Notes that the conversation in the folder `user` builds on a shared beginning."""
        if self._disk is not None:
            with self._io:
                self._disk.mark_use(shared, user)

    def release_unused(self) -> set[str]:
        """Removes shared beginnings from disk that nobody builds on; their keys."""
        if self._disk is None:
            return set()
        self.flush()
        with self._io:
            return self._disk.release_unused()

    def flush(self, key: str = "", timeout: float | None = None) -> bool:
        """Waits until what was queued (for `key`) is done; False on time-out."""
        return self._background.wait(key, timeout)

    def close(self) -> None:
        """Writes what is queued and ends the thread."""
        self._background.close()

    # In the thread.

    def _write(self, key: str, blocks: list[Block], keep: list[int], shared: str) -> None:
        assert self._disk is not None
        try:
            with self._io:
                losers = self._disk.write(key, blocks, keep, shared=shared)
            self._told_full = False
            self._lost(losers)
        except OSError as error:
            _log.warning("the cache of %s wasn't written: %s", key, error)
            self._lost({key})
            if not self._told_full:
                self._told_full = True
                self._notify(
                    f"The conversation's cache can't be saved ({error.strerror or error}); it will "
                    "be read again after a restart. Free some disk space."
                )

    def _read_ahead(self, key: str) -> None:
        assert self._disk is not None
        with self._io:
            blocks = self._disk.read(key, lambda entry: True)
        self._tell_set_aside()
        self.memory.put(key, blocks)

    def _look(self, key: str) -> None:
        """Learns what the file holds now."""
        assert self._disk is not None
        with self._io:
            entry = self._entries[key]
            entry.planned = list(self._disk.entries(key))
            entry.shared = self._disk.shared(key)
        self._tell_set_aside()

    def _fits(self, key: str, spans: Sequence[Span]) -> bool:
        """Whether the quota has room for the conversation even when it is alone."""
        assert self._disk is not None
        fits = self._disk.fits(key, sum(len(span.ids) for span in spans))
        if not fits and not self._told_quota:
            self._told_quota = True
            self._notify(
                "The conversation is larger than the disk space allowed for caches; it will be "
                "read again after a restart. Allow more space in the settings."
            )
        return fits

    def _lost(self, keys: Iterable[str]) -> None:
        """The files of `keys` are not what was planned."""
        for key in keys:
            if key in self._entries:
                self._entries[key].planned = None
        self._tell_set_aside()

    def _tell_set_aside(self) -> None:
        assert self._disk is not None
        while self._disk.set_aside:
            self._disk.set_aside.pop()
            self._notify("A conversation's saved cache was damaged; its text is read again.")

    def _restore_seconds(self, key: str, nbytes: int) -> float:
        entry = self._entries.get(key)
        if self._disk is not None and entry is not None and entry.planned:
            return nbytes / DISK_SPEED
        return nbytes / self._bytes_per_token / max(self._prefill_speed(), 1.0)


def _block(span: Span, state: Buffer) -> Block:
    return Block(span.position, span.place, span.ids, span.exact, state, span.context)
