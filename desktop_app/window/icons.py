"""The window's icons: SVG files in assets/icons, drawn in a theme's colour at any size."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from desktop_app.window.resources import resource


@lru_cache(maxsize=256)
def pixmap(name: str, color: str, size: int = 18, ratio: float = 2.0) -> QPixmap:
    """Icon `name` in `color`, `size` logical pixels wide.

    Raises:
        FileNotFoundError: there is no such icon.
    """
    source = _source(name).replace("currentColor", color)
    renderer = QSvgRenderer(QByteArray(source.encode()))
    result = QPixmap(QSize(round(size * ratio), round(size * ratio)))
    result.fill(Qt.GlobalColor.transparent)
    painter = QPainter(result)
    renderer.render(painter, QRectF(0, 0, size * ratio, size * ratio))
    painter.end()
    result.setDevicePixelRatio(ratio)
    return result


def icon(name: str, color: str, size: int, disabled: str = "") -> QIcon:
    """A QIcon of `name` for a control that shows it `size` logical pixels wide.

    `disabled` colours it where the control is disabled. It is sharp on screens of four times the
    usual density too.
    """
    result = QIcon()
    for drawn in (size, 2 * size):
        result.addPixmap(pixmap(name, color, drawn))
        if disabled:
            result.addPixmap(pixmap(name, disabled, drawn), QIcon.Mode.Disabled)
    return result


def application_icon() -> QIcon:
    """The application's own icon, in its own colours."""
    result = QIcon()
    for size in (16, 24, 32, 48, 64, 128, 256):
        result.addPixmap(pixmap("clausebook", "#0B5F59", size, 1.0))
    return result


@lru_cache(maxsize=128)
def _source(name: str) -> str:
    path: Path = resource("icons") / f"{name}.svg"
    return path.read_text(encoding="utf8")
