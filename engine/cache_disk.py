"""The cold tier: cache files of many conversations, within a quota.

Synchronous and for one thread at a time. It knows which blocks a file holds and removes the oldest
files when the quota is passed; what deserves to be kept in memory is not its business. A file that
is damaged or belongs to something else is set aside, and the conversation then has none.
"""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from engine.cache_file import Block, CacheFile
from engine.cache_format import BlockEntry
from engine.cache_identity import CacheIdentity
from engine.disk import Disk
from engine.errors import CacheFileError
from engine.folders import SHARED

NAME = "cache"
USER = ".user"

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Cold:
    folder: Path
    identity: CacheIdentity
    origin: CacheIdentity | None = None  # whose key the file has, until the fork differs
    file: CacheFile | None = None
    opened: bool = False
    pinned: bool = field(default=False)


class CacheDisk:
    """Cache files under one folder.

    Args:
        root: the folder of all conversations.
        budget: bytes that all cache files together may have.
        disk: the file operations.
    """

    def __init__(self, root: Path, budget: int, disk: Disk | None = None) -> None:
        self.root = root
        self.budget = budget
        self.disk = disk or Disk()
        self._cold: dict[str, _Cold] = {}
        self.set_aside: list[Exception] = []

    def register(
        self, key: str, folder: Path, identity: CacheIdentity, origin: CacheIdentity | None = None
    ) -> None:
        """Makes `key` known. `origin`: whose file a fork still shares."""
        self._cold[key] = _Cold(folder, identity, origin)

    def forget(self, key: str) -> None:
        """Closes `key`; its file stays."""
        self._cold.pop(key, None)

    def pin(self, key: str, pinned: bool) -> None:
        """A pinned conversation's file isn't removed for the quota."""
        self._cold[key].pinned = pinned

    def entries(self, key: str) -> tuple[BlockEntry, ...]:
        """What the file holds; nothing if there is none or it had to be set aside."""
        file = self._open(self._cold[key])
        return file.index.entries if file else ()

    def shared(self, key: str) -> str:
        """Key of the shared prefix that the file builds on, or ""."""
        file = self._open(self._cold[key])
        return file.index.shared if file else ""

    def nbytes(self, key: str) -> int:
        """Size of the file."""
        file = self._open(self._cold[key])
        return file.nbytes if file else 0

    def fits(self, key: str, tokens: int) -> bool:
        """Whether a file of so many tokens keeps the quota if it is the only one."""
        return tokens * self._cold[key].identity.bytes_per_token <= self.budget

    def read(self, key: str, wanted: Callable[[BlockEntry], bool]) -> list[Block]:
        """The blocks that are wanted, all checked; none if one is damaged."""
        cold = self._cold[key]
        file = self._open(cold)
        if file is None:
            return []
        try:
            blocks = file.read_blocks([entry for entry in file.index.entries if wanted(entry)])
        except (CacheFileError, OSError) as error:
            self._drop_damaged(cold, error)
            return []
        with contextlib.suppress(OSError):
            os.utime(file.path)  # the quota removes what was used longest ago
        return blocks

    def write(
        self,
        key: str,
        add: Sequence[Block],
        keep: Sequence[int],
        *,
        shared: str | None = None,
    ) -> set[str]:
        """Commits `add` beside the blocks that begin at positions `keep`. Raises OSError.

        Returns:
            Keys of the conversations that lost their files to the quota or to damage.
        """
        cold = self._cold[key]
        file = self._open(cold)
        if file is None:
            file = CacheFile(cold.folder / NAME, cold.identity, self.disk)
            keep = ()
        elif cold.origin is not None:
            try:
                file.compact(cold.identity)
            except CacheFileError as error:
                self._drop_damaged(cold, error)
                return {key}
            cold.origin = None
        kept = [entry for entry in file.index.entries if entry.position in set(keep)]
        if not add and not kept and not file.nbytes:
            return set()
        try:
            file.commit(add, keep=kept, shared=shared)
        except CacheFileError as error:  # found damaged while compacting
            self._drop_damaged(cold, error)
            return {key}
        cold.file = file
        return self.enforce_quota(key)

    def fork(
        self, key: str, new_key: str, folder: Path, identity: CacheIdentity
    ) -> CacheIdentity | None:
        """Gives `new_key` the same blocks; no bytes are copied until one of the two differs.

        Returns:
            Whose key the shared file has; None if there is none.
        """
        cold = self._cold[key]
        file = self._open(cold)
        origin = None
        if file is not None:
            self.disk.make_folder(folder)
            self.disk.link_or_copy(file.path, folder / NAME)
            origin = cold.origin or cold.identity
        self.register(new_key, folder, identity, origin)
        return origin

    def origin(self, key: str) -> CacheIdentity | None:
        """Whose key the file still has, if it is a fork that hasn't differed yet."""
        return self._cold[key].origin

    def reject(self, key: str) -> None:
        """Sets the file aside: what it holds was refused."""
        self._drop_damaged(self._cold[key], CacheFileError("the backend refused it"))

    def remove(self, key: str) -> None:
        """Deletes the file and whatever was set aside; the rest of the folder stays."""
        cold = self._cold[key]
        for path in cold.folder.glob(f"{NAME}*"):
            self.disk.remove(path)
        cold.file, cold.origin = None, None

    def check(self, key: str) -> str:
        """Reads every block; "" if all are good, else what is wrong. Nothing is set aside."""
        try:
            file = self._read_index(replace(self._cold[key]))
            for entry in file.index.entries:
                file.read_blocks([entry])
        except FileNotFoundError:
            return ""
        except (CacheFileError, OSError) as error:
            return str(error)
        return ""

    def mark_use(self, shared: str, user: Path) -> None:
        """Notes in the shared prefix's folder that the conversation in `user` builds on it."""
        folder = self._cold[shared].folder
        with contextlib.suppress(OSError):  # without it the file goes early, which costs time only
            self.disk.make_folder(folder)
            (folder / f"{user.name}{USER}").touch(mode=0o600)

    def release_unused(self) -> set[str]:
        """Removes shared prefixes that no conversation builds on any more; returns their keys."""
        for folder in self.root.glob(f"{SHARED}/*"):
            users = list(folder.glob(f"*{USER}"))
            for user in users:
                if not (self.root / user.name.removesuffix(USER)).is_dir():
                    self.disk.remove(user)
            if not any(folder.glob(f"*{USER}")):
                self.disk.remove(folder)
        gone = {key for key, one in list(self._cold.items()) if not one.folder.is_dir()}
        gone = {key for key in gone if self._cold[key].folder.parent.name == SHARED}
        for key in gone:
            self._cold[key].file, self._cold[key].origin = None, None
        return gone

    def files(self) -> list[Path]:
        """Every cache file below the root, damaged ones too."""
        return [*self.root.glob(f"*/{NAME}*"), *self.root.glob(f"{SHARED}/*/{NAME}*")]

    def enforce_quota(self, newest: str = "") -> set[str]:
        """Removes damaged files, then the oldest, until the quota is kept; returns whose."""
        sized: list[tuple[bool, float, int, Path]] = []
        for path in self.files():
            with contextlib.suppress(OSError):
                status = path.stat()
                sized.append((path.name == NAME, status.st_mtime, status.st_size, path))
        total = sum(size for _, _, size, _ in sized)
        cold = list(self._cold.items())
        spared = {one.folder for key, one in cold if one.pinned or key == newest}
        gone: set[Path] = set()
        for good, _, size, path in sorted(sized):
            if total <= self.budget:
                break
            if good and path.parent in spared:
                continue
            self.disk.remove(path)
            if good:
                gone.add(path.parent)
            total -= size
            _log.info("the quota removed %s of %s", path.name, path.parent.name)
        losers = {key for key, one in cold if one.folder in gone}
        for key in losers:
            self._cold[key].file, self._cold[key].origin = None, None
        return losers

    def _open(self, cold: _Cold) -> CacheFile | None:
        if cold.opened:
            return cold.file
        cold.opened = True
        try:
            cold.file = self._read_index(cold)
        except FileNotFoundError:
            cold.origin = None
        except (CacheFileError, OSError) as error:
            self._drop_damaged(cold, error)
        return cold.file

    def _read_index(self, cold: _Cold) -> CacheFile:
        """The file under its own key, or under that of the conversation it was forked from."""
        file = CacheFile(cold.folder / NAME, cold.identity, self.disk)
        try:
            file.read_index()
        except CacheFileError:
            if cold.origin is None:
                raise
            file = CacheFile(cold.folder / NAME, cold.origin, self.disk)
            file.read_index()
            return file
        cold.origin = None
        return file

    def _drop_damaged(self, cold: _Cold, error: Exception) -> None:
        _log.warning("the cache of %s was set aside: %s", cold.identity.conversation, error)
        self.disk.set_aside(cold.folder / NAME)
        self.set_aside.append(error)
        cold.file, cold.origin = None, None
