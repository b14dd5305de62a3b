"""From a citation to its page with the passage highlighted, and nothing else highlighted."""

from __future__ import annotations

from pathlib import Path

import pytest
from pypdf import PdfWriter
from PySide6.QtCore import QMargins, QPoint, QPointF, QSize, QSizeF, Qt
from PySide6.QtGui import QColor, QGuiApplication, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from desktop_app import records
from desktop_app.window.citation_card import CitationCard
from desktop_app.window.page_layout import lay_out, page_at
from desktop_app.window.pdf_panel import NOT_FOUND
from desktop_app.window.pdf_view import PdfView
from desktop_app.window.text_page_view import decode, find
from rag.types import Answer, Citation, Document
from tests.desktop_app.window_harness import LIABILITY, SUPPLY, Harness, answer, document

BOX = (100.0, 240.0, 420.0, 256.0)


def found(harness: Harness, *boxes: tuple[float, float, float, float]) -> records.Rectangles:
    """The worker's answer to the latest search for a passage."""
    asked = harness.worker.last(records.FindRectangles)
    return records.Rectangles(asked.job, asked.document, asked.page, asked.quote, boxes)


def yellow(color: QColor) -> bool:
    return color.red() > 220 and color.green() > 180 and color.blue() < 190


def test_a_click_on_a_mark_shows_the_page_with_the_passage(harness: Harness) -> None:
    harness.open(records.Message(0, "How?", answer()))

    harness.chat.turns[0].answer.body.cited.emit(1)
    harness.reply(found(harness, BOX))

    view = harness.window.pdf.pages.view
    assert harness.window.pdf.path.endswith(SUPPLY)
    assert view.page == 5
    assert view.marks == {5: [BOX]}
    assert harness.worker.last(records.FindRectangles).quote == LIABILITY


def test_a_click_on_a_card_does_the_same_and_frames_it(harness: Harness) -> None:
    harness.open(records.Message(0, "How?", answer()))
    card = harness.chat.turns[0].answer.findChild(CitationCard)

    QTest.mouseClick(card, Qt.MouseButton.LeftButton)
    harness.reply(found(harness, BOX))

    assert harness.window.pdf.pages.view.marks == {5: [BOX]}
    assert card.property("current") is True


def test_a_card_opens_with_the_keyboard(harness: Harness) -> None:
    harness.open(records.Message(0, "How?", answer()))
    card = harness.chat.turns[0].answer.findChild(CitationCard)

    QTest.keyClick(card, Qt.Key.Key_Return)

    assert harness.worker.last(records.FindRectangles).page == 6


def test_the_highlight_is_painted_where_the_boxes_are(harness: Harness) -> None:
    harness.open(records.Message(0, "How?", answer()))
    harness.chat.turns[0].answer.body.cited.emit(1)
    harness.reply(found(harness, BOX))
    view = harness.window.pdf.pages.view
    harness.settle(1.3)  # glide and pulse end

    image = view.grab().toImage()
    place = view.page_rects()[5].to_view(BOX)
    offset = QPoint(0, view.verticalScrollBar().value())
    inside = place.topRight().toPoint() - offset + QPoint(-2, 2)
    outside = place.topLeft().toPoint() - offset + QPoint(2, -12)

    assert yellow(image.pixelColor(inside))
    assert not yellow(image.pixelColor(outside))


def test_nothing_is_highlighted_where_nothing_matches(harness: Harness) -> None:
    harness.open(records.Message(0, "How?", answer()))
    harness.chat.turns[0].answer.body.cited.emit(1)
    harness.reply(found(harness, BOX))

    harness.chat.turns[0].answer.body.cited.emit(1)
    harness.reply(found(harness))

    assert harness.window.pdf.pages.view.marks == {}
    assert harness.window.pdf.note.text() == NOT_FOUND
    assert harness.window.pdf.pages.view.page == 5


def test_a_citation_without_words_opens_its_page_and_searches_nothing(harness: Harness) -> None:
    only_page = Answer("See [1].", True, (Citation(SUPPLY, 4, "", 1),))
    harness.open(records.Message(0, "How?", only_page))

    harness.chat.turns[0].answer.body.cited.emit(1)
    harness.settle()

    assert harness.window.pdf.pages.view.page == 3
    assert harness.requests(records.FindRectangles) == []


