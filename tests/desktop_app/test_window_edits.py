"""A turn afterwards: its question edited, its answer written again, forked or copied."""

from __future__ import annotations

from PySide6.QtGui import QGuiApplication

from desktop_app import records
from desktop_app.window.message_view import with_citations
from rag.types import Answer
from tests.desktop_app.window_harness import (
    LIABILITY,
    Harness,
    answer,
)


def test_the_last_question_is_edited(harness: Harness) -> None:
    harness.open(
        records.Message(0, "What?", answer()), records.Message(1, "How is it paid?", answer())
    )

    harness.chat.turns[1].question.edit.click()
    assert harness.chat.composer.edit.toPlainText() == "How is it paid?"
    harness.ask("When is it paid?")

    sent = harness.worker.last(records.Edit)
    assert (sent.turn, sent.question, sent.conversation) == (1, "When is it paid?", "c1")
    assert [t.question.text for t in harness.chat.turns] == ["What?", "When is it paid?"]


def test_an_edit_can_be_left(harness: Harness) -> None:
    harness.open(records.Message(0, "What?", answer()))
    harness.chat.turns[0].question.edit.click()

    harness.controller.escape()
    harness.ask("Another?")

    assert harness.requests(records.Edit) == []
    assert harness.worker.last(records.Ask).question == "Another?"


def test_an_answer_is_written_again(harness: Harness) -> None:
    harness.open(records.Message(0, "What?", answer()), records.Message(1, "Why?", answer()))
    assert not harness.chat.turns[0].answer.again.isVisibleTo(harness.chat)

    harness.chat.turns[1].answer.again.click()
    harness.settle()

    sent = harness.worker.last(records.Regenerate)
    assert (sent.conversation, sent.turn) == ("c1", 1)
    assert len(harness.chat.turns) == 2
    harness.finish(sent.job, answer("Because."), turn=1)
    assert harness.chat.turns[1].answer.body.toPlainText().strip() == "Because."
    assert harness.chat.turns[1].turn == 1


def test_a_fork_keeps_the_turns_up_to_there(harness: Harness) -> None:
    harness.open(records.Message(0, "What?", answer()), records.Message(1, "Why?", answer()))

    harness.chat.turns[0].answer.fork_requested.emit()

    sent = harness.worker.last(records.ForkConversation)
    assert (sent.conversation, sent.turns) == ("c1", 1)


def test_an_answer_is_copied_with_its_citations(harness: Harness) -> None:
    harness.open(records.Message(0, "What?", answer()))

    harness.controller.copy_answer()

    copied = QGuiApplication.clipboard().text()
    assert copied == f"By the loss [1].\n\n[1] supply-agreement.pdf, p. 6: “{LIABILITY}”"


def test_an_answer_without_citations_is_copied_alone() -> None:
    assert with_citations(Answer("The documents do not say.", False, ())) == (
        "The documents do not say."
    )
