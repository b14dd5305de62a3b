"""Documents at the left: adding, progress, failure, ticks, removal."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel, QLineEdit, QMenu
from pytestqt.qtbot import QtBot

from desktop_app import records
from desktop_app.window.dialogs import Dialog
from desktop_app.window.document_delegate import button_rect
from rag.types import IngestResult
from tests.desktop_app.window_harness import Harness, document


@pytest.fixture
def harness(qtbot: QtBot, tmp_path: Path) -> Harness:
    return Harness(qtbot, tmp_path)


def dialog(harness: Harness) -> Dialog:
    return next(d for d in harness.window.findChildren(Dialog) if d.isVisible())


def test_an_empty_library_says_how_to_begin(harness: Harness) -> None:
    harness.show()

    harness.press("Open the sample")

    assert harness.worker.last(records.Ingest).paths[0].endswith("supply-agreement.pdf")


def test_before_the_worker_answers_nothing_is_claimed(harness: Harness) -> None:
    harness.window.show()
    harness.controller.start()
    harness.settle()

    assert not harness.model.loaded
    assert harness.chat.welcome.isVisible()
    with pytest.raises(AssertionError, match="no button"):
        harness.press("Add documents…")


def test_progress_is_shown_for_each_page(harness: Harness) -> None:
    harness.show()
    harness.controller.documents.add(["/x/lease.pdf"])
    job = harness.worker.last(records.Ingest).job
    assert harness.model.rows()[0].status == "waiting"

    harness.reply(records.Progress(job, "/x/lease.pdf", "reading", 11, 104))

    row = harness.model.rows()[0]
    assert (row.status, row.detail) == ("reading", "Reading page 12 of 104")
    assert row.progress == pytest.approx(11 / 104)


def test_the_first_document_is_named_while_it_is_read(harness: Harness) -> None:
    harness.show()

    harness.controller.documents.add(["/x/lease.pdf"])
    harness.settle()

    labels = [w.text() for w in harness.chat.welcome.findChildren(QLabel) if w.isVisible()]
    assert "Reading lease.pdf …" in labels
    with pytest.raises(AssertionError, match="no button"):
        harness.press("Open the sample")


def test_a_ready_file_becomes_a_document_and_is_opened(harness: Harness) -> None:
    harness.show()
    ready = document()
    harness.controller.documents.add([ready.path])
    job = harness.worker.last(records.Ingest).job

    harness.reply(
        records.Progress(job, ready.path, "saving", 1, 1),
        records.Ingested(job, IngestResult(ready.path, ready.name, "ready", 9)),
        records.DocumentList(job, (ready,)),
        records.Finished(job),
    )

    assert [(row.name, row.status) for row in harness.model.rows()] == [(ready.name, "ready")]
    assert harness.window.pdf.path == ready.path


def test_a_failed_file_says_why_in_its_row_and_tool_tip(harness: Harness) -> None:
    harness.show(document())
    harness.controller.documents.add(["/x/scan.pdf"])
    job = harness.worker.last(records.Ingest).job
    why = "No page of this file has text; scan it again at 300 dpi."

    harness.reply(
        records.Ingested(job, IngestResult("/x/scan.pdf", "", "failed", error=why)),
        records.Finished(job),
    )

    row = harness.model.rows()[0]
    index = harness.model.index(0)
    assert (row.status, row.detail) == ("failed", why)
    assert why in index.data(Qt.ItemDataRole.ToolTipRole)
    assert why in index.data(Qt.ItemDataRole.AccessibleTextRole)
    assert harness.chat.banners.texts() == []
    harness.window.grab()  # it is drawn without a warning


def test_a_failed_row_can_be_dismissed(harness: Harness) -> None:
    harness.show()
    harness.controller.documents.add(["/x/scan.pdf"])
    job = harness.worker.last(records.Ingest).job
    harness.reply(
        records.Ingested(job, IngestResult("/x/scan.pdf", "", "failed", error="Damaged.")),
        records.Finished(job),
    )
    view = harness.window.library.list
    place = button_rect(view.visualRect(harness.model.index(0))).center()

    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)

    assert harness.model.rows() == []


def test_a_locked_file_asks_for_its_password(harness: Harness) -> None:
    harness.show()
    harness.controller.documents.add(["/x/locked.pdf"])
    job = harness.worker.last(records.Ingest).job
    harness.reply(
        records.Ingested(job, IngestResult("/x/locked.pdf", "", "needs_password", error="Locked.")),
        records.Finished(job),
    )
    view = harness.window.library.list
    place = view.visualRect(harness.model.index(0)).center()

    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    asked = dialog(harness)
    asked.findChild(QLineEdit).setText("geheim")
    harness.press("Unlock", asked)

    again = harness.worker.last(records.Ingest)
    assert (again.paths, again.password) == (("/x/locked.pdf",), "geheim")


def test_a_file_that_is_there_already_is_said_to_be(harness: Harness) -> None:
    harness.show(document())
    harness.controller.documents.add(["/x/a.pdf"])
    job = harness.worker.last(records.Ingest).job

    harness.reply(
        records.Ingested(job, IngestResult("/x/a.pdf", "a.pdf", "unchanged")),
        records.Finished(job),
    )

    assert "already" in harness.chat.banners.texts()[0]


def test_a_job_that_fails_marks_what_it_never_got_to(harness: Harness) -> None:
    harness.show()
    harness.controller.documents.add(["/x/a.pdf", "/x/b.pdf"])
    job = harness.worker.last(records.Ingest).job
    harness.reply(records.Progress(job, "/x/a.pdf", "reading", 1, 4))

    harness.reply(records.Failed(job, "The disk is full.", "Free some space."))

    assert {row.detail for row in harness.model.rows()} == {"The disk is full. Free some space."}
    assert harness.chat.banners.texts() == ["The disk is full. Free some space."]


def test_reading_can_be_stopped(harness: Harness) -> None:
    harness.show()
    harness.controller.documents.add(["/x/a.pdf"])
    job = harness.worker.last(records.Ingest).job
    harness.reply(records.Progress(job, "/x/a.pdf", "reading", 1, 4))
    view = harness.window.library.list
    view.setCurrentIndex(harness.model.index(0))

    QTest.keyClick(view, Qt.Key.Key_Delete)
    harness.reply(records.Finished(job))

    assert harness.worker.last(records.Stop).target == job
    assert harness.model.rows() == []


def test_ticks_limit_a_question(harness: Harness) -> None:
    harness.show(document(), document("master-agreement.pdf", 103))
    view = harness.window.library.list
    box = view.visualRect(harness.model.index(1)).topLeft() + QPoint(22, 20)

    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=box)
    harness.ask()

    assert harness.worker.last(records.Ask).documents == ("supply-agreement.pdf",)
    assert harness.chat.composer.scope.text() == "Asking 1 of 2 documents"


def test_all_documents_ticked_means_no_limit(harness: Harness) -> None:
    harness.show(document(), document("master-agreement.pdf", 103))

    harness.ask()

    assert harness.worker.last(records.Ask).documents == ()


def test_space_ticks_and_the_tick_survives_a_new_list(harness: Harness) -> None:
    harness.show(document(), document("master-agreement.pdf", 103))
    view = harness.window.library.list
    view.setCurrentIndex(harness.model.index(0))

    QTest.keyClick(view, Qt.Key.Key_Space)
    harness.controller.documents.refresh()
    harness.settle()

    assert harness.model.scope() == ["master-agreement.pdf"]
    state = harness.model.index(0).data(Qt.ItemDataRole.CheckStateRole)
    assert state == Qt.CheckState.Unchecked


def test_the_selected_row_stays_selected_in_a_new_list(harness: Harness) -> None:
    harness.show(document(), document("master-agreement.pdf", 103))
    view = harness.window.library.list
    view.setCurrentIndex(harness.model.index(1))

    harness.model.set_documents([document("a.pdf"), *(document("master-agreement.pdf", 103),)])

    assert view.currentIndex().row() == 1
    assert view.currentIndex().data() == "master-agreement.pdf"


def test_no_document_ticked_is_told_with_a_way_out(harness: Harness) -> None:
    harness.show(document())
    harness.model.set_ticked("supply-agreement.pdf", False)
    harness.type("What is the term?")
    harness.controller.ask("What is the term?")
    harness.settle()

    assert harness.requests(records.Ask) == []
    assert harness.chat.composer.edit.toPlainText() == "What is the term?"
    harness.press("Ask all")
    assert harness.model.scope() == ["supply-agreement.pdf"]


def test_a_question_before_any_document_is_told_with_a_way_out(harness: Harness) -> None:
    harness.show()

    harness.controller.ask("What is the term?")
    harness.settle()

    assert harness.requests(records.NewConversation) == []
    assert "no document" in harness.chat.banners.texts()[0]


def test_a_document_is_removed_once_that_is_confirmed(harness: Harness) -> None:
    harness.show(document())
    harness.worker.answer_with(records.Remove, lambda r: [records.DocumentList(r.job, ())])
    view = harness.window.library.list
    view.setCurrentIndex(harness.model.index(0))

    QTest.keyClick(view, Qt.Key.Key_Delete)
    assert harness.requests(records.Remove) == []
    harness.press("Remove", dialog(harness))

    assert harness.worker.last(records.Remove).documents == ("supply-agreement.pdf",)
    assert harness.model.rows() == []


def test_a_removed_document_leaves_the_page_view(harness: Harness) -> None:
    harness.show(document())
    harness.controller.passages.show_document("supply-agreement.pdf")
    assert harness.window.pdf.path

    harness.worker.answer_with(records.Remove, lambda r: [records.DocumentList(r.job, ())])
    harness.controller.documents.remove("supply-agreement.pdf")
    harness.settle()

    assert harness.window.pdf.path == ""
    assert harness.window.pdf.pages.view.page_count == 0


def test_cancelling_removes_nothing(harness: Harness) -> None:
    harness.show(document())
    harness.window.library.remove_requested.emit("supply-agreement.pdf")

    harness.press("Cancel", dialog(harness))

    assert harness.requests(records.Remove) == []


def test_a_library_that_cannot_be_read_is_told(harness: Harness) -> None:
    harness.worker.answer_with(
        records.ListDocuments,
        lambda r: [records.Failed(r.job, "The library folder is read-only.", "Choose another.")],
    )
    harness.window.show()
    harness.controller.start()
    harness.settle()

    assert harness.chat.banners.texts() == ["The library folder is read-only. Choose another."]
    assert harness.model.loaded


def test_dropped_files_are_added(harness: Harness, tmp_path: Path) -> None:
    harness.show()
    files = [tmp_path / "a.pdf", tmp_path / "合同.pdf"]
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in files])
    left, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    copy = Qt.DropAction.CopyAction

    enter = QDragEnterEvent(QPoint(300, 300), copy, data, left, none)
    QApplication.sendEvent(harness.window, enter)
    assert harness.window.drop.isVisible()
    QApplication.sendEvent(harness.window, QDropEvent(QPointF(300, 300), copy, data, left, none))

    assert not harness.window.drop.isVisible()
    assert harness.worker.last(records.Ingest).paths == tuple(str(path) for path in files)


def test_files_are_chosen_without_stopping_the_window(harness: Harness, tmp_path: Path) -> None:
    harness.show()
    harness.controller.documents.choose_files()
    chooser = harness.window.findChild(QFileDialog)

    chooser.filesSelected.emit([str(tmp_path / "a.pdf")])
    chooser.reject()

    assert harness.worker.last(records.Ingest).paths == (str(tmp_path / "a.pdf"),)
    assert harness.state.text("folder") == str(tmp_path)


def test_the_menu_asks_only_one_document(harness: Harness) -> None:
    harness.show(document(), document("master-agreement.pdf", 103))
    view = harness.window.library.list
    place = view.visualRect(harness.model.index(1)).center()

    view.customContextMenuRequested.emit(place)
    menu = view.findChild(QMenu)
    next(a for a in menu.actions() if a.text() == "Ask only this document").trigger()
    menu.close()

    assert harness.model.scope() == ["master-agreement.pdf"]


def test_a_document_opens_at_the_right(harness: Harness) -> None:
    harness.show(document())
    view = harness.window.library.list
    place = view.visualRect(harness.model.index(0)).center()

    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)

    assert harness.window.pdf.path.endswith("supply-agreement.pdf")
    assert harness.window.pdf.pages.view.page_count == 9
