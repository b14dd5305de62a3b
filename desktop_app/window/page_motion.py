"""The two movements of the page view: gliding to a place near by, and a beat of the highlighter."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QVariantAnimation
from PySide6.QtWidgets import QAbstractScrollArea

GLIDE_MS = 240
BEAT_MS = 900


class Glide(QObject):
    """Scrolls a view; over a short way it glides, over a long one it jumps."""

    def __init__(self, view: QAbstractScrollArea) -> None:
        super().__init__(view)
        self._view = view
        self._animation = QVariantAnimation(self)
        self._animation.setDuration(GLIDE_MS)
        self._animation.valueChanged.connect(self._moved)

    def to(self, y: int) -> None:
        """Scrolls to a height, as far as there is one."""
        bar = self._view.verticalScrollBar()
        self._animation.stop()
        y = min(max(y, bar.minimum()), bar.maximum())
        near = abs(y - bar.value()) <= self._view.viewport().height() * 1.5
        if near and self._view.isVisible():
            self._animation.setStartValue(bar.value())
            self._animation.setEndValue(y)
            self._animation.start()
        else:
            bar.setValue(y)

    def stop(self) -> None:
        """Stays where it is: the user scrolls."""
        self._animation.stop()

    def _moved(self, y: int) -> None:
        self._view.verticalScrollBar().setValue(int(y))


class Beat(QObject):
    """Two soft beats that end at full strength, so that the eye finds a passage."""

    def __init__(self, parent: QObject, show: Callable[[float], None]) -> None:
        super().__init__(parent)
        self._show = show
        self._animation = QVariantAnimation(self)
        self._animation.setDuration(BEAT_MS)
        self._animation.setStartValue(0.0)
        self._animation.setEndValue(1.0)
        self._animation.valueChanged.connect(self._moved)

    def start(self) -> None:
        """Begins anew."""
        self._animation.stop()
        self._animation.start()

    def _moved(self, value: float) -> None:
        self._show(1.0 - abs(1.0 - (value * 2.0) % 1.0 * 2.0) * (1.0 - value))