def test_only_the_latest_search_counts(harness: Harness) -> None:
    two = Answer(
        "[1] [2]", True, (Citation(SUPPLY, 6, LIABILITY, 1), Citation(SUPPLY, 4, "Payment", 2))
    )
    harness.open(records.Message(0, "How?", two))
    body = harness.chat.turns[0].answer.body

    body.cited.emit(1)
    stale = found(harness, (0.0, 0.0, 9.0, 9.0))
    body.cited.emit(2)
    harness.reply(found(harness, BOX), stale)

    assert harness.window.pdf.pages.view.marks == {3: [BOX]}


def test_the_first_citation_of_a_new_answer_is_shown(harness: Harness) -> None:
    job = harness.ask()

    harness.finish(job)

    assert harness.worker.last(records.FindRectangles).page == 6
    assert harness.window.pdf.pages.view.page == 5


def test_a_reader_busy_in_the_document_is_left_there(harness: Harness) -> None:
    harness.controller.passages.show_document(SUPPLY)
    harness.window.activateWindow()
    job = harness.ask()
    harness.window.pdf.pages.view.setFocus()
    harness.settle()

    harness.finish(job)

    assert harness.requests(records.FindRectangles) == []
    assert harness.window.pdf.pages.view.page == 0


def test_a_document_that_left_the_library_is_told(harness: Harness) -> None:
    gone = Answer("[1]", True, (Citation("gone.pdf", 2, "words", 1),))
    harness.open(records.Message(0, "How?", gone))

    harness.chat.turns[0].answer.body.cited.emit(1)

    assert "no longer in your library" in harness.chat.banners.texts()[0]
    assert harness.requests(records.FindRectangles) == []


def test_a_file_that_was_moved_is_told_in_the_panel(harness: Harness, tmp_path: Path) -> None:
    moved = Document("moved.pdf", str(tmp_path / "moved.pdf"), "", 3, 3, "")
    harness.model.set_documents([moved])

    harness.controller.passages.show_document("moved.pdf")

    assert "no longer at" in harness.window.pdf._message.text()
    assert harness.window.pdf.path == ""


def test_a_file_whose_pages_cannot_be_drawn_is_told(harness: Harness, tmp_path: Path) -> None:
    (tmp_path / "cut.pdf").write_bytes(b"%PDF-1.7\n1 0 obj\n<<")
    harness.model.set_documents([Document("cut.pdf", str(tmp_path / "cut.pdf"), "", 3, 3, "")])

    harness.controller.passages.show_document("cut.pdf")

    assert "damaged" in harness.window.pdf._message.text()


def test_a_locked_file_shows_its_pages_for_its_password(harness: Harness, tmp_path: Path) -> None:
    writer = PdfWriter()
    writer.add_blank_page(300, 400)
    writer.encrypt("geheim", algorithm="AES-256")
    path = tmp_path / "locked.pdf"
    writer.write(path)
    harness.model.set_documents([Document("locked.pdf", str(path), "", 1, 1, "")])

    harness.controller.passages.show_document("locked.pdf")
    panel = harness.window.pdf
    assert panel.path == ""
    assert panel._password.isVisible()
    panel._password.setText("wrong")
    QTest.keyClick(panel._password, Qt.Key.Key_Return)
    assert panel.path == ""
    panel._password.setText("geheim")
    QTest.keyClick(panel._password, Qt.Key.Key_Return)

    assert panel.path == str(path)
    assert panel.pages.view.page_count == 1


def test_a_search_for_a_passage_that_fails_is_told_above_the_page(harness: Harness) -> None:
    harness.open(records.Message(0, "How?", answer()))
    harness.chat.turns[0].answer.body.cited.emit(1)
    job = harness.worker.last(records.FindRectangles).job

    harness.reply(records.Failed(job, "The parser took too long."))

    assert harness.window.pdf.note.text() == "The parser took too long."
    assert harness.window.pdf.pages.view.page == 5


