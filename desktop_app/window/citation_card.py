"""A citation as a card: its number, the words of the document, and where they stand."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QVBoxLayout

from desktop_app.window.controls import ElidedLabel, label, restyle
from desktop_app.window.theme import Theme, quote_font, suited
from rag.types import Citation

MOST_CHARACTERS = 260


class CitationCard(QFrame):
    """Shows a quotation and its page; a click (or Enter) opens the page."""

    opened = Signal(int)

    def __init__(
        self, theme: Theme, number: int, citation: Citation, *, quoted: bool = False
    ) -> None:
        """A card; its words are left out where the answer's text has `quoted` them already."""
        super().__init__()
        self._theme = theme
        self.number = number
        self.citation = citation
        self.setProperty("role", "citation")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        where = f"{citation.document}, page {citation.page}"
        self.setAccessibleName(f"Citation {number}: {where}")
        self.setAccessibleDescription(citation.quote)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        badge = label(str(number), role="badge", scale=0.86)
        page = label(citation.place, role="strong", scale=0.94)
        name = ElidedLabel(citation.document, role="soft", middle=True)
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(badge)
        head.addWidget(page)
        head.addWidget(name, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 9, 12, 9)
        column.setSpacing(6)
        column.addLayout(head)
        if citation.quote and not quoted:
            quote = label(_shortened(citation.quote), wrap=True)
            quote.setFont(suited(quote_font(quote.font(), 1.04), citation.quote))
            if len(citation.quote) > MOST_CHARACTERS:
                quote.setToolTip(f"“{citation.quote}”")
            column.addWidget(quote)

    def set_current(self, current: bool) -> None:
        """Frames the card whose passage is shown."""
        if bool(self.property("current")) != current:
            self.setProperty("current", current)
            restyle(self)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(
            event.position().toPoint()
        ):
            self.opened.emit(self.number)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.opened.emit(self.number)
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        super().paintEvent(event)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(self._theme.colors.marker))
        painter.drawRoundedRect(5, 9, 3, self.height() - 18, 1.5, 1.5)


def _shortened(quote: str) -> str:
    line = " ".join(quote.split())
    if len(line) > MOST_CHARACTERS:
        line = line[:MOST_CHARACTERS].rsplit(" ", 1)[0].rstrip(" ,;:") + " …"
    return line
