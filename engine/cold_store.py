"""The cold tier with a thread of its own: written behind the caller's back, in order.

For each conversation it knows what its file holds, or will hold once the queue is done, so that
only what is missing is saved. It knows no memory tier and no backend.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.background import Background
from engine.cache_disk import CacheDisk
from engine.cache_file import Block
from engine.cache_format import BlockEntry
from engine.cache_identity import CacheIdentity
from engine.cache_plan import Planned, Span, compare
from engine.disk import Buffer
from engine.errors import CacheFileForeign
from engine.types import TokenId

_log = logging.getLogger(__name__)

Save = Callable[[int, int], Buffer]
Wanted = Callable[[BlockEntry | Block], bool]

DAMAGED = "A conversation's saved cache was damaged; its text is read again."
FOREIGN = (
    "A conversation's saved cache was made by another model or version; its text is read again."
)
TOO_LARGE = (
    "The conversation is larger than the disk space allowed for caches; it will be read again "
    "after a restart. Allow more space in the settings."
)


@dataclass(slots=True)
class _Plan:
    held: list[Planned] | None = None  # None: look into the file
    shared: str = ""


class ColdStore:
    """Cache files, written by one thread.

    Args:
        disk: the files. notify: gets lines for the user; called from any thread.
    """

    def __init__(self, disk: CacheDisk, notify: Callable[[str], None]) -> None:
        self._disk, self._notify = disk, notify
        self._plans: dict[str, _Plan] = {}
        self._background = Background("cache")
        self._io = threading.RLock()  # whoever uses the files
        self._told_full = self._told_large = False

    def register(
        self, key: str, folder: Path, identity: CacheIdentity, origin: CacheIdentity | None
    ) -> None:
        """Makes a conversation known; its file is looked at when it is needed."""
        self._plans[key] = _Plan()
        self._disk.register(key, folder, identity, origin)

    def forget(self, key: str) -> None:
        """Closes a conversation; its file stays."""
        self.flush(key)
        self._plans.pop(key, None)
        self._disk.forget(key)

    def pin(self, key: str, pinned: bool) -> None:
        """A pinned conversation's file isn't removed for the quota."""
        self._disk.pin(key, pinned)

    def has_file(self, key: str) -> bool:
        """Whether there is, or soon will be, something on disk, as far as is known."""
        return key in self._plans and bool(self._plans[key].held)

    def sync(
        self, key: str, spans: Sequence[Span], ids: Sequence[TokenId], save: Save, shared: str,
        *, whole: bool,
    ) -> int:  # fmt: skip
        """As `CacheStore.sync`."""
        if not self._fits(key, spans):
            return 0
        plan = self._look(key)
        held = plan.held if plan.shared == shared and plan.held is not None else []
        keep, missing = compare(held, spans, ids, whole=whole)
        if not missing and plan.held == keep and plan.shared == shared:
            return 0
        blocks = [
            Block(
                span.position,
                span.place,
                span.ids,
                span.exact,
                save(span.position, span.stop),
                span.context,
            )
            for span in missing
        ]
        plan.held, plan.shared = [*keep, *missing], shared
        self._queue(key, blocks, keep, shared)
        return sum(len(block.ids) for block in blocks)

    def prune(self, key: str, wanted: Wanted) -> None:
        """Drops the blocks that aren't wanted from the file, soon."""
        self.flush(key)
        plan = self._look(key)
        held = plan.held or []
        plan.held = [one for one in held if isinstance(one, BlockEntry) and wanted(one)]
        if len(plan.held) < len(held):
            self._queue(key, [], plan.held, plan.shared)

    def reject(self, key: str) -> None:
        """The backend refused what was kept: sets the file aside."""
        with self._io:
            self._disk.reject(key)
        self._lost({key})

    def read(self, key: str, wanted: Wanted) -> list[Block]:
        """The blocks that are wanted, checked, in order."""
        self.flush(key)
        blocks = self._read(key, wanted)
        self._lost({key})
        return blocks

    def read_later(self, key: str, then: Callable[[list[Block]], None]) -> None:
        """Reads everything in the thread and gives it to `then`."""

        def read() -> None:
            blocks = self._read(key, lambda entry: True)
            self._tell_set_aside()
            then(blocks)

        self._background.add(key, read)

    def shared(self, key: str) -> str:
        """Key of the shared beginning that the file builds on, or ""."""
        self.flush(key)
        return self._look(key).shared

    def fork(
        self, key: str, new_key: str, folder: Path, identity: CacheIdentity
    ) -> CacheIdentity | None:
        """As `CacheDisk.fork`."""
        self.flush(key)
        with self._io:
            origin = self._disk.fork(key, new_key, folder, identity)
        self._plans[new_key] = _Plan()
        return origin

    def delete(self, key: str) -> None:
        """Removes a conversation's file."""
        self.flush(key)
        with self._io:
            self._disk.remove(key)
        self.forget(key)

    def mark_use(self, shared: str, user: Path) -> None:
        """Notes that the conversation in the folder `user` builds on a shared beginning."""
        self._disk.mark_use(shared, user)  # an empty file: no need to wait for the thread

    def release_unused(self) -> set[str]:
        """Removes shared beginnings that nobody builds on; their keys."""
        self.flush()
        with self._io:
            return self._disk.release_unused()

    def flush(self, key: str = "", timeout: float | None = None) -> bool:
        """Waits until what was queued (for `key`) is done; False on time-out."""
        return self._background.wait(key, timeout)

    def close(self) -> None:
        """Writes what is queued and ends the thread."""
        self._background.close()

    def _read(self, key: str, wanted: Wanted) -> list[Block]:
        try:
            with self._io:
                return self._disk.read(key, wanted)
        except MemoryError:
            _log.warning("there is no memory for the cache of %s; it is left on disk", key)
            return []

    def _queue(self, key: str, blocks: list[Block], keep: Sequence[Planned], shared: str) -> None:
        positions = [one.position for one in keep]
        size = sum(block.nbytes for block in blocks)
        self._background.add(key, lambda: self._write(key, blocks, positions, shared), size)

    def _write(self, key: str, blocks: list[Block], keep: list[int], shared: str) -> None:
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
                    "be read again after a restart. Check the disk's free space."
                )

    def _fits(self, key: str, spans: Sequence[Span]) -> bool:
        """Whether the quota has room for the conversation even when it is alone."""
        fits = self._disk.fits(key, sum(len(span.ids) for span in spans))
        if not fits and not self._told_large:
            self._told_large = True
            self._notify(TOO_LARGE)
        return fits

    def _look(self, key: str) -> _Plan:
        """What the file holds or will hold."""
        plan = self._plans[key]
        if plan.held is None:
            with self._io:
                plan.held = list(self._disk.entries(key))
                plan.shared = self._disk.shared(key)
            self._tell_set_aside()
        return plan

    def _lost(self, keys: set[str]) -> None:
        """The files of `keys` may not hold what was planned."""
        for key in keys & set(self._plans):
            self._plans[key].held = None
        self._tell_set_aside()

    def _tell_set_aside(self) -> None:
        while self._disk.set_aside:
            error = self._disk.set_aside.pop()
            self._notify(FOREIGN if isinstance(error, CacheFileForeign) else DAMAGED)
