"""Where each conversation lies on disk: one folder a conversation, held by one program at a time.

    <root>/<safe name of the id>/transcript   what the conversation is
                                 cache        keys and values, to save time
                                 lock
    <root>/shared/<key>/cache                 prefixes that several conversations build on

It knows names only, and not what is in the files.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

from engine.disk import Disk
from engine.errors import CacheFileError
from engine.folder_lock import FolderLock
from engine.transcript_file import NAME, folder_name, read_header

SHARED = "shared"
# An engine whose program was killed still writes what it keeps, and holds its folders till then.
PATIENCE = 5.0


class Folders:
    """The conversations under one root."""

    def __init__(self, root: Path, disk: Disk | None = None) -> None:
        self.root = root
        self._disk = disk or Disk()
        self._locks: dict[str, FolderLock] = {}

    def folder(self, conversation: str) -> Path:
        """The folder of a conversation, whether it exists or not."""
        return self.root / folder_name(conversation)

    def shared(self, key: str) -> Path:
        """The folder of a shared prefix."""
        return self.root / SHARED / key

    def transcript(self, conversation: str) -> Path:
        """The transcript of a conversation, whether it exists or not."""
        return self.folder(conversation) / NAME

    def conversations(self) -> list[str]:
        """Ids of all that are on disk, the last used first."""
        found: list[tuple[float, str]] = []
        for path in self.root.glob(f"*/{NAME}"):
            with contextlib.suppress(CacheFileError, OSError):
                header = read_header(path, self._disk)
                if self.folder(header.conversation) == path.parent:
                    found.append((path.stat().st_mtime, header.conversation))
        return [conversation for _, conversation in sorted(found, reverse=True)]

    def acquire(self, conversation: str) -> Path:
        """Takes a conversation's folder for this program and clears what a crash left behind.

        Raises:
            FolderInUse: another program has it.
            OSError: it can't be made.
        """
        folder = self.folder(conversation)
        if conversation not in self._locks:
            self._disk.make_folder(self.root)
            self._disk.make_folder(folder)
            lock = FolderLock(folder)
            lock.acquire(PATIENCE)
            self._locks[conversation] = lock
            for path in folder.glob("*.tmp"):
                self._disk.remove(path)
        return folder

    def release(self, conversation: str) -> None:
        """Gives a folder back; one that holds nothing is removed."""
        lock = self._locks.pop(conversation, None)
        if lock is not None:
            lock.release()
            folder = self.folder(conversation)
            if not self.transcript(conversation).exists() and {
                path.name for path in folder.iterdir()
            } <= {"lock"}:
                self._disk.remove(folder)

    def delete(self, conversation: str) -> None:
        """Removes a conversation's folder with everything in it."""
        lock = self._locks.pop(conversation, None)
        if lock is not None:
            lock.release()
        self._disk.remove(self.folder(conversation))
        self._disk.sync_folder(self.root)

    def close(self) -> None:
        """Gives every folder back."""
        for conversation in list(self._locks):
            self.release(conversation)

    def nbytes(self, conversation: str) -> int:
        """Bytes of a conversation's files."""
        total = 0
        for path in self.folder(conversation).glob("*"):
            with contextlib.suppress(OSError):
                total += path.stat().st_size
        return total
