"""Where QPdfView puts its pages: the same arithmetic, so that an overlay can follow it.

Lengths are logical pixels; a page's size is in PDF points. `tests/desktop_app` compares it with
what QPdfView really draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QMargins, QPoint, QRect, QRectF, QSize, QSizeF


@dataclass(frozen=True, slots=True)
class PageRect:
    """A page in the view's scrolled coordinates, and the pixels one PDF point takes there."""

    rect: QRect
    scale: float

    def to_view(self, box: tuple[float, float, float, float]) -> QRectF:
        """A box in PDF points from the page's top left, in scrolled coordinates."""
        x0, y0, x1, y1 = box
        return QRectF(
            self.rect.x() + x0 * self.scale,
            self.rect.y() + y0 * self.scale,
            (x1 - x0) * self.scale,
            (y1 - y0) * self.scale,
        )


def lay_out(
    sizes: Sequence[QSizeF],
    viewport: QSize,
    *,
    margins: QMargins,
    spacing: int,
    resolution: float,
    zoom: float | None,
) -> list[PageRect]:
    """The pages of a multi-page view.

    Args:
        sizes: the pages' sizes in points.
        viewport: the view's visible size.
        resolution: pixels a point takes at zoom 1.
        zoom: the zoom factor, or None to fit the width.
    """
    boxes: list[tuple[QSize, float]] = []
    for points in sizes:
        if zoom is None:
            pixels = QSizeF(points * resolution).toSize()
            free = viewport.width() - margins.left() - margins.right()
            factor = free / max(pixels.width(), 1)
            boxes.append((pixels * factor, factor * resolution))
        else:
            boxes.append((QSizeF(points * resolution * zoom).toSize(), zoom * resolution))
    total = max((box.width() for box, _ in boxes), default=0) + margins.left() + margins.right()
    y = margins.top()
    pages = []
    for box, scale in boxes:
        x = (max(total, viewport.width()) - box.width()) // 2
        pages.append(PageRect(QRect(QPoint(x, y), box), scale))
        y += box.height() + spacing
    return pages


def page_at(pages: Sequence[PageRect], y: int) -> int:
    """Index of the page at height `y`, or the nearest one above; 0 if there is none."""
    low, high = 0, len(pages)
    while low < high:
        middle = (low + high) // 2
        if pages[middle].rect.top() <= y:
            low = middle + 1
        else:
            high = middle
    return max(low - 1, 0)
