"""Selecting text on a PDF page with the mouse, for copying."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtPdf import QPdfDocument, QPdfSelection


class TextSelection:
    """A selection on one page. Points are in PDF points from the page's top left."""

    def __init__(self) -> None:
        self.page = -1
        self._anchor: QPointF | None = None
        self._selection: QPdfSelection | None = None

    @property
    def dragging(self) -> bool:
        return self._anchor is not None

    def begin(self, page: int, point: QPointF) -> None:
        """The mouse went down."""
        self.page, self._anchor, self._selection = page, point, None

    def drag(self, document: QPdfDocument, page: int, point: QPointF) -> bool:
        """The mouse moved; True if the selection may have changed."""
        if self._anchor is None or page != self.page:
            return False
        selection = document.getSelection(page, self._anchor, point)
        self._selection = selection if selection.isValid() else None
        return True

    def end(self) -> None:
        """The mouse went up."""
        self._anchor = None

    def clear(self) -> None:
        """Selects nothing."""
        self.page, self._anchor, self._selection = -1, None, None

    def text(self) -> str:
        """What is selected; empty if nothing is."""
        return self._selection.text() if self._selection is not None else ""

    def boxes(self) -> list[QRectF]:
        """Where the selected lines are."""
        if self._selection is None:
            return []
        return [polygon.boundingRect() for polygon in self._selection.bounds()]
