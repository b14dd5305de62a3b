"""The transcript on disk: durable per turn, torn tails dropped, damage kept aside."""

from __future__ import annotations

import random
import stat
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.disk import Disk
from engine.errors import CacheFileError
from engine.transcript_file import (
    Record,
    TranscriptFile,
    TranscriptHeader,
    folder_name,
    is_torn,
    open_transcript,
)

TURNS: list[Record] = [
    {"turn": {"segments": [["user", "第一条？ 📄", [1, 2, 3]], ["assistant", "Yes\n", [4]]]}},
    {"turn": {"segments": [["user", "次", [5] * 300]], "record": {"chunks": [7, 8]}}},
    {"rewind": 1},
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "张 三" / "transcript"


@pytest.fixture
def written(path: Path) -> TranscriptFile:
    transcript = TranscriptFile(path, TranscriptHeader("合同 🙂", model="m", prompt="p"))
    for turn in TURNS:
        transcript.append([turn])
    return transcript


def test_records_come_back(path: Path, written: TranscriptFile) -> None:
    again = open_transcript(path)
    assert again.records == TURNS
    assert again.header == written.header
    assert again.header.conversation == "合同 🙂"
    assert len(again.header.salt) == 16
    assert again.nbytes == path.stat().st_size
    assert not again.damaged


def test_nothing_appended_is_nothing_written(path: Path) -> None:
    TranscriptFile(path, TranscriptHeader("a")).append([])
    assert not path.exists()
    with pytest.raises(FileNotFoundError):
        open_transcript(path)


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX modes")
def test_only_the_user_can_read_it(path: Path, written: TranscriptFile) -> None:
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_torn_last_record_is_dropped_at_every_length(path: Path, written: TranscriptFile) -> None:
    raw = path.read_bytes()
    two = len(raw) - len(raw.splitlines(keepends=True)[-1])
    for length in range(two, len(raw)):
        path.write_bytes(raw[:length])
        again = open_transcript(path)
        assert again.records == TURNS[:2]
        assert not again.damaged
    again.append([{"more": 1}])
    assert open_transcript(path).records == [*TURNS[:2], {"more": 1}]


def test_zeros_behind_the_last_record_are_dropped(path: Path, written: TranscriptFile) -> None:
    with path.open("ab") as file:
        file.write(bytes(4096))
    again = open_transcript(path)
    assert again.records == TURNS
    assert not again.damaged


def test_a_damaged_record_ends_it_and_the_original_is_kept(
    path: Path, written: TranscriptFile
) -> None:
    raw = path.read_bytes()
    lines = raw.splitlines(keepends=True)
    at = len(lines[0]) + len(lines[1]) + 40
    path.write_bytes(raw[:at] + b"!" + raw[at + 1 :])
    again = open_transcript(path)
    assert again.records == TURNS[:1]
    assert again.damaged == "transcript.1.bad"
    assert path.with_name(again.damaged).stat().st_size == len(raw)
    assert open_transcript(path).records == TURNS[:1]


def test_lines_can_be_neither_moved_nor_dropped_nor_doubled(
    path: Path, written: TranscriptFile
) -> None:
    head, one, two, three = path.read_bytes().splitlines(keepends=True)
    for order in ([head, two, one, three], [head, two, three], [head, one, one, two]):
        path.write_bytes(b"".join(order))
        again = open_transcript(path)
        assert again.records == (TURNS[:1] if order[1] == one else [])
        assert again.damaged


@pytest.mark.parametrize(
    "content", [b"", b"\0" * 99, b"junk\n", b"5 2 {}\n", b"\xff\xfe\n\n", b"x" * 5000]
)
def test_what_is_no_transcript_is_kept_aside(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(CacheFileError):
        open_transcript(path)
    assert path.with_name("transcript.1.bad").read_bytes() == content
    assert not path.exists()


@pytest.mark.parametrize(
    "header",
    [
        {"format": "other"},
        {"format": "clausebook transcript", "version": 99},
        {"format": "clausebook transcript", "version": 1, "salt": "zz"},
    ],
)
def test_another_format_or_version_is_kept_aside(path: Path, header: Record) -> None:
    class Header(TranscriptHeader):
        def to_record(self) -> Record:
            return header

    TranscriptFile(path, Header("a")).append([{"turn": 1}])
    with pytest.raises(CacheFileError):
        open_transcript(path)
    assert path.with_name("transcript.1.bad").exists()


def test_random_damage_never_gives_other_records(path: Path, written: TranscriptFile) -> None:
    raw = path.read_bytes()
    rng = random.Random(1)
    for _ in range(300):
        at = rng.randrange(len(raw))
        path.write_bytes(raw[:at] + bytes([raw[at] ^ (1 << rng.randrange(8))]) + raw[at + 1 :])
        try:
            again = open_transcript(path)
        except CacheFileError:
            continue
        assert again.records == TURNS[: len(again.records)]
        assert len(again.records) < len(TURNS)


class FullDisk(Disk):
    def write_at(self, file, offset, parts):  # type: ignore[no-untyped-def]
        super().write_at(file, offset, [bytes(parts[0])[:9]])
        raise OSError(28, "No space left on device")


def test_a_full_disk_damages_nothing(path: Path, written: TranscriptFile) -> None:
    raw = path.read_bytes()
    transcript = TranscriptFile(path, TranscriptHeader(""), FullDisk())
    transcript.read()
    with pytest.raises(OSError, match="No space"):
        transcript.append([{"turn": 3}])
    with pytest.raises(OSError, match="No space"):
        transcript.rewrite([])
    assert transcript.records == TURNS
    assert path.read_bytes() == raw
    assert [name.name for name in path.parent.iterdir()] == ["transcript"]


def test_rewriting_replaces_records_and_header(path: Path, written: TranscriptFile) -> None:
    written.rewrite(TURNS[:1], TranscriptHeader("b", b"0" * 16))
    again = open_transcript(path)
    assert (again.header.conversation, again.records) == ("b", TURNS[:1])


def test_a_record_that_is_no_object_is_damage(path: Path, written: TranscriptFile) -> None:
    written.append([[1, 2]])  # type: ignore[list-item]
    assert open_transcript(path).records == TURNS


def test_torn_or_not() -> None:
    assert is_torn(b"abc 12 {")
    assert is_torn(bytes(100))
    assert not is_torn(b"abc 12 {}\n")


@given(st.text(), st.text())
def test_folder_names_are_safe_and_differ(one: str, other: str) -> None:
    names = folder_name(one), folder_name(other)
    assert (names[0] == names[1]) == (one == other)
    for name in names:
        assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
        assert 20 <= len(name) <= 45


def test_folder_names_differ_where_case_is_ignored() -> None:
    assert folder_name("Lease") != folder_name("lease")
    assert folder_name("Lease").startswith("lease-")
    assert folder_name("con") != "con"
    assert folder_name("\ud800")
