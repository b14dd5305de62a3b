"""One folder a conversation, found again, held by one program, removed whole."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from engine.errors import CacheFileError
from engine.folder_lock import FolderInUse
from engine.folders import Folders
from engine.transcript_file import TranscriptFile, TranscriptHeader, read_header


def create(folders: Folders, conversation: str) -> Path:
    path = folders.transcript(conversation)
    TranscriptFile(path, TranscriptHeader(conversation)).append([{"turn": 1}])
    return path


def test_conversations_are_listed_the_last_used_first(tmp_path: Path) -> None:
    folders = Folders(tmp_path / "张 三")
    assert folders.conversations() == []
    for number, conversation in enumerate(("Lease", "lease", "合同 📄")):
        os.utime(create(folders, conversation), (number, number))
    assert folders.conversations() == ["合同 📄", "lease", "Lease"]


def test_damaged_and_moved_folders_are_not_listed(tmp_path: Path) -> None:
    folders = Folders(tmp_path)
    create(folders, "a").write_bytes(b"junk")
    create(folders, "b").parent.rename(tmp_path / "moved")
    create(folders, "c").write_bytes(b"no line end")
    assert folders.conversations() == []
    with pytest.raises(CacheFileError):
        read_header(folders.transcript("c"))


def test_a_folder_is_held_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.folders.PATIENCE", 0.1)
    folders, others = Folders(tmp_path), Folders(tmp_path)
    path = create(folders, "a")
    (path.parent / "cache.tmp").touch()
    assert folders.acquire("a") == path.parent
    assert not (path.parent / "cache.tmp").exists()
    folders.acquire("a")
    with pytest.raises(FolderInUse):
        others.acquire("a")
    folders.close()
    others.acquire("a")
    others.delete("a")
    assert not path.parent.exists()
    others.delete("a")


def test_an_empty_folder_does_not_stay(tmp_path: Path) -> None:
    folders = Folders(tmp_path)
    folder = folders.acquire("a")
    assert folder.exists()
    folders.release("a")
    folders.release("a")
    assert not folder.exists()


def test_size_and_shared_place(tmp_path: Path) -> None:
    folders = Folders(tmp_path)
    size = create(folders, "a").stat().st_size
    assert folders.nbytes("a") == size
    assert folders.nbytes("b") == 0
    assert folders.shared("k") == tmp_path / "shared" / "k"


def test_a_folder_that_is_given_back_soon_is_waited_for(tmp_path: Path) -> None:
    # as by an engine whose program was killed, and which still writes
    folders, others = Folders(tmp_path), Folders(tmp_path)
    path = create(folders, "a")
    folders.acquire("a")
    timer = threading.Timer(0.3, folders.close)
    timer.start()
    began = time.monotonic()
    assert others.acquire("a") == path.parent
    assert time.monotonic() - began > 0.2
    timer.join()
    others.close()
