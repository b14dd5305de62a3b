"""Where QPdfView puts its pages: the same arithmetic, so that an overlay can follow it.

Lengths are logical pixels; a page's size is in PDF points. `tests/desktop_app` compares it with
what QPdfView really draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QMargins, QPoint, QRect, QRectF, QSize, QSizeF
from PySide6.QtGui import QGuiApplication

ZOOM_STEPS = (0.25, 0.33, 0.5, 0.67, 0.8, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0)


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


def next_zoom(now: float, direction: int) -> float:
    """The zoom step after `now`, in (+1) or out (-1); the last one if there is none."""
    if direction > 0:
        return next((step for step in ZOOM_STEPS if step > now * 1.02), ZOOM_STEPS[-1])
    return next((step for step in reversed(ZOOM_STEPS) if step < now * 0.98), ZOOM_STEPS[0])


def resolution() -> float:
    """Pixels that one PDF point takes at zoom 1, as QPdfView reckons it."""
    screen = QGuiApplication.primaryScreen()
    return screen.logicalDotsPerInch() / 72.0 if screen else 96.0 / 72.0
