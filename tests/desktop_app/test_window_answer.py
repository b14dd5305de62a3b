"""Asking: evidence before text, streaming, stop, failure, editing, and several conversations."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QThread
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu, QToolButton
from pytestqt.qtbot import QtBot

from desktop_app import records
from desktop_app.window.citation_card import CitationCard
from desktop_app.window.message_view import REPAINT_MS, AnswerView, with_citations
from desktop_app.worker_client import GAVE_UP, RESTARTED
from rag.types import Answer, Citation
from tests.desktop_app.window_harness import (
    LIABILITY,
    SUPPLY,
    Harness,
    answer,
    document,
    entry,
    hit,
)


@pytest.fixture
def harness(qtbot: QtBot, tmp_path: Path) -> Harness:
    result = Harness(qtbot, tmp_path)
    result.show(document())
    return result


def last(harness: Harness) -> AnswerView:
    return harness.chat.turns[-1].answer


def chips(view: AnswerView) -> list[str]:
    buttons = view.evidence.findChildren(QToolButton)
    return [b.text() for b in buttons if b.isVisibleTo(view)]


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


def test_a_conversation_that_cannot_begin_is_told(harness: Harness) -> None:
    harness.worker.answer_with(
        records.NewConversation,
        lambda r: [records.Failed(r.job, "The library folder is read-only.")],
    )
    harness.type("What?")
    QTest.keyClick(harness.chat.composer.edit, Qt.Key.Key_Return)
    harness.settle()

    assert harness.requests(records.Ask) == []
    assert not harness.chat.composer.running
    assert harness.controller.session.run is None


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


def test_a_later_opening_makes_an_earlier_one_void(harness: Harness) -> None:
    harness.controller.session.open("c1")
    first = harness.worker.last(records.OpenConversation).job
    harness.controller.session.open("c2")
    second = harness.worker.last(records.OpenConversation).job

    harness.reply(records.ConversationOpened(second, entry(2, "Second")))
    harness.reply(records.ConversationOpened(first, entry(1, "First")))

    assert harness.controller.session.current.id == "c2"
    assert harness.window.windowTitle() == "Second — Clausebook"


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


def test_an_answer_goes_on_while_another_conversation_is_read(harness: Harness) -> None:
    job = harness.ask("How?")
    harness.reply(records.Evidence(job, "How?", (hit(3),)), records.Delta(job, "By "))
    harness.open(records.Message(0, "Other", answer()), number=2)
    assert [t.question.text for t in harness.chat.turns] == ["Other"]

    harness.reply(records.Delta(job, "the loss"))
    assert "loss" not in harness.chat.turns[0].answer.streamed
    harness.open(number=1)
    harness.settle(REPAINT_MS / 1000 * 2)

    assert [t.question.text for t in harness.chat.turns] == ["How?"]
    assert last(harness).body.toPlainText() == "By the loss"
    assert chips(last(harness)) == ["p. 3"]
    harness.finish(job)
    assert last(harness).answer is not None


def test_an_answer_that_ends_elsewhere_leaves_this_conversation_alone(harness: Harness) -> None:
    job = harness.ask("How?")
    harness.open(records.Message(0, "Other", answer("Other answer.")), number=2)

    harness.finish(job)

    assert harness.chat.turns[0].answer.body.toPlainText().strip() == "Other answer."
    assert harness.controller.session.run is None


def test_a_failure_elsewhere_is_told_in_a_banner(harness: Harness) -> None:
    job = harness.ask("How?")
    harness.open(records.Message(0, "Other", answer()), number=2)

    harness.reply(records.Failed(job, "The engine stopped."))

    assert harness.chat.banners.texts() == ["The engine stopped."]


def test_deleting_the_running_conversation_stops_and_forgets_it(harness: Harness) -> None:
    job = harness.ask("How?")

    harness.controller.session.delete("c1")
    harness.reply(records.Answered(job, "c1", 0, answer()))

    assert harness.worker.last(records.Stop).target == job
    assert harness.worker.last(records.DeleteConversation).conversation == "c1"
    assert harness.chat.turns == []
    assert not harness.chat.composer.running


def test_conversations_are_renamed_in_place_and_deleted_when_confirmed(harness: Harness) -> None:
    reply = records.ConversationList(0, (entry(1, "Rent"), entry(2, "Term", turns=3)))
    harness.controller.jobs.conversations.emit(reply)
    conversations = harness.window.conversations

    conversations.list.item(0).setText("Rent and\ncharges")
    conversations.delete_requested.emit("c2", "Term")
    harness.press("Delete")

    renamed = harness.worker.last(records.RenameConversation)
    assert (renamed.conversation, renamed.title) == ("c1", "Rent and charges")
    assert harness.worker.last(records.DeleteConversation).conversation == "c2"


def test_a_conversation_is_opened_with_the_keyboard(harness: Harness) -> None:
    harness.controller.jobs.conversations.emit(records.ConversationList(0, (entry(1), entry(2))))
    view = harness.window.conversations.list
    view.setCurrentRow(1)

    QTest.keyClick(view, Qt.Key.Key_Return)

    assert harness.worker.last(records.OpenConversation).conversation == "c2"


def test_the_list_shows_which_conversation_is_answered(harness: Harness) -> None:
    job = harness.ask()
    harness.controller.jobs.conversations.emit(records.ConversationList(0, (entry(1),)))
    delegate = harness.window.conversations.list.itemDelegate()
    assert delegate.running == "c1"
    harness.window.grab()

    harness.finish(job)

    assert delegate.running == ""


def test_a_long_conversation_shows_its_end_and_more_on_demand(harness: Harness) -> None:
    messages = [records.Message(n, f"Question {n}", answer(quote="")) for n in range(45)]

    harness.open(*messages)
    assert len(harness.chat.turns) == 30
    harness.press("Show earlier questions")

    assert [t.question.text for t in harness.chat.turns] == [f"Question {n}" for n in range(45)]


def test_a_restarted_worker_is_told_in_one_line(harness: Harness) -> None:
    job = harness.ask()
    before = len(harness.requests(records.ListDocuments))

    harness.reply(
        records.Notice(0, RESTARTED),
        records.Failed(job, "The worker stopped before this was done (ask).", "Try it again."),
        records.Started(0, 2, "fake"),
    )

    assert harness.chat.banners.texts() == [RESTARTED]
    assert len(harness.requests(records.ListDocuments)) == before + 1
    harness.press("Try again")


def test_a_worker_that_keeps_stopping_is_an_error(harness: Harness) -> None:
    harness.reply(records.Notice(0, GAVE_UP))

    assert harness.chat.banners.texts() == [GAVE_UP]


def test_the_same_trouble_is_told_once(harness: Harness) -> None:
    for _ in range(3):
        harness.reply(records.Notice(0, "The disk is full."))

    assert harness.chat.banners.texts() == ["The disk is full."]


def test_replies_from_another_thread_are_handled_on_the_gui_thread(harness: Harness) -> None:
    job = harness.ask()
    seen: list[QThread] = []
    harness.controller.session.text.connect(lambda run: seen.append(QThread.currentThread()))

    thread = threading.Thread(target=harness.worker.reply, args=(records.Delta(job, "x"),))
    thread.start()
    thread.join()
    harness.settle()

    assert seen == [QApplication.instance().thread()]


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


def test_the_menu_of_a_conversation_forks_it_and_renames_it(harness: Harness) -> None:
    harness.controller.jobs.conversations.emit(records.ConversationList(0, (entry(1), entry(2))))
    view = harness.window.conversations.list
    view.customContextMenuRequested.emit(view.visualItemRect(view.item(1)).center())
    menu = harness.window.conversations.findChild(QMenu)
    actions = {action.text(): action for action in menu.actions()}

    actions["Fork"].trigger()
    assert harness.worker.last(records.ForkConversation).conversation == "c2"
    actions["Rename"].trigger()
    assert view.isPersistentEditorOpen(view.item(1)) or view.findChild(QLineEdit) is not None
    actions["Delete…"].trigger()
    harness.settle()
    harness.press("Delete")

    assert harness.worker.last(records.DeleteConversation).conversation == "c2"


def test_a_new_list_leaves_a_name_being_typed_alone(harness: Harness) -> None:
    harness.controller.jobs.conversations.emit(records.ConversationList(0, (entry(1, "Rent"),)))
    conversations = harness.window.conversations
    conversations.rename("c1")
    editor = conversations.list.findChild(QLineEdit)
    editor.setText("Rent and")

    fresh = records.ConversationList(0, (entry(2, "Term"), entry(1, "Rent")))
    harness.controller.jobs.conversations.emit(fresh)
    assert editor.text() == "Rent and"
    QTest.keyClicks(editor, " charges")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    harness.settle(0.05)

    assert harness.worker.last(records.RenameConversation).title == "Rent and charges"
    assert conversations.list.count() == 2


def test_menu_commands_act_on_the_open_conversation(harness: Harness) -> None:
    harness.open()
    harness.controller.jobs.conversations.emit(records.ConversationList(0, (entry(1),)))

    harness.controller.fork_conversation()
    assert harness.worker.last(records.ForkConversation).conversation == "c1"
    harness.controller.delete_conversation()
    harness.press("Delete")
    assert harness.worker.last(records.DeleteConversation).conversation == "c1"
    harness.controller.new_conversation()
    before = len(harness.worker.sent)
    harness.controller.fork_conversation()
    harness.controller.delete_conversation()
    harness.controller.rename_conversation()

    assert len(harness.worker.sent) == before


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


def test_stopping_before_the_conversation_exists_asks_nothing(harness: Harness) -> None:
    harness.worker._handlers.pop(records.NewConversation)
    harness.type("What?")
    QTest.keyClick(harness.chat.composer.edit, Qt.Key.Key_Return)
    harness.settle()
    job = harness.worker.last(records.NewConversation).job

    harness.controller.escape()
    harness.reply(records.ConversationOpened(job, entry(7, "What?")), records.Finished(job))

    assert harness.requests(records.Ask) == []
    assert harness.controller.session.run is None
    assert not harness.chat.composer.running


def test_a_new_conversation_begun_meanwhile_stays_empty(harness: Harness) -> None:
    harness.worker._handlers.pop(records.NewConversation)
    harness.type("What?")
    QTest.keyClick(harness.chat.composer.edit, Qt.Key.Key_Return)
    harness.settle()
    job = harness.worker.last(records.NewConversation).job

    harness.controller.new_conversation()
    harness.reply(records.ConversationOpened(job, entry(7, "What?")), records.Finished(job))

    assert harness.controller.session.current is None
    assert harness.chat.turns == []
    assert harness.worker.last(records.Ask).conversation == "c7"
