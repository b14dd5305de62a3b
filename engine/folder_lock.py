"""A lock on a folder that ends with its process, so that two programs don't write one file."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from engine.errors import EngineError

NAME = "lock"
_AGAIN = 0.05  # seconds between two tries


class FolderInUse(EngineError):
    """Another program has the folder open."""


class FolderLock:
    """Held from `acquire` to `release`, or until the process ends, however it ends."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME
        self._handle: int | None = None

    def acquire(self, patience: float = 0.0) -> None:
        """Takes the lock; waits `patience` seconds for it if need be.

        Raises:
            FolderInUse: another program has it.
        """
        if self._handle is not None:
            return
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        end = time.monotonic() + patience
        while not _locked(handle):
            if time.monotonic() >= end:
                os.close(handle)
                raise FolderInUse(
                    "The conversation is open in another Clausebook; close it there first."
                )
            time.sleep(_AGAIN)
        self._handle = handle

    def release(self) -> None:
        """Gives the lock back; nothing happens if it isn't held."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def _locked(handle: int) -> bool:
    """Whether the lock could be taken."""
    try:
        _lock(handle)
    except OSError:
        return False
    return True


def _lock(handle: int) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