def test_keys_and_wheel_move_and_zoom_the_pages(harness: Harness) -> None:
    harness.controller.passages.show_document(SUPPLY)
    view = harness.window.pdf.pages.view
    bar = view.verticalScrollBar()

    QTest.keyClick(view, Qt.Key.Key_End)
    assert bar.value() == bar.maximum()
    QTest.keyClick(view, Qt.Key.Key_PageUp)
    assert bar.value() < bar.maximum()
    QTest.keyClick(view, Qt.Key.Key_Home)
    harness.settle(0.4)
    QTest.keyClick(view, Qt.Key.Key_Space)
    assert bar.value() > 0
    before = view.zoom
    wheel = QWheelEvent(
        QPointF(50, 50), QPointF(50, 50), QPoint(), QPoint(0, 120),
        Qt.MouseButton.NoButton, Qt.KeyboardModifier.ControlModifier,
        Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(view.viewport(), wheel)

    assert view.zoom > before


def test_a_plain_text_is_shown_and_its_passage_marked(harness: Harness, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("Line one.\nThe rent is due\nmonthly in advance.\n", encoding="utf8")
    harness.model.set_documents([Document("notes.txt", str(path), "", 1, 1, "")])
    cited = Answer("[1]", True, (Citation("notes.txt", 1, "due monthly in advance", 1),))
    harness.open(records.Message(0, "When?", cited))

    harness.chat.turns[0].answer.body.cited.emit(1)
    harness.reply(found(harness))

    panel = harness.window.pdf
    assert panel.text.isVisible()
    selections = panel.text.extraSelections()
    assert selections[0].cursor.selectedText().split() == "due monthly in advance".split()
    assert panel.note.text() == ""


def test_physical_and_printed_pages_are_both_shown(harness: Harness) -> None:
    harness.model.set_documents([document("master-agreement.pdf", 103)])
    harness.controller.passages.show_document("master-agreement.pdf", page=6)
    harness.settle(0.4)

    panel = harness.window.pdf
    assert panel._page.text() == "6"
    assert panel._count.text() == f"of {panel.pages.document.pageCount()}"
    assert panel._printed.text() == "· printed v"


def test_what_was_read_of_a_page_is_shown(harness: Harness) -> None:
    harness.controller.passages.show_document(SUPPLY, page=2)
    harness.settle(0.4)
    job = harness.worker.last(records.ListPages).job

    harness.reply(records.PageList(job, SUPPLY, (records.PageEntry(2, "iv", "ocr"),)))
    assert harness.window.pdf._printed.text() == "· printed iv · recognised"
    harness.window.pdf.show_page(3)
    harness.settle(0.4)

    assert harness.window.pdf._printed.text() == ""


def test_the_page_box_goes_to_a_page_of_the_file(harness: Harness) -> None:
    harness.controller.passages.show_document(SUPPLY)
    panel = harness.window.pdf

    panel._page.setText("7")
    QTest.keyClick(panel._page, Qt.Key.Key_Return)
    harness.settle(0.4)
    assert panel.pages.view.page == 6
    panel._page.setText("900")
    QTest.keyClick(panel._page, Qt.Key.Key_Return)
    harness.settle(0.4)

    assert panel._page.text() == "9"


def test_zooming_keeps_the_place(harness: Harness) -> None:
    harness.controller.passages.show_document(SUPPLY, page=5)
    harness.settle(0.4)
    view = harness.window.pdf.pages.view
    before = view.zoom

    view.step_zoom(1)
    assert view.zoom > before
    assert view.page == 4
    view.step_zoom(-1)
    view.step_zoom(-1)
    assert view.zoom < before
    assert view.page == 4
    view.fit_width()

    assert view.zoom == pytest.approx(before, rel=0.05)
    assert view.page == 4


@pytest.mark.parametrize("zoom", [None, 0.5, 1.0, 1.75])
def test_pages_are_where_qt_draws_them(harness: Harness, zoom: float | None) -> None:
    harness.controller.passages.show_document(SUPPLY)
    view = harness.window.pdf.pages.view
    if zoom is not None:
        view.set_zoom(zoom)
    harness.settle(0.5)

    last = view.page_rects()[-1].rect
    height = last.bottom() + 1 + view.pageSpacing() + view.documentMargins().bottom()
    image = view.viewport().grab().toImage()
    corner = view.page_rects()[0].rect.topLeft()

    assert view.verticalScrollBar().maximum() + view.viewport().height() == height
    assert image.pixelColor(corner + QPoint(3, 3)) == QColor("white")
    assert image.pixelColor(corner - QPoint(3, 3)) != QColor("white")


def test_text_is_found_in_the_pages(harness: Harness) -> None:
    harness.controller.passages.show_document(SUPPLY)
    panel = harness.window.pdf
    panel.open_search()

    panel.pages.find_bar.field.setText("breach")
    harness.qtbot.waitUntil(
        lambda: panel.pages.find_bar.count.text().startswith("1 of"), timeout=10_000
    )
    harness.settle(0.8)  # every page was searched
    hits = panel.pages.find_bar.hits()
    assert hits > 2
    panel.pages.find_bar.step(1)
    assert panel.pages.find_bar.count.text() == f"2 of {hits}"
    panel.pages.find_bar.step(-1)
    panel.pages.find_bar.step(-1)
    assert panel.pages.find_bar.count.text() == f"{hits} of {hits}"
    QTest.keyClick(panel.pages.find_bar.field, Qt.Key.Key_Escape)

    assert not panel.pages.find_bar.isVisible()
    assert panel.pages.find_bar.hits() == 0


def test_what_is_not_there_is_not_found(harness: Harness) -> None:
    harness.controller.passages.show_document(SUPPLY)
    panel = harness.window.pdf
    panel.open_search()

    panel.pages.find_bar.field.setText("zebra crossing")
    harness.qtbot.waitUntil(
        lambda: panel.pages.find_bar.count.text() == "Not found", timeout=10_000
    )

    assert panel.pages.find_bar.hits() == 0


def test_text_on_a_page_is_selected_and_copied(harness: Harness) -> None:
    harness.controller.passages.show_document(SUPPLY, page=6)
    harness.settle(0.4)
    view = harness.window.pdf.pages.view
    place = view.page_rects()[5]
    page = view.document().getSelectionAtIndex(5, 200, 40)
    line = page.bounds()[0].boundingRect()
    offset = QPointF(0, view.verticalScrollBar().value())
    box = place.to_view((line.left(), line.top(), line.right(), line.bottom()))
    start = (box.topLeft() - offset + QPointF(1, box.height() / 2)).toPoint()
    stop = (box.topRight() - offset + QPointF(-1, box.height() / 2)).toPoint()

    QTest.mousePress(view.viewport(), Qt.MouseButton.LeftButton, pos=start)
    QTest.mouseMove(view.viewport(), stop)
    harness.settle()
    QTest.mouseRelease(view.viewport(), Qt.MouseButton.LeftButton, pos=stop)
    QTest.keyClick(view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)

    assert len(view.selected_text()) >= 5
    assert QGuiApplication.clipboard().text() == view.selected_text()


def test_an_empty_view_has_no_page(qtbot: QtBot) -> None:
    view = PdfView()
    qtbot.addWidget(view)

    view.show_page(3)
    view.mark(2, [BOX])

    assert view.page == -1
    assert view.page_count == 0


def test_layout_centres_narrow_pages_and_finds_pages_by_height() -> None:
    sizes = [QSizeF(100, 100), QSizeF(200, 100)]

    pages = lay_out(
        sizes, QSize(400, 300), margins=QMargins(10, 20, 10, 20), spacing=5, resolution=1.0, zoom=1
    )

    assert [(p.rect.x(), p.rect.y()) for p in pages] == [(150, 20), (100, 125)]
    assert [page_at(pages, y) for y in (0, 20, 124, 125, 999)] == [0, 0, 0, 1, 1]
    assert page_at([], 5) == 0


def test_quotations_are_found_across_line_breaks_only_whole() -> None:
    assert find("a  due\nmonthly b", "due monthly") == (3, 14)
    assert find("due yearly", "due monthly") is None
    assert find("text", "  ") is None


def test_text_of_unknown_encoding_is_decoded() -> None:
    assert decode("违约责任".encode("gb18030")) == "违约责任"
    assert decode("责任".encode()) == "责任"
    assert decode("责任".encode()[:-1], cut=True) == "责"
    assert decode(b"caf\xe9 \xff\xff\xff ok here") != ""
