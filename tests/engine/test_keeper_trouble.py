"""Kept conversations in trouble: damaged words, a full disk, a folder that can't be written."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.disk import Disk
from tests.engine.kept_engines import QUESTIONS, Kept, plain, texts

# A transcript that is damaged.


def test_a_transcript_that_lost_its_end_goes_on_from_where_it_is_good(kept: Kept) -> None:
    expected = plain(None, [QUESTIONS[0], QUESTIONS[2]])
    for question in QUESTIONS[:2]:
        kept.ask("a", question)
    kept.engine.close()
    path = kept.file("a", "transcript")
    raw = path.read_bytes()
    path.write_bytes(raw[:-30] + b"!" + raw[-29:])
    kept.start()
    answer = kept.ask("a", QUESTIONS[2])
    assert answer.text == expected[1].text
    assert any("transcript.1.bad" in line for line in kept.notices)


@pytest.mark.parametrize("content", [b"", b"junk\n"])
def test_a_transcript_that_is_gone_begins_anew(kept: Kept, content: bytes) -> None:
    expected = plain(None, QUESTIONS[:1])
    kept.ask("a", QUESTIONS[1])
    kept.engine.close()
    kept.file("a", "transcript").write_bytes(content)
    kept.start()
    answer = kept.ask("a", QUESTIONS[0])
    assert answer.text == expected[0].text
    assert any("kept as a .bad file" in line for line in kept.notices)
    assert len(kept.engine.conversation("a").turns) == 1


def test_another_models_file_is_told_as_such(kept: Kept) -> None:
    kept.ask("a", QUESTIONS[0])
    kept.restart(layout="other")
    answer = kept.ask("a", QUESTIONS[1])
    assert answer.stats.restored_from == "prefill"
    assert any("another model or version" in line for line in kept.notices)
    assert list(kept.file("a").parent.glob("cache.*.bad"))


def test_shared_beginnings_that_a_crash_left_behind_go_at_the_next_start(kept: Kept) -> None:
    kept.ask("a", QUESTIONS[0])
    kept.flush()
    (folder,) = (kept.root / "shared").glob("*")  # type: ignore[operator]
    for user in folder.glob("*.user"):
        user.unlink()
    kept.restart()
    assert not folder.exists()


# A full disk, a folder that can't be written, memory that is refused.


def test_a_folder_that_cannot_be_made_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    kept = Kept(tmp_path / "file" / "cache")
    expected = plain(None, QUESTIONS[:2])
    answers = [kept.ask("a", question) for question in QUESTIONS[:2]]
    kept.flush()
    kept.ask("a", QUESTIONS[2])
    assert texts(answers) == texts(expected)
    assert len(kept.notices) == 2  # one for the words, one for the cache
    kept.engine.close()


def test_memory_that_is_refused_costs_only_time(tmp_path: Path) -> None:
    kept = Kept(tmp_path, {"cells": 600, "sequences": 4}, {"window": 512})
    expected = plain(None, QUESTIONS)
    refusing = False
    original = kept.backend.save

    def save(sequence: int, start: int, stop: int) -> bytes:
        if refusing:
            raise MemoryError
        return original(sequence, start, stop)

    kept.backend.save = save  # type: ignore[method-assign]
    answers = [kept.ask("a", QUESTIONS[0])]
    refusing = True
    answers.append(kept.ask("a", QUESTIONS[1]))
    for other in range(3):
        kept.ask(f"other {other}", QUESTIONS[0] * 3)
    answers.append(kept.ask("a", QUESTIONS[2]))
    refusing = False
    answers.append(kept.ask("a", QUESTIONS[3]))
    assert texts(answers) == texts(expected[:4])
    assert any("Memory is low" in line for line in kept.notices)
    kept.restart()
    # reading it from disk needs memory too
    read = kept.engine._tier.store._cold._disk.read  # type: ignore[attr-defined]

    def refuse(*_: object) -> None:
        raise MemoryError

    kept.engine._tier.store._cold._disk.read = refuse  # type: ignore[attr-defined]
    answer = kept.ask("a", QUESTIONS[4])
    assert answer.text == expected[4].text
    assert answer.stats.restored_from == "prefill"
    kept.engine._tier.store._cold._disk.read = read  # type: ignore[attr-defined]
    kept.engine.close()


class FullDisk(Disk):
    full = False

    def write_at(self, file, offset, parts):  # type: ignore[no-untyped-def]
        if self.full:
            raise OSError(28, "No space left on device")
        return super().write_at(file, offset, parts)


def test_on_a_full_disk_the_answer_arrives_and_the_user_is_told_once(tmp_path: Path) -> None:
    disk = FullDisk()
    kept = Kept(tmp_path, disk=disk)
    expected = plain(None, QUESTIONS)
    answers = [kept.ask("a", QUESTIONS[0])]
    kept.flush()
    before = {n: kept.file("a", n).read_bytes() for n in ("transcript", "cache")}
    disk.full = True
    for question in QUESTIONS[1:4]:
        answers.append(kept.ask("a", question))
        kept.flush()
    assert texts(answers) == texts(expected[:4])
    assert len(kept.notices) == 2  # one for the words, one for the cache
    assert all("No space left" in line for line in kept.notices)
    assert before == {n: kept.file("a", n).read_bytes() for n in ("transcript", "cache")}
    # and when there is space again, everything is made up for
    disk.full = False
    answers.append(kept.ask("a", QUESTIONS[4]))
    assert answers[-1].text == expected[4].text
    words = kept.ids("a")
    kept.restart()
    assert kept.ask("a", "More?").stats.restored_from == "disk"
    assert kept.ids("a")[: len(words)] == words
    kept.engine.close()
