"""The search bar of the PDF panel, and the search in a document's pages.

Qt searches page by page on a timer of its own, so that the window stays responsive.
"""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtPdf import QPdfDocument, QPdfSearchModel
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QToolButton, QWidget

from desktop_app.window.controls import IconButton, label
from desktop_app.window.page_marks import Box
from desktop_app.window.pdf_view import PdfView
from desktop_app.window.theme import Theme


class FindBar(QFrame):
    """Finds a text in the pages of a view and goes from hit to hit."""

    closed = Signal()

    def __init__(self, theme: Theme, view: PdfView, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "find")
        self._view = view
        self._model = QPdfSearchModel(self)
        self._current = -1
        self.field = QLineEdit()
        self.field.setPlaceholderText("Find in this document")
        self.field.setAccessibleName("Find in this document")
        self.field.setClearButtonEnabled(True)
        for clear in self.field.findChildren(QToolButton):
            clear.setAccessibleName("Clear the search")
        self.field.textChanged.connect(self._typed)
        self.count = label(role="soft")
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 6, 8, 6)
        row.setSpacing(4)
        row.addWidget(self.field, 1)
        row.addWidget(self.count)
        row.addWidget(IconButton(theme, "up", "Previous hit", lambda: self.step(-1)))
        row.addWidget(IconButton(theme, "down", "Next hit", lambda: self.step(1)))
        row.addWidget(IconButton(theme, "close", "Close search", self.close_search, shortcut="Esc"))
        self._delay = QTimer(self)
        self._delay.setSingleShot(True)
        self._delay.setInterval(180)
        self._delay.timeout.connect(self._search)
        self._refresh = QTimer(self)
        self._refresh.setSingleShot(True)
        self._refresh.setInterval(60)
        self._refresh.timeout.connect(self._show_hits)
        self._nothing_after = QTimer(self)
        self._nothing_after.setSingleShot(True)
        self._nothing_after.setInterval(500)
        self._nothing_after.timeout.connect(self._begin_at_top)
        self._model.countChanged.connect(self._found_more)

    def set_document(self, document: QPdfDocument) -> None:
        """Searches this document from now on."""
        self._model.setDocument(document)
        self._current = -1
        if self.isVisible():
            self._search()

    def open_search(self) -> None:
        """Shows the bar with its text selected."""
        self.show()
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()
        if self.field.text():
            self._search()

    def close_search(self) -> None:
        """Hides the bar and its hits."""
        self.hide()
        self._model.setSearchString("")
        self._view.set_hits({})
        self.closed.emit()

    def hits(self) -> int:
        """How many were found so far."""
        return self._model.rowCount(QModelIndex())

    def step(self, direction: int) -> None:
        """Goes to the next (+1) or the previous (-1) hit."""
        if self.hits():
            if self._current < 0:
                self._current = max(self._first_from_here(), 0)
            else:
                self._current = (self._current + direction) % self.hits()
            self._show_hits()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if event.key() == Qt.Key.Key_Escape:
            self.close_search()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            back = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
            self.step(-1 if back else 1)
        else:
            super().keyPressEvent(event)

    def _typed(self) -> None:
        self._current = -1
        self._delay.start()

    def _found_more(self) -> None:
        if not self._refresh.isActive():
            self._refresh.start()

    def _search(self) -> None:
        self._model.setSearchString(self.field.text().strip())
        if self._view.page >= 0 and self.field.text().strip():
            self._model.resultsOnPage(self._view.page)  # this page first
        self._refresh.start()

    def _first_from_here(self) -> int:
        """The first hit on the page in front of the reader or after it; -1 if there is none yet."""
        for row in range(self.hits()):
            if self._model.resultAtIndex(row).page() >= self._view.page:
                return row
        return -1

    def _begin_at_top(self) -> None:
        """No hit came after this page: the first of all will do."""
        if self._current < 0 and self.hits():
            self._current = 0
            self._show_hits()

    def _show_hits(self) -> None:
        total = self.hits()
        if self._current < 0 and total:
            self._current = self._first_from_here()
            self._nothing_after.start()
        by_page: dict[int, list[list[Box]]] = {}
        current: tuple[int, int] | None = None
        for row in range(total):
            link = self._model.resultAtIndex(row)
            boxes = [(r.left(), r.top(), r.right(), r.bottom()) for r in link.rectangles()]
            if not boxes:
                continue
            on_page = by_page.setdefault(link.page(), [])
            if row == self._current:
                current = (link.page(), len(on_page))
            on_page.append(boxes)
        self._view.set_hits(by_page, current)
        if not self.field.text().strip():
            self.count.setText("")
        elif not total:
            self.count.setText("Not found")
        else:
            place = f"{self._current + 1} of " if self._current >= 0 else ""
            self.count.setText(f"{place}{total}")
