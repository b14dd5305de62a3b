"""What is painted over a page: the cited passage, search hits, and the selection."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from desktop_app.window.page_layout import PageRect
from desktop_app.window.text_selection import TextSelection

Box = tuple[float, float, float, float]
HIT = QColor(255, 217, 90, 120)
CURRENT_HIT = QColor(255, 150, 50, 150)
SELECTION = QColor(90, 150, 255, 90)


class PageMarks:
    """Boxes by page index, in PDF points from the page's top left.

    Attributes:
        boxes: the highlighted passage.
        hits: search hits; each is one or more boxes. current_hit: (page, index on the page).
        color: the highlighter's. strength: 0 to 1, for the beat that catches the eye.
    """

    def __init__(self) -> None:
        self.boxes: dict[int, list[Box]] = {}
        self.hits: dict[int, list[list[Box]]] = {}
        self.current_hit: tuple[int, int] | None = None
        self.selection = TextSelection()
        self.color = QColor("#FFD95A")
        self.strength = 1.0

    def clear(self) -> None:
        """Takes everything away."""
        self.boxes = {}
        self.hits = {}
        self.current_hit = None
        self.selection.clear()

    def paint(self, painter: QPainter, index: int, place: PageRect) -> None:
        """Paints a page's edge and what stands on it; text stays readable below."""
        painter.setPen(QPen(QColor(0, 0, 0, 38), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(QRectF(place.rect).adjusted(-0.5, -0.5, 0.5, 0.5))
        painter.save()
        painter.setClipRect(place.rect)
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Multiply)
        painter.setPen(Qt.PenStyle.NoPen)
        for number, hit in enumerate(self.hits.get(index, ())):
            painter.setBrush(CURRENT_HIT if self.current_hit == (index, number) else HIT)
            for box in hit:
                painter.drawRect(place.to_view(box).adjusted(-1, -1, 1, 1))
        self._paint_passage(painter, self.boxes.get(index, ()), place)
        if index == self.selection.page:
            painter.setBrush(SELECTION)
            for line in self.selection.boxes():
                edges = (line.left(), line.top(), line.right(), line.bottom())
                painter.drawRect(place.to_view(edges))
        painter.restore()

    def _paint_passage(self, painter: QPainter, boxes: Sequence[Box], place: PageRect) -> None:
        color = QColor(self.color)
        color.setAlphaF(0.35 + 0.35 * self.strength)
        painter.setBrush(color)
        for box in boxes:
            painter.drawRoundedRect(place.to_view(box).adjusted(-3, -2, 3, 2), 2, 2)
