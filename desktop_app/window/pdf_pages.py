"""A PDF's pages with the search bar above them, made when the first PDF is opened.

Whoever imports this loads Qt's PDF part and what that needs; a start does without.
"""

from __future__ import annotations

from typing import Literal

from PySide6.QtGui import QColor
from PySide6.QtPdf import QPdfDocument
from PySide6.QtWidgets import QVBoxLayout, QWidget

from desktop_app.window.find_bar import FindBar
from desktop_app.window.pdf_view import PdfView
from desktop_app.window.theme import Theme

Opened = Literal["open", "locked", "damaged"]


class PdfPages(QWidget):
    """The view, its document and the search in it."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.document = QPdfDocument(self)
        self.view = PdfView()
        self.find_bar = FindBar(theme, self.view)
        self.find_bar.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.find_bar)
        column.addWidget(self.view, 1)
        theme.changed.connect(self._recolor)
        self._recolor()

    def open(self, path: str, password: str = "") -> Opened:
        """Loads a file in place of the one before, and says how that went."""
        self.document.close()
        self.document.setPassword(password)
        outcome = self.document.load(path)
        if outcome == QPdfDocument.Error.IncorrectPassword:
            return "locked"
        if outcome != QPdfDocument.Error.None_:
            return "damaged"
        self.view.setDocument(self.document)
        self.find_bar.set_document(self.document)
        return "open"

    def close_document(self) -> None:
        """Shows no pages and searches none."""
        self.find_bar.close_search()
        self.document.close()
        self.view.setDocument(self.document)

    def _recolor(self) -> None:
        self.view.set_marker(QColor(self._theme.colors.marker))
