"""A line at the top of the conversation: what went wrong and what to do, or news of the worker."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from desktop_app.window.controls import IconButton, IconLabel, button, frame, label
from desktop_app.window.theme import Theme

MOST_LINES = 3
INFO_MS = 12_000


class Banners(QWidget):
    """A few lines, the newest first. Errors stay until they are closed; news goes by itself."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._lines: list[tuple[str, QWidget]] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(8)
        self.hide()

    def texts(self) -> list[str]:
        """What is shown, the newest first."""
        return [text for text, _ in self._lines]

    def error(
        self, message: str, hint: str = "", action: str = "", do: Callable[[], object] | None = None
    ) -> None:
        """What went wrong and what to do, with a button that does it if there is one."""
        self._add("error", f"{message} {hint}".strip(), action, do)

    def info(self, text: str, *, stays: bool = False) -> None:
        """News; unless it `stays`, it goes by itself."""
        line = self._add("info", text)
        if stays:
            return
        QTimer.singleShot(INFO_MS, line, lambda: self._close(line))

    def close_all(self) -> None:
        """Takes every line away."""
        for _, line in list(self._lines):
            self._close(line)

    def _add(
        self, kind: str, text: str, action: str = "", do: Callable[[], object] | None = None
    ) -> QWidget:
        for shown, line in self._lines:
            if shown == text:
                return line
        line = self._line(kind, text, action, do)
        self._lines.insert(0, (text, line))
        self._column.insertWidget(0, line)
        for _, old in self._lines[MOST_LINES:]:
            self._close(old)
        self.show()
        return line

    def _line(self, kind: str, text: str, action: str, do: Callable[[], object] | None) -> QWidget:
        line = frame("banner")
        line.setProperty("kind", kind)
        line.setAccessibleName(text)
        row = QHBoxLayout(line)
        row.setContentsMargins(14, 10, 8, 10)
        row.setSpacing(10)
        icon, color = ("warning", "bad") if kind == "error" else ("info", "accent")
        row.addWidget(IconLabel(self._theme, icon, color, 18))
        words = label(text, wrap=True)
        words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        row.addWidget(words, 1)
        if do is not None:
            acts = button(action, do)
            acts.clicked.connect(lambda: self._close(line))
            row.addWidget(acts)
        row.addWidget(IconButton(self._theme, "close", "Close", lambda: self._close(line), size=14))
        return line

    def _close(self, line: QWidget) -> None:
        self._lines = [(text, shown) for text, shown in self._lines if shown is not line]
        self._column.removeWidget(line)
        line.hide()
        line.deleteLater()
        self.setVisible(bool(self._lines))
