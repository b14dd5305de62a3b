"""Conversations that are kept: restarts, edits, forks, trimming, sharing, little memory."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.errors import OutOfCells, RestoreError, UnknownConversation
from engine.folder_lock import FolderInUse
from tests.engine.kept_engines import QUESTIONS, Kept, plain, texts


def test_after_each_restart_only_the_new_turn_is_read(kept: Kept) -> None:
    expected = plain(None, QUESTIONS)
    answers = []
    for number, question in enumerate(QUESTIONS):
        before = len(kept.ids("a")) if number else 0
        answers.append(kept.ask("a", question))
        stats = answers[-1].stats
        if number:
            assert stats.restored_from == "disk"
            assert stats.reused_tokens >= before - 4  # the end of the answer was unread yet
            assert stats.prefilled_tokens <= len(question) + 20
        kept.restart()
    assert texts(answers) == texts(expected)
    assert kept.notices == []


def test_with_idle_time_not_even_the_end_of_the_answer_is_read_again(kept: Kept) -> None:
    kept.ask("a", QUESTIONS[0])
    assert kept.idle() > 0
    assert kept.idle() == 0
    before = kept.ids("a")
    kept.restart()
    stats = kept.ask("a", QUESTIONS[1]).stats
    assert stats.reused_tokens == len(before)


def test_a_conversation_that_left_the_device_comes_back_from_memory(tmp_path: Path) -> None:
    kept = Kept(tmp_path, {"cells": 600, "sequences": 4}, {"window": 512})
    expected = plain(None, QUESTIONS)
    answers, sources = [], []
    for question in QUESTIONS:
        answers.append(kept.ask("a", question))
        sources.append(answers[-1].stats.restored_from)
        for other in range(3):
            kept.ask(f"other {other}", question * 3)
    assert texts(answers) == texts(expected)
    assert sources == ["", *["memory"] * 4]
    kept.engine.close()


def test_without_a_folder_memory_is_all(tmp_path: Path) -> None:
    kept = Kept(None, {"cells": 600, "sequences": 4}, {"window": 512})
    kept.ask("a", QUESTIONS[0])
    for other in range(3):
        kept.ask(f"other {other}", QUESTIONS[0] * 3)
    assert kept.ask("a", QUESTIONS[1]).stats.restored_from == "memory"
    kept.engine.delete("a")
    kept.restart()
    assert kept.engine.conversations() == []
    kept.engine.close()


def test_opening_reads_ahead_of_the_question(kept: Kept) -> None:
    kept.ask("a", QUESTIONS[0])
    kept.restart()
    kept.engine.open("a")
    kept.flush()
    assert kept.engine.conversation("a").tier == "memory"
    kept.idle()  # brings it on the device and up to date
    assert kept.engine.conversation("a").tier == "device"
    stats = kept.ask("a", QUESTIONS[1]).stats
    assert stats.prefilled_tokens <= len(QUESTIONS[1]) + 20
    with pytest.raises(UnknownConversation):
        kept.engine.open("b")


def test_a_cache_that_is_older_than_the_transcript_still_helps(kept: Kept) -> None:
    expected = plain(None, QUESTIONS)
    kept.ask("a", QUESTIONS[0])
    kept.ask("a", QUESTIONS[1])
    kept.flush()
    old = kept.file("a").read_bytes()
    kept.ask("a", QUESTIONS[2])
    kept.engine.close()
    kept.file("a").write_bytes(old)
    kept.start()
    answer = kept.ask("a", QUESTIONS[3])
    assert answer.text == expected[3].text
    assert 0 < answer.stats.reused_tokens < len(kept.ids("a")) - 100
    kept.restart()
    assert kept.ask("a", QUESTIONS[4]).stats.prefilled_tokens <= len(QUESTIONS[4]) + 20


def test_a_cache_that_is_ahead_of_the_transcript_leaves_something_to_read(kept: Kept) -> None:
    """The last turn's words were lost, its keys and values weren't, and it is asked again."""
    kept.ask("a", QUESTIONS[0])
    kept.flush()
    words = kept.file("a", "transcript").read_bytes()
    first = kept.ask("a", QUESTIONS[1])
    kept.engine.close()
    kept.file("a", "transcript").write_bytes(words)
    kept.start()
    again = kept.ask("a", QUESTIONS[1])
    assert again.text == first.text
    assert again.stats.prefilled_tokens > 40


@pytest.mark.parametrize("on_device", [True, False])
def test_an_edit_keeps_what_stands_before_it(kept: Kept, on_device: bool) -> None:
    expected = plain(None, [*QUESTIONS[:2], "Something else?"])
    for question in QUESTIONS[:4]:
        kept.ask("a", question)
    if not on_device:
        kept.restart()
    kept.engine.rewind("a", 2)
    kept.flush()
    assert QUESTIONS[2].encode() not in kept.file("a", "transcript").read_bytes()
    kept.restart()
    answer = kept.ask("a", "Something else?")
    assert answer.text == expected[2].text
    assert answer.stats.restored_from == "disk"
    assert answer.stats.prefilled_tokens <= 60
    assert len(kept.engine.conversation("a").turns) == 3


def test_an_edited_question_of_the_same_length_is_not_mixed_up(kept: Kept) -> None:
    """Its answer may even be the same: what stands behind an edit is never used again."""
    kept.ask("a", "Is it A? Yes or no, please.", prefix="Yes.", most=2)
    kept.ask("a", "And now?")
    kept.engine.rewind("a", 0)
    kept.restart()
    answer = kept.ask("a", "Is it B? Yes or no, please.", prefix="Yes.", most=2)
    shared = len(kept.engine._register.get("a").transcript.turns[0].segments[0].ids)
    assert answer.stats.reused_tokens <= shared


def test_a_fork_costs_nothing_until_it_differs(kept: Kept) -> None:
    for question in QUESTIONS[:3]:
        kept.ask("a", question)
    kept.engine.fork("a", "b", 2)
    kept.engine.fork("a", "c")
    kept.flush()
    assert kept.file("a").samefile(kept.file("b"))
    kept.restart()
    assert sorted(kept.engine.conversations()) == ["a", "b", "c"]
    expected = plain(None, [*QUESTIONS[:2], QUESTIONS[4]])
    answer = kept.ask("b", QUESTIONS[4])
    assert answer.text == expected[2].text
    assert answer.stats.restored_from == "disk"
    assert answer.stats.prefilled_tokens <= len(QUESTIONS[4]) + 20
    kept.flush()
    assert not kept.file("a").samefile(kept.file("b"))
    # the original goes, its forks stay whole, also after another restart
    kept.engine.delete("a")
    assert not kept.file("a").parent.exists()
    kept.restart()
    expected = plain(None, QUESTIONS[:4])
    answer = kept.ask("c", QUESTIONS[3])
    assert answer.text == expected[3].text
    assert answer.stats.prefilled_tokens <= len(QUESTIONS[3]) + 20
    kept.restart()
    assert kept.ask("b", QUESTIONS[0]).stats.restored_from == "disk"
    assert kept.ask("c", QUESTIONS[0]).stats.restored_from == "disk"


def test_deleting_leaves_nothing_on_disk(kept: Kept) -> None:
    kept.ask("a", QUESTIONS[0])
    kept.engine.delete("a")
    kept.restart()
    assert kept.engine.conversations() == []
    assert [path for path in kept.root.rglob("*") if path.is_file()] == []  # type: ignore[union-attr]


def test_a_question_that_fails_leaves_nothing_on_disk(kept: Kept) -> None:
    with pytest.raises(Exception, match="window holds"):
        kept.ask("a", "x" * 3000)
    assert not kept.file("a").parent.exists()
    assert kept.ask("a", QUESTIONS[0]).text


def test_a_stopped_answer_is_kept_as_far_as_it_came(kept: Kept) -> None:
    events = kept.events("a", QUESTIONS[0])
    for event in events:
        if type(event).__name__ == "TextDelta":
            break
    events.close()  # type: ignore[attr-defined]
    words = kept.ids("a")
    kept.restart()
    stats = kept.ask("a", QUESTIONS[1]).stats
    assert kept.ids("a")[: len(words)] == words
    assert stats.prefilled_tokens <= len(QUESTIONS[1]) + 20


def test_reading_without_the_cache_leaves_it_as_it_was(kept: Kept) -> None:
    expected = plain(None, QUESTIONS)
    kept.ask("a", QUESTIONS[0])
    kept.flush()
    before = kept.file("a").read_bytes()
    kept.restart()
    answer = kept.ask("a", QUESTIONS[1], use_cache=False)
    assert answer.text == expected[1].text
    assert answer.stats.reused_tokens == 0
    kept.flush()
    assert kept.file("a").read_bytes() == before
    answer = kept.ask("a", QUESTIONS[2])
    assert answer.text == expected[2].text
    assert answer.stats.restored_from == "disk"


def test_scratch_work_and_scores_leave_every_cache_as_it_was(kept: Kept) -> None:
    for question in QUESTIONS[:2]:
        kept.ask("a", question)
    kept.idle()
    before = {path: path.read_bytes() for path in kept.root.rglob("*") if path.is_file()}  # type: ignore[union-attr]
    info = kept.engine.conversation("a")
    kept.ask("", "Give this conversation a title: rent", system="You write titles.")
    kept.ask("", "Rewrite the question: and when?", system="You rewrite questions.")
    from engine.types import Turn

    kept.engine.score("a", Turn("Is it found?"), ["Yes", "No"])
    kept.flush()
    after = {path: path.read_bytes() for path in kept.root.rglob("*") if path.is_file()}  # type: ignore[union-attr]
    assert after == before
    assert kept.engine.conversation("a") == info
    stats = kept.ask("a", QUESTIONS[2]).stats
    assert stats.prefilled_tokens <= len(QUESTIONS[2]) + 20


# Shared beginnings.


def test_the_system_prompt_is_read_once_for_all(kept: Kept) -> None:
    first = kept.ask("a", QUESTIONS[0])
    second = kept.ask("b", QUESTIONS[0])
    assert first.text == second.text
    assert first.stats.reused_tokens == 0
    assert second.stats.reused_tokens > 50
    kept.restart()
    third = kept.ask("c", QUESTIONS[0])
    assert third.text == first.text
    assert third.stats.reused_tokens == second.stats.reused_tokens
    assert third.stats.restored_from == "disk"


def test_a_document_read_whole_is_read_once_for_all(kept: Kept) -> None:
    document = "Clause 7. The tenant may sublet the premises with consent. " * 8
    first = kept.ask("a", QUESTIONS[0], document=document)
    second = kept.ask("b", QUESTIONS[1], document=document)
    assert second.stats.reused_tokens > len(document)
    assert second.stats.prefilled_tokens <= len(QUESTIONS[1]) + 20
    kept.flush()
    files = list((kept.root / "shared").glob("*/cache"))  # type: ignore[operator]
    assert len(files) == 2  # with the document and without
    whole = sum(len(kept.ids(name)) for name in "ab") * 16
    alone = sum(kept.file(name).stat().st_size for name in "ab")
    assert alone < whole / 2 + 2 * 5000
    kept.restart()
    expected = plain(None, [QUESTIONS[0]])
    assert first.text != expected[0].text
    again = kept.ask("b", QUESTIONS[2])
    assert again.stats.restored_from == "disk"
    assert again.stats.prefilled_tokens <= len(QUESTIONS[2]) + 20


def test_forks_share_the_document_too_and_the_last_to_go_takes_it_along(kept: Kept) -> None:
    document = "Clause 7. The tenant may sublet the premises with consent. " * 8
    kept.ask("a", QUESTIONS[0], document=document)
    kept.engine.fork("a", "b")
    kept.restart()
    kept.engine.delete("a")
    assert kept.ask("b", QUESTIONS[1]).stats.prefilled_tokens <= len(QUESTIONS[1]) + 20
    kept.engine.delete("b")
    assert not list((kept.root / "shared").glob("*"))  # type: ignore[operator]


def test_a_damaged_shared_beginning_costs_only_time(kept: Kept) -> None:
    expected = plain(None, QUESTIONS)
    kept.ask("a", QUESTIONS[0])
    kept.flush()
    for path in (kept.root / "shared").glob("*/cache"):  # type: ignore[operator]
        path.write_bytes(path.read_bytes()[:-9])
    kept.restart()
    answer = kept.ask("a", QUESTIONS[1])
    assert answer.text == expected[1].text
    assert answer.stats.restored_from == "prefill"
    assert any("damaged" in line for line in kept.notices)
    kept.restart()
    assert kept.ask("a", QUESTIONS[2]).stats.restored_from == "disk"


# Trimming.


def test_a_trimmed_conversation_comes_back_trimmed(tmp_path: Path) -> None:
    one, other = Kept(tmp_path / "one"), Kept(tmp_path / "other")
    questions = [f"{question} {'x' * 90}" for question in QUESTIONS * 3]
    trims = 0
    for question in questions:
        first, second = one.ask("a", question), other.ask("a", question)
        assert first.text == second.text
        trims += second.stats.trimmed_tokens
        if second.stats.trimmed_tokens == 0:
            assert second.stats.prefilled_tokens <= len(question) + 60 or not other.ids("a")
        assert [turn.in_window for turn in one.engine.conversation("a").turns] == [
            turn.in_window for turn in other.engine.conversation("a").turns
        ]
        other.restart()
    assert trims > 500
    assert not all(turn.in_window for turn in other.engine.conversation("a").turns)
    one.engine.close()
    other.engine.close()


def test_at_the_trained_limit_the_window_is_numbered_anew(tmp_path: Path) -> None:
    kept = Kept(tmp_path, {"trained_context": 700}, {"window": 512})
    for question in QUESTIONS * 3:
        kept.ask("a", f"{question} {'y' * 60}")
        kept.restart()
    window = kept.engine._register.get("a").window
    assert window.next_position <= 700
    assert not kept.notices
    kept.engine.close()


# Models that can't drop a part.


def test_a_model_that_cannot_trim_is_kept_as_a_whole(tmp_path: Path) -> None:
    kept = Kept(tmp_path, {"can_trim": False})
    expected = plain(None, QUESTIONS)
    answers = []
    for question in QUESTIONS:
        answers.append(kept.ask("a", question))
        kept.flush()
        kept.restart()
    assert texts(answers) == texts(expected)
    assert [one.stats.restored_from for one in answers] == ["", *["disk"] * 4]
    assert "can't drop a part" in kept.notices[0]  # and the user is told
    # after an edit nothing can be kept, and that costs only time
    kept.engine.rewind("a", 1)
    answer = kept.ask("a", QUESTIONS[1])
    assert answer.text == expected[1].text
    assert answer.stats.restored_from == "prefill"
    kept.engine.close()


# Another model, another program.


def test_with_another_model_the_words_are_read_anew(kept: Kept) -> None:
    kept.ask("a", QUESTIONS[0], document="Clause 7 says much about the rent. ")
    kept.restart(salt=3)
    answer = kept.ask("a", QUESTIONS[1])
    assert answer.stats.restored_from == "prefill"
    other = Kept(None, {"salt": 3})
    turn = kept.engine._register.get("a").transcript.turns[0]
    assert [segment.role for segment in turn.segments] == ["system", "user", "user", "assistant"]
    other.engine.close()
    kept.restart()
    assert kept.ask("a", QUESTIONS[2]).stats.restored_from == "disk"
    assert len(kept.engine.conversation("a").turns) == 3


def test_a_state_that_the_backend_refuses_costs_only_time(kept: Kept) -> None:
    expected = plain(None, QUESTIONS)
    kept.ask("a", QUESTIONS[0])
    kept.restart()
    original = kept.backend._form
    kept.backend._form = lambda: 1  # type: ignore[method-assign]
    answer = kept.ask("a", QUESTIONS[1])
    kept.backend._form = original  # type: ignore[method-assign]
    assert answer.text == expected[1].text
    assert answer.stats.restored_from == "prefill"


def test_a_refused_state_without_a_shared_beginning_is_set_aside(kept: Kept) -> None:
    kept.ask("a", QUESTIONS[0], system="")
    kept.restart()

    def refuse(*_: object) -> None:
        raise RestoreError("it doesn't fit")

    kept.backend._parse = refuse  # type: ignore[method-assign, assignment]
    answer = kept.ask("a", QUESTIONS[1])
    assert answer.stats.restored_from == "prefill"
    assert list(kept.file("a").parent.glob("cache.*.bad"))
    kept.restart()
    assert kept.ask("a", QUESTIONS[2]).stats.reused_tokens > 0


def test_what_finds_no_room_on_the_device_is_kept(tmp_path: Path) -> None:
    kept = Kept(tmp_path, {"cells": 500}, {"window": 480})
    kept.ask("a", QUESTIONS[0] + "x" * 150, system="")
    kept.restart()
    running = kept.events("b", QUESTIONS[0] + "y" * 250, system="")
    while kept.engine._register.find("b") is None or kept.backend.free_cells > 200:
        next(running)
    with pytest.raises(OutOfCells):
        kept.ask("a", QUESTIONS[1])
    for _ in running:
        pass
    kept.engine._device.forget(kept.engine._register.known("a"))
    assert kept.ask("a", QUESTIONS[1]).stats.restored_from == "memory"
    kept.engine.close()


def test_two_programs_do_not_write_one_conversation(kept: Kept) -> None:
    kept.ask("a", QUESTIONS[0])
    other = Kept(kept.root)
    with pytest.raises(FolderInUse, match="another Clausebook"):
        other.ask("a", QUESTIONS[1])
    assert other.engine.conversation("a").tokens == len(kept.ids("a"))  # looking is allowed
    assert other.ask("b", QUESTIONS[0]).text
    kept.engine.close()
    assert other.ask("a", QUESTIONS[1]).stats.restored_from == "disk"
    other.engine.close()
    kept.start()


def test_looking_at_conversations_changes_nothing(kept: Kept) -> None:
    kept.ask("a", QUESTIONS[0], record={"chunks": [1, 2]})
    kept.ask("b", QUESTIONS[0])
    kept.restart()
    before = {path: path.stat().st_mtime_ns for path in kept.root.rglob("*")}  # type: ignore[union-attr]
    report = kept.engine.cache_report()
    assert {one.id for one in report.conversations} == {"a", "b"}
    assert report.disk_bytes == sum(kept.engine.conversation(n).disk_bytes for n in "ab")
    assert kept.engine.conversation("a").turns[0].record == {"chunks": [1, 2]}
    assert before == {path: path.stat().st_mtime_ns for path in kept.root.rglob("*")}  # type: ignore[union-attr]


# Memory.


def test_when_memory_is_short_the_window_shrinks_and_grows_again(tmp_path: Path) -> None:
    kept = Kept(tmp_path, {"cells": 8192}, {"window": 4096})
    governor = kept.engine.house._governor
    assert governor is not None
    governor._clock = lambda: kept.now
    long = "The tenant shall repair the roof. " * 40
    for number in range(2):
        kept.ask("a", f"{number} {long}")
    kept.ask("b", QUESTIONS[0])
    kept.free = 100 << 20
    windows = []
    for number in range(8):
        kept.now += 2
        kept.ask("a", f"{number} {QUESTIONS[0]}")
        windows.append(kept.engine.window)
    assert windows[-1] == 1024
    assert kept.engine.conversation("b").tier == "disk"
    assert kept.engine.conversation("a").window_tokens <= 1024
    assert any("1,024 tokens" in line for line in kept.notices)
    kept.free = 8 << 30
    for _ in range(60):
        kept.now += 2
        kept.engine.idle_step()
    assert kept.engine.window == 4096
    kept.ask("a", "And now?")
    assert any("4,096" in line for line in kept.notices)
    kept.engine.close()


def test_a_decoder_gives_its_spare_memory_back(kept: Kept) -> None:
    trims = []
    kept.backend.trim = lambda: trims.append(1)  # type: ignore[attr-defined]
    kept.ask("a", QUESTIONS[0])
    assert kept.engine.house.release_idle()
    assert trims == [1]


def test_the_gpus_memory_is_watched_where_the_decoder_tells_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from engine.assembly import assemble
    from engine.fake_backend import FakeBackend
    from engine.types import EngineOptions

    backend = FakeBackend(cells=9000)
    backend.device_memory = lambda: (1 << 20, 8 << 30)  # type: ignore[attr-defined]
    engine = assemble(backend, EngineOptions(Path(), backend="fake", window=8192))
    engine.idle_step()
    assert engine.window == 4096
    assert "GPU memory is low (1 MB free)" in engine.notices[0]
    engine.close()


def test_a_partial_answer_of_a_dead_engine_is_adopted(kept: Kept) -> None:
    from engine.types import Turn

    kept.ask("a", QUESTIONS[0])
    kept.restart()
    kept.engine.adopt_partial("a", Turn(QUESTIONS[1]), "The rent is", 1)
    kept.engine.adopt_partial("a", Turn(QUESTIONS[1]), "The rent is", 1)  # only once
    kept.restart()
    assert len(kept.engine.conversation("a").turns) == 2
    assert kept.ask("a", QUESTIONS[2]).stats.restored_from == "disk"


def test_the_quota_removes_the_oldest_cache_and_no_words(tmp_path: Path) -> None:
    kept = Kept(tmp_path, {}, {"disk_budget": 22_000})
    for number in range(4):
        kept.ask(f"c{number}", QUESTIONS[0] + "z" * 200)
        kept.flush()
        if kept.file(f"c{number}").exists():
            os.utime(kept.file(f"c{number}"), (number, number))
    have = [number for number in range(4) if kept.file(f"c{number}").exists()]
    assert 3 in have
    assert 0 not in have
    kept.restart()
    assert kept.ask("c0", QUESTIONS[1]).text
    assert len(kept.engine.conversation("c0").turns) == 2
    kept.engine.close()
