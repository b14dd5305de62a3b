"""The pages of a PDF, with a highlighter: QPdfView plus marks that follow zoom and scroll.

Text can be selected with the mouse and copied. It knows pages and boxes in PDF points, not
documents of a library or citations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import (
    QMargins,
    QPoint,
    QPointF,
    QRect,
    QSizeF,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QColor,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtPdf import QPdfDocument
from PySide6.QtPdfWidgets import QPdfView
from PySide6.QtWidgets import QWidget

from desktop_app.window.page_layout import (
    ZOOM_STEPS,
    PageRect,
    lay_out,
    next_zoom,
    page_at,
    resolution,
)
from desktop_app.window.page_marks import Box, PageMarks
from desktop_app.window.page_motion import Beat, Glide


class PdfView(QPdfView):
    """QPdfView in multi-page mode with highlights, search hits and text selection."""

    page_changed = Signal(int)  # from 0
    zoom_changed = Signal(float)  # 1.0 is the paper's size; what is on screen now

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)  # type: ignore[arg-type]
        self.setPageMode(QPdfView.PageMode.MultiPage)
        self.setZoomMode(QPdfView.ZoomMode.FitToWidth)
        self.setPageSpacing(14)
        self.setDocumentMargins(QMargins(18, 16, 18, 16))
        self.setAccessibleName("PDF pages")
        self.setProperty("role", "pages")
        self.viewport().setCursor(Qt.CursorShape.IBeamCursor)
        self._pages: list[PageRect] = []
        self._sizes: list[QSizeF] = []
        self._page = -1
        self._marks = PageMarks()
        self._glide = Glide(self)
        self._beat = Beat(self, self._set_strength)
        self.verticalScrollBar().valueChanged.connect(self._scrolled)

    # the document

    def setDocument(self, document: QPdfDocument) -> None:  # noqa: N802 (Qt's name)
        super().setDocument(document)
        self.clear_marks()
        self._sizes = [document.pagePointSize(i) for i in range(document.pageCount())]
        self._page = -1
        self._relayout()

    @property
    def page_count(self) -> int:
        return len(self._sizes)

    @property
    def page(self) -> int:
        """Index of the page in front of the reader; -1 without a document."""
        return self._page

    @property
    def zoom(self) -> float:
        """The zoom on screen, whichever mode is on."""
        return self._pages[0].scale / resolution() if self._pages else self.zoomFactor()

    def page_rects(self) -> Sequence[PageRect]:
        """Where the pages are, in scrolled coordinates."""
        return self._pages

    # marks

    @property
    def marks(self) -> dict[int, list[Box]]:
        """The highlighted boxes by page index."""
        return self._marks.boxes

    def mark(self, page: int, boxes: Sequence[Box]) -> None:
        """Highlights these boxes, and no others, and scrolls to the first."""
        self._marks.boxes = {page: list(boxes)} if boxes else {}
        if boxes:
            top = min(box[1] for box in boxes)
            self._reveal(page, (boxes[0][0], top, boxes[0][2], boxes[0][3]))
            self._beat.start()
        self.viewport().update()

    def clear_marks(self) -> None:
        """Takes away highlights, search hits and the selection."""
        self._marks.clear()
        self.viewport().update()

    def set_marker(self, color: QColor) -> None:
        """The highlighter's colour."""
        self._marks.color = color
        self.viewport().update()

    def set_hits(
        self, hits: dict[int, list[list[Box]]], current: tuple[int, int] | None = None
    ) -> None:
        """Search hits by page, each one or more boxes; `current` is (page, index on the page)."""
        self._marks.hits = hits
        self._marks.current_hit = current
        if current is not None:
            self._reveal(current[0], hits[current[0]][current[1]][0])
        self.viewport().update()

    # moving

    def show_page(self, page: int) -> None:
        """Puts the top of a page (from 0) at the top of the view."""
        if 0 <= page < len(self._pages):
            self._glide.to(self._pages[page].rect.top() - self.pageSpacing() // 2)

    def set_zoom(self, zoom: float) -> None:
        """Zooms to a factor, keeping what is in front of the reader there."""
        self._keeping_place(lambda: self._apply_zoom(zoom))

    def fit_width(self) -> None:
        """Makes each page as wide as the view."""
        self._keeping_place(lambda: self.setZoomMode(QPdfView.ZoomMode.FitToWidth))

    def step_zoom(self, direction: int) -> None:
        """The next zoom step in (+1) or out (-1)."""
        self.set_zoom(next_zoom(self.zoom, direction))

    def _apply_zoom(self, zoom: float) -> None:
        self.setZoomMode(QPdfView.ZoomMode.Custom)
        self.setZoomFactor(min(max(zoom, ZOOM_STEPS[0]), ZOOM_STEPS[-1]))

    def _keeping_place(self, change: Callable[[], object]) -> None:
        middle = self.verticalScrollBar().value() + self.viewport().height() // 3
        page = page_at(self._pages, middle)
        inside = 0.0
        if self._pages:
            rect = self._pages[page].rect
            inside = (middle - rect.top()) / max(rect.height(), 1)
        change()
        self._relayout()
        if self._pages:
            rect = self._pages[page].rect
            y = rect.top() + inside * rect.height() - self.viewport().height() / 3
            self.verticalScrollBar().setValue(round(y))
        self.zoom_changed.emit(self.zoom)

    def _reveal(self, page: int, box: Box) -> None:
        """Scrolls so that the box stands in the upper third; not at all if it is well in view."""
        if not 0 <= page < len(self._pages):
            return
        target = self._pages[page].to_view(box)
        top = self.verticalScrollBar().value()
        height = self.viewport().height()
        if not top + height * 0.1 < target.top() < top + height * 0.6:
            self._glide.to(round(target.top() - height / 3))
        left = self.horizontalScrollBar().value()
        if not left <= target.left() < left + self.viewport().width():
            self.horizontalScrollBar().setValue(round(target.left() - 40))

    def _scrolled(self) -> None:
        y = self.verticalScrollBar().value() + self.viewport().height() // 3
        page = page_at(self._pages, y) if self._pages else -1
        if page != self._page:
            self._page = page
            self.page_changed.emit(page)

    # geometry

    def _relayout(self) -> None:
        fit = self.zoomMode() == QPdfView.ZoomMode.FitToWidth
        self._pages = lay_out(
            self._sizes,
            self.viewport().size(),
            margins=self.documentMargins(),
            spacing=self.pageSpacing(),
            resolution=resolution(),
            zoom=None if fit else self.zoomFactor(),
        )
        self._scrolled()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        bar = self.verticalScrollBar()
        page, rect = self._page, QRect()
        if 0 <= page < len(self._pages):
            rect = self._pages[page].rect
        inside = (bar.value() - rect.top()) / max(rect.height(), 1) if rect.isValid() else 0.0
        super().resizeEvent(event)
        self._relayout()
        if rect.isValid() and self.zoomMode() == QPdfView.ZoomMode.FitToWidth:
            fresh = self._pages[page].rect
            bar.setValue(round(fresh.top() + inside * fresh.height()))
            self.zoom_changed.emit(self.zoom)

    def _page_point(self, position: QPoint) -> tuple[int, QPointF]:
        offset = QPoint(self.horizontalScrollBar().value(), self.verticalScrollBar().value())
        point = position + offset
        page = page_at(self._pages, point.y())
        place = self._pages[page]
        return page, QPointF(point - place.rect.topLeft()) / place.scale

    # painting

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        super().paintEvent(event)
        if not self._pages:
            return
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        offset = QPoint(self.horizontalScrollBar().value(), self.verticalScrollBar().value())
        visible = self.viewport().rect().translated(offset)
        painter.translate(-offset)
        first = page_at(self._pages, visible.top())
        for index in range(first, len(self._pages)):
            place = self._pages[index]
            if place.rect.top() > visible.bottom():
                break
            self._marks.paint(painter, index, place)

    def _set_strength(self, strength: float) -> None:
        self._marks.strength = strength
        self.viewport().update()

    # selecting and zooming by hand

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        if event.button() == Qt.MouseButton.LeftButton and self._pages:
            self._marks.selection.begin(*self._page_point(event.position().toPoint()))
            self.viewport().update()
            self.setFocus(Qt.FocusReason.MouseFocusReason)
        else:
            super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        if not self._marks.selection.dragging:
            super().mouseMoveEvent(event)
            return
        page, point = self._page_point(event.position().toPoint())
        if self._marks.selection.drag(self.document(), page, point):
            self.viewport().update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        self._marks.selection.end()
        super().mouseReleaseEvent(event)

    def selected_text(self) -> str:
        """What is selected on the page; empty if nothing is."""
        return self._marks.selection.text()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if event.matches(QKeySequence.StandardKey.Copy) and self.selected_text():
            QGuiApplication.clipboard().setText(self.selected_text())
            return
        key = event.key()
        bar = self.verticalScrollBar()
        if key == Qt.Key.Key_Home:
            self._glide.to(bar.minimum())
        elif key == Qt.Key.Key_End:
            self._glide.to(bar.maximum())
        elif key in (Qt.Key.Key_PageDown, Qt.Key.Key_Space):
            bar.triggerAction(bar.SliderAction.SliderPageStepAdd)
        elif key == Qt.Key.Key_PageUp:
            bar.triggerAction(bar.SliderAction.SliderPageStepSub)
        else:
            super().keyPressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            if event.angleDelta().y():
                self.step_zoom(1 if event.angleDelta().y() > 0 else -1)
            event.accept()
            return
        self._glide.stop()
        super().wheelEvent(event)
