"""Several conversations, their list, and a worker that stops."""

from __future__ import annotations

import threading

from PySide6.QtCore import Qt, QThread
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu

from desktop_app import records
from desktop_app.window.message_view import REPAINT_MS
from desktop_app.worker_client import GAVE_UP, RESTARTED
from tests.desktop_app.window_harness import (
    Harness,
    answer,
    chips,
    entry,
    hit,
    last,
)


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


def test_a_later_opening_makes_an_earlier_one_void(harness: Harness) -> None:
    harness.controller.session.open("c1")
    first = harness.worker.last(records.OpenConversation).job
    harness.controller.session.open("c2")
    second = harness.worker.last(records.OpenConversation).job

    harness.reply(records.ConversationOpened(second, entry(2, "Second")))
    harness.reply(records.ConversationOpened(first, entry(1, "First")))

    assert harness.controller.session.current.id == "c2"
    assert harness.window.windowTitle() == "Second — Clausebook"


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


def begin_unanswered(harness: Harness) -> int:
    """Asks "What?" for a new conversation that the worker doesn't make yet: its job."""
    harness.worker._handlers.pop(records.NewConversation)
    harness.type("What?")
    QTest.keyClick(harness.chat.composer.edit, Qt.Key.Key_Return)
    harness.settle()
    return harness.worker.last(records.NewConversation).job


def test_stopping_before_the_conversation_exists_asks_nothing(harness: Harness) -> None:
    job = begin_unanswered(harness)

    harness.controller.escape()
    harness.reply(records.ConversationOpened(job, entry(7, "What?")), records.Finished(job))

    assert harness.requests(records.Ask) == []
    assert harness.controller.session.run is None
    assert not harness.chat.composer.running


def test_a_new_conversation_begun_meanwhile_stays_empty(harness: Harness) -> None:
    job = begin_unanswered(harness)

    harness.controller.new_conversation()
    harness.reply(records.ConversationOpened(job, entry(7, "What?")), records.Finished(job))

    assert harness.controller.session.current is None
    assert harness.chat.turns == []
    assert harness.worker.last(records.Ask).conversation == "c7"
