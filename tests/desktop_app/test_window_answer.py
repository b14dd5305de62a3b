"""Asking: evidence before text, streaming, stop, failure, and where the view stands."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QToolButton

from desktop_app import records
from desktop_app.window.citation_card import CitationCard
from desktop_app.window.message_view import REPAINT_MS
from rag.types import Answer, Citation
from tests.desktop_app.window_harness import (
    LIABILITY,
    SUPPLY,
    Harness,
    answer,
    chips,
    hit,
    last,
)


def test_a_first_question_begins_a_conversation_named_after_it(harness: Harness) -> None:
    harness.ask("How is liability determined?")

    assert harness.worker.last(records.NewConversation).title == "How is liability determined?"
    asked = harness.worker.last(records.Ask)
    assert (asked.conversation, asked.question) == ("c1", "How is liability determined?")
    assert harness.chat.composer.edit.toPlainText() == ""
    assert harness.chat.turns[-1].question.text == "How is liability determined?"


def test_shift_enter_begins_a_line_and_sends_nothing(harness: Harness) -> None:
    harness.type("First")
    harness.chat.composer.edit.moveCursor(harness.chat.composer.edit.textCursor().MoveOperation.End)

    QTest.keyClick(harness.chat.composer.edit, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)

    assert harness.chat.composer.edit.toPlainText() == "First\n"
    assert harness.requests(records.NewConversation) == []


def test_an_empty_question_is_not_sent(harness: Harness) -> None:
    harness.type("  \n ")
    QTest.keyClick(harness.chat.composer.edit, Qt.Key.Key_Return)

    assert not harness.chat.composer.send.isEnabled()
    assert harness.requests(records.NewConversation) == []


def test_passages_are_shown_before_any_text(harness: Harness) -> None:
    job = harness.ask()

    harness.reply(records.Evidence(job, "q", (hit(12), hit(47), hit(12))))
    harness.reply(records.Reading(job, 128, 512))

    view = last(harness)
    assert chips(view) == ["p. 12", "p. 47"]
    assert not view.body.isVisible()
    assert view.evidence.isVisible()


def test_the_best_passage_is_there_to_read_meanwhile(harness: Harness) -> None:
    job = harness.ask()

    harness.reply(records.Evidence(job, "q", (hit(6, LIABILITY), hit(2))))

    assert harness.worker.last(records.FindRectangles).quote == LIABILITY
    assert harness.window.pdf.pages.view.page == 5


def test_passages_of_another_conversation_leave_the_document_alone(harness: Harness) -> None:
    job = harness.ask()
    harness.open(number=2)

    harness.reply(records.Evidence(job, "q", (hit(6, LIABILITY),)))

    assert harness.requests(records.FindRectangles) == []


def test_a_chip_opens_its_passage(harness: Harness) -> None:
    job = harness.ask()
    harness.reply(records.Evidence(job, "q", (hit(6, LIABILITY),)))

    last(harness).evidence.findChildren(QToolButton)[0].click()

    found = harness.worker.last(records.FindRectangles)
    assert (found.page, found.quote) == (6, LIABILITY)
    assert harness.window.pdf.pages.view.page == 5


def test_a_quotation_is_shown_once_and_a_page_turned_meanwhile_stays(harness: Harness) -> None:
    job = harness.ask()
    cited = Citation(SUPPLY, 6, LIABILITY, 1)
    harness.reply(records.Delta(job, "> By the loss [1]", (cited,)))
    assert harness.window.pdf.pages.view.page == 5
    assert len(harness.requests(records.FindRectangles)) == 1

    harness.window.pdf.show_page(2)
    harness.reply(records.Draft(job, "The loss"), records.Delta(job, "\n\nSee also p. 2."))
    harness.finish(job)

    assert len(harness.requests(records.FindRectangles)) == 1
    assert harness.window.pdf.pages.view.page == 1


def test_a_draft_stands_below_the_text_until_it_is_checked(harness: Harness) -> None:
    job = harness.ask()
    harness.reply(records.Delta(job, "> By the loss"), records.Draft(job, "The loss dec"))
    view = last(harness)
    QTest.qWait(120)
    assert (view.draft.text(), view.draft.isVisible()) == ("The loss dec", True)
    assert view.body.markdown() == "> By the loss"

    harness.finish(job)

    assert not view.draft.isVisible()


def test_text_is_painted_on_a_timer_and_not_for_each_piece(harness: Harness) -> None:
    job = harness.ask()
    painted: list[str] = []
    view = last(harness)
    view.body.document().contentsChanged.connect(lambda: painted.append(view.body.toPlainText()))
    view.grew.connect(lambda: painted.append("grew"))

    for number in range(200):
        harness.worker.reply(records.Delta(job, f"w{number} "))
    harness.settle()
    assert view.body.markdown() == ""
    harness.settle(REPAINT_MS / 1000 * 2)

    assert view.body.markdown().startswith("w0 w1 ")
    assert painted.count("grew") <= 3
    assert view.streamed.endswith("w199 ")


def test_the_answer_arrives_whole_with_figures(harness: Harness) -> None:
    job = harness.ask()
    harness.reply(records.Delta(job, "By the"))

    harness.finish(job)

    view = last(harness)
    assert view.body.toPlainText().startswith("By the loss")
    assert not harness.chat.composer.running
    figures = harness.window.status.figures.whole()
    assert "1,420 tokens reused" in figures
    assert "first word after 212 ms" in figures
    assert "SmolLM2-135M · llama.cpp" in harness.window.status.model.text()


def test_the_list_is_asked_for_once_the_turn_is_written_down(harness: Harness) -> None:
    job = harness.ask()
    before = len(harness.requests(records.ListConversations))

    harness.reply(records.Answered(job, "c1", 0, answer()))
    assert len(harness.requests(records.ListConversations)) == before
    harness.reply(records.Finished(job))

    assert len(harness.requests(records.ListConversations)) == before + 1


def test_stop_takes_the_place_of_send_and_keeps_what_was_written(harness: Harness) -> None:
    job = harness.ask()
    harness.reply(records.Delta(job, "By the loss"))
    assert harness.chat.composer.send.accessibleName() == "Stop"

    harness.chat.composer.send.click()
    assert harness.worker.last(records.Stop).target == job
    harness.finish(job, answer("By the loss", quote="", stopped=True))

    view = last(harness)
    assert view.body.toPlainText() == "By the loss"
    assert harness.chat.composer.send.accessibleName() == "Send"
    assert harness.controller.session.run is None


def test_escape_stops(harness: Harness) -> None:
    job = harness.ask()

    harness.controller.escape()

    assert harness.worker.last(records.Stop).target == job


def test_a_job_that_ends_without_an_answer_was_stopped(harness: Harness) -> None:
    job = harness.ask()
    harness.reply(records.Delta(job, "By"))

    harness.reply(records.Finished(job))

    assert last(harness).answer is not None
    assert last(harness).answer.stopped
    assert last(harness).body.toPlainText() == "By"


def test_a_failure_says_what_went_wrong_and_can_be_tried_again(harness: Harness) -> None:
    job = harness.ask("What is due?")
    harness.reply(records.Delta(job, "By the"))

    harness.reply(records.Failed(job, "The model file is cut short.", "Download it again."))

    assert "By the" in last(harness).body.toPlainText()
    assert not harness.chat.composer.running
    harness.press("Try again")
    again = harness.worker.last(records.Ask)
    assert again.question == "What is due?"
    assert again.job != job
    assert len(harness.chat.turns) == 1


def test_notices_stand_beside_the_answer(harness: Harness) -> None:
    job = harness.ask()

    harness.reply(records.Notice(job, "The window shrank to 2,048 tokens."))
    harness.finish(job)

    texts = [w.text() for w in last(harness).findChildren(type(harness.chat.composer.scope))]
    assert "The window shrank to 2,048 tokens." in texts


def test_replies_of_a_forgotten_job_are_dropped(harness: Harness) -> None:
    job = harness.ask()
    harness.finish(job)

    harness.reply(records.Delta(job, "late"), records.Delta(999, "stray"))

    assert "late" not in last(harness).body.toPlainText()
    assert last(harness).streamed == ""


def test_the_view_follows_the_answer_until_the_reader_scrolls(harness: Harness) -> None:
    harness.open(*(records.Message(n, f"Q{n}", answer()) for n in range(12)))
    job = harness.ask("And then?")
    bar = harness.chat.area.verticalScrollBar()
    harness.settle(0.1)
    followed = bar.value()
    assert followed > bar.maximum() * 0.7

    bar.triggerAction(bar.SliderAction.SliderPageStepSub)
    harness.settle()
    read = bar.value()
    harness.reply(records.Delta(job, "word " * 400))
    harness.settle(REPAINT_MS / 1000 * 2)

    assert bar.value() == read < followed


def test_the_question_stays_in_view_below_a_long_answer(harness: Harness) -> None:
    job = harness.ask("Tell me all.")

    harness.finish(job, answer("A paragraph.\n\n" * 60))
    harness.settle(0.1)

    question = harness.chat.turns[-1].question
    top = question.mapTo(harness.chat.area.viewport(), question.rect().topLeft()).y()
    assert 0 <= top < 60


def test_more_citations_are_shown_on_demand(harness: Harness) -> None:
    citations = tuple(Citation("supply-agreement.pdf", n, f"Words {n}", n) for n in range(1, 6))
    harness.open(records.Message(0, "What?", Answer("[1][2][3][4][5]", True, citations)))
    cards = harness.chat.turns[0].answer.findChildren(CitationCard)
    assert [card.isVisible() for card in cards] == [True, True, True, False, False]

    harness.press("Show 2 more")

    assert all(card.isVisible() for card in cards)


def test_words_the_answer_quotes_are_not_said_twice(harness: Harness) -> None:
    text = f"As follows [1].\n\n> “{LIABILITY}”\n\nSee also [2]."
    citations = (
        Citation("supply-agreement.pdf", 6, LIABILITY, 1),
        Citation("supply-agreement.pdf", 4, "Payment is made by bank transfer", 2),
    )
    harness.open(records.Message(0, "What?", Answer(text, True, citations)))

    heights = [c.height() for c in harness.chat.turns[0].answer.findChildren(CitationCard)]

    assert heights[0] < heights[1]
