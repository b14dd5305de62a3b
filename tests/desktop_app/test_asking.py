"""Asking with the real library and history, and an engine in memory."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop_app.asking import TRANSCRIPT_TURNS, Asker, new_conversation_id, title_of
from desktop_app.composition import Composition
from desktop_app.errors import AppError
from desktop_app.settings import Settings
from engine.errors import EngineDied
from rag.errors import StoreFull
from rag.history import History
from rag.types import Answer, AnswerDelta, AnswerEvent, AnswerNotice, EvidenceFound
from tests.desktop_app.fakes import CONTRACT, fakes

QUESTION = "When shall the Buyer pay each invoice?"


@pytest.fixture
def composed(tmp_path: Path) -> Iterator[Composition]:
    composition = Composition(
        tmp_path / "library",
        Settings(backend="fake"),
        makers=fakes(),
    )
    (tmp_path / "contract.txt").write_text(CONTRACT, encoding="utf8")
    library = composition.open_library()
    list(library.ingest([tmp_path / "contract.txt"]))
    library.close()
    yield composition
    composition.close()


@pytest.fixture
def asker(composed: Composition) -> Iterator[Asker]:
    asker = Asker(composed)
    yield asker
    asker.close()


def answer_of(events: list[AnswerEvent]) -> Answer:
    assert isinstance(events[-1], Answer)
    return events[-1]


def test_an_answer_is_streamed_and_kept(asker: Asker) -> None:
    events = list(asker.ask(QUESTION, conversation="c"))
    answer = answer_of(events)
    assert isinstance(events[0], EvidenceFound)
    assert any(isinstance(e, AnswerDelta) for e in events)
    assert asker.turn == 0
    message = asker.history.messages("c")[0]
    assert (message.question, message.answer.text) == (QUESTION, answer.text)
    assert message.answer.stats[TRANSCRIPT_TURNS] == 1
    entry = asker.history.find("c")
    assert entry is not None
    assert entry.title == QUESTION


def test_without_a_conversation_nothing_is_kept(asker: Asker) -> None:
    list(asker.ask(QUESTION))
    assert asker.turn == -1
    assert asker.history.conversations() == []


def test_a_turn_can_be_asked_again_or_edited(asker: Asker, composed: Composition) -> None:
    for question in (QUESTION, "And the liability?", "And the term?"):
        list(asker.ask(question, conversation="c"))
    list(asker.again("c", 1))
    assert [m.question for m in asker.history.messages("c")] == [QUESTION, "And the liability?"]
    assert "rewind c 1" in composed.engine.calls
    list(asker.again("c", 0, "How long is the term?"))
    assert [m.question for m in asker.history.messages("c")] == ["How long is the term?"]
    assert len(composed.engine.turns["c"]) == 1
    with pytest.raises(AppError, match="no question number 5"):
        list(asker.again("c", 4))


def test_the_transcript_may_have_fewer_turns_than_the_history(
    asker: Asker, composed: Composition
) -> None:
    # given a first answer that needed no turn of the model's conversation
    asker.history.begin("c")
    asker.history.add("c", "q", Answer("No.", False, (), {TRANSCRIPT_TURNS: 0}))
    list(asker.ask(QUESTION, conversation="c"))
    list(asker.again("c", 1))
    assert "rewind c 0" in composed.engine.calls


def test_a_fork_copies_history_and_transcript(asker: Asker, composed: Composition) -> None:
    list(asker.ask(QUESTION, conversation="c"))
    list(asker.ask("And the term?", conversation="c"))
    entry = asker.fork("c", 1)
    assert entry.turns == 1
    assert len(composed.engine.turns[entry.id]) == 1
    assert asker.fork("c").turns == 2
    # a conversation that only the history knows is forked there
    asker.history.begin("old")
    asker.history.add("old", "q", Answer("a", True, ()))
    assert asker.fork("old").turns == 1


def test_a_fork_the_engine_refuses_leaves_no_trace(asker: Asker, composed: Composition) -> None:
    list(asker.ask(QUESTION, conversation="c"))

    def refuse(name: str, new: str, turns: int | None) -> None:
        raise EngineDied("ended")

    composed.engine.fork = refuse
    with pytest.raises(EngineDied):
        asker.fork("c")
    assert [c.id for c in asker.history.conversations()] == ["c"]


def test_a_stop_from_another_thread_keeps_what_was_written(
    asker: Asker, composed: Composition
) -> None:
    composed.engine.pace = 0.02
    composed.engine.reply = "word " * 500
    events = asker.ask(QUESTION, conversation="c")
    got: list[AnswerEvent] = []
    for event in events:
        got.append(event)
        if isinstance(event, AnswerDelta) and len(got) < 20:
            threading.Thread(target=asker.stop).start()
    answer = answer_of(got)
    assert answer.stopped
    assert len(answer.text.split()) < 400
    assert asker.history.messages("c")[0].answer.stopped


def test_a_stop_before_the_question_begins_is_not_lost(asker: Asker, composed: Composition) -> None:
    asker.begin()
    asker.stop()
    assert answer_of(list(asker.ask(QUESTION, conversation="c"))).stopped
    assert composed.engine.asked == []
    asker.begin()
    assert not answer_of(list(asker.ask(QUESTION, conversation="c"))).stopped
    asker.stop()  # with nothing running


def test_an_engine_that_dies_leaves_the_written_part(asker: Asker, composed: Composition) -> None:
    composed.engine.dies = True
    with pytest.raises(EngineDied):
        list(asker.ask(QUESTION, conversation="c"))
    kept = asker.history.messages("c")
    assert [m.answer.stopped for m in kept] == [True]
    assert kept[0].answer.text.startswith("Within")


def test_a_history_that_cannot_be_written_costs_no_answer(
    asker: Asker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: History, *args: object) -> int:
        raise StoreFull("The disk is full, so the conversation could not be saved.")

    monkeypatch.setattr(History, "add", full)
    events = list(asker.ask(QUESTION, conversation="c"))
    assert answer_of(events).text
    assert any(isinstance(e, AnswerNotice) and "disk is full" in e.text for e in events)


def test_ids_and_titles() -> None:
    assert new_conversation_id() != new_conversation_id()
    assert title_of(" a\n b ") == "a b"
    assert len(title_of("word " * 50)) <= 60
