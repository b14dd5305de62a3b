"""Documents that have no pages to draw (plain text): their text, with a passage highlighted.

A passage is found with any white space between its words, as line breaks differ.
"""

from __future__ import annotations

import re
from pathlib import Path

from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit

from desktop_app.window.theme import Theme, quote_font

MOST_BYTES = 8 << 20


class TextPageView(QPlainTextEdit):
    """The text of a document, read only."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.setReadOnly(True)
        self.setProperty("role", "page")
        self.setAccessibleName("Document text")
        self.setFont(quote_font(self.font(), 1.05))
        self.document().setDocumentMargin(28)

    def load(self, path: Path) -> None:
        """Shows a file's text, the first 8 MB of it. Raises OSError."""
        with path.open("rb") as file:
            data = file.read(MOST_BYTES)
        self.setPlainText(decode(data, cut=len(data) == MOST_BYTES))

    def mark(self, quote: str) -> bool:
        """Highlights the quotation and scrolls to it; False if it isn't in the text."""
        found = find(self.toPlainText(), quote)
        if found is None:
            self.setExtraSelections([])
            return False
        cursor = QTextCursor(self.document())
        cursor.setPosition(found[0])
        self.setTextCursor(cursor)
        cursor.setPosition(found[1], QTextCursor.MoveMode.KeepAnchor)
        selection = QTextEdit.ExtraSelection()
        style = QTextCharFormat()
        style.setBackground(QColor(self._theme.colors.mark))
        style.setForeground(QColor(self._theme.colors.on_mark))
        selection.format = style
        selection.cursor = cursor
        self.setExtraSelections([selection])
        self.centerCursor()
        return True


def decode(data: bytes, *, cut: bool = False) -> str:
    """Text of a file whose encoding isn't known; if it was `cut`, without its last character."""
    for encoding in ("utf-8-sig", "gb18030"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError as error:
            if cut and error.start >= len(data) - 4:
                return data[: error.start].decode(encoding)
    return data.decode("latin-1")


def find(text: str, quote: str) -> tuple[int, int] | None:
    """Where `quote` stands in `text`, whatever white space is between its words."""
    words = quote.split()
    if not words:
        return None
    match = re.search(r"\s+".join(re.escape(word) for word in words), text)
    return match.span() if match else None
