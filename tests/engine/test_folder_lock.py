"""One program at a time in a folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from engine.folder_lock import FolderInUse, FolderLock

HOLD = (
    "import sys, pathlib; from engine.folder_lock import FolderLock;"
    "FolderLock(pathlib.Path(sys.argv[1])).acquire(); print('held', flush=True); input()"
)


def test_another_process_is_refused_until_this_one_ends(tmp_path: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        assert child.stdout.readline() == b"held\n"
        with pytest.raises(FolderInUse, match="another Clausebook"):
            FolderLock(tmp_path).acquire()
    finally:
        child.kill()
        child.wait()
        child.stdin.close()
        child.stdout.close()
    lock = FolderLock(tmp_path)
    lock.acquire()
    lock.acquire()
    with pytest.raises(FolderInUse):
        FolderLock(tmp_path).acquire()
    lock.release()
    lock.release()
    FolderLock(tmp_path / "new").acquire()
