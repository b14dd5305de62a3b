"""The few file operations the engine's files are made of: private, synchronous, atomic.

It knows no format. Everything that the engine writes goes through a `Disk`, so that a test can
put a full or failing one in its place.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from engine.errors import CacheFileError

Buffer = bytes | bytearray | memoryview
KEPT_ASIDE = 2
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_BINARY = getattr(os, "O_BINARY", 0)


class Disk:
    """Writes files that only the user can read, and makes them durable."""

    def make_folder(self, folder: Path) -> None:
        """Creates `folder` with mode 0700, parents too."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def open_write(self, path: Path, *, create: bool = False) -> BinaryIO:
        """Opens for reading and writing; with `create`, an empty file of mode 0600."""
        flags = os.O_RDWR | _NO_FOLLOW | _BINARY
        if create:
            flags |= os.O_CREAT | os.O_TRUNC
        return os.fdopen(os.open(path, flags, 0o600), "r+b", buffering=0)

    def open_read(self, path: Path) -> BinaryIO:
        """Opens a regular file for reading.

        Raises:
            FileNotFoundError: nothing is there.
            CacheFileError: a folder, a link or a device is there.
        """
        try:
            file = os.fdopen(os.open(path, os.O_RDONLY | _NO_FOLLOW | _BINARY), "rb", buffering=0)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise FileNotFoundError(path) from error
        except OSError as error:
            raise CacheFileError(f"{path.name} can't be read: {error.strerror}") from error
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            file.close()
            raise CacheFileError(f"{path.name} isn't a regular file")
        return file

    def write_at(self, file: BinaryIO, offset: int, parts: Sequence[Buffer]) -> int:
        """Writes `parts` one after the other from `offset`; returns the offset behind them."""
        file.seek(offset)
        for part in parts:
            view = memoryview(part).cast("B")
            while view.nbytes:
                view = view[file.write(view) :]
        return file.tell()

    def sync(self, file: BinaryIO) -> None:
        """Returns when the file's bytes are on the device."""
        os.fsync(file.fileno())

    def replace(self, new: Path, path: Path) -> None:
        """Puts `new` in the place of `path` at once, durably."""
        new.replace(path)
        self.sync_folder(path.parent)

    def sync_folder(self, folder: Path) -> None:
        """Makes names in `folder` durable, where the system can."""
        with contextlib.suppress(OSError):
            handle = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)

    def link_or_copy(self, source: Path, target: Path) -> None:
        """Gives `source` a second name; copies it where the file system knows no links."""
        self.remove(target)
        try:
            os.link(source, target)
        except OSError:
            shutil.copyfile(source, target)
            target.chmod(0o600)

    def names(self, path: Path) -> int:
        """How many names the file at `path` has."""
        return path.stat().st_nlink

    def remove(self, path: Path) -> None:
        """Removes a file or a whole folder; nothing there is no error."""
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)

    def set_aside(self, path: Path) -> Path | None:
        """Renames what is at `path` to `NAME.N.bad`; the newest few are kept."""
        numbers = sorted(
            int(old.name.split(".")[-2])
            for old in path.parent.glob(f"{path.name}.*.bad")
            if old.name.split(".")[-2].isdigit()
        )
        target = path.with_name(f"{path.name}.{(numbers or [0])[-1] + 1}.bad")
        try:
            path.rename(target)
        except OSError:
            return None
        for number in numbers[: max(0, len(numbers) + 1 - KEPT_ASIDE)]:
            self.remove(path.with_name(f"{path.name}.{number}.bad"))
        return target


def read_exactly(file: BinaryIO, offset: int, into: memoryview) -> None:
    """Fills `into` from `offset`. Raises CacheFileError when the file ends before."""
    file.seek(offset)
    done = 0
    while done < into.nbytes:
        count = file.readinto(into[done:])  # type: ignore[attr-defined]
        if not count:
            raise CacheFileError("the file is cut short")
        done += count
