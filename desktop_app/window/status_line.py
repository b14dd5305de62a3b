"""The line at the bottom: what the last answer cost, and what is running on which model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QWidget

from desktop_app.window.controls import ElidedLabel, IconButton, label
from desktop_app.window.theme import Theme
from desktop_app.window.wording import number, restored, seconds


class ReuseBar(QWidget):
    """A small bar: how much of the prompt was in the cache."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._share = 0.0
        self.setFixedSize(QSize(64, 6))
        self.hide()

    def set_share(self, share: float) -> None:
        """`share` of the prompt, 0 to 1, was reused."""
        self._share = min(max(share, 0.0), 1.0)
        self.setToolTip(f"{self._share:.0%} of what the model sees was already in its cache")
        self.setAccessibleName(self.toolTip())
        self.show()
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        colors = self._theme.colors
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colors.marker))
        painter.drawRoundedRect(self.rect(), 3, 3)
        if self._share > 0:
            painter.setBrush(QColor(colors.accent))
            width = max(round(self.width() * self._share), 4)
            painter.drawRoundedRect(0, 0, width, self.height(), 3, 3)


class StatusLine(QFrame):
    """Figures at the left, model and cache at the right."""

    details_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "foot")
        self._bar = ReuseBar(theme)
        self.figures = ElidedLabel(role="soft")
        self.figures.setAccessibleDescription("Figures of the last answer")
        self.model = label(role="soft", scale=0.94)
        self.details = IconButton(
            theme, "memory", "Cache", self.details_requested.emit, size=15, text=True
        )
        self.details.setProperty("role", "small")
        self.details.setToolTip("What the conversations keep, and what the last answer cost")
        for widget in (self.figures, self.details):
            font = widget.font()
            font.setPointSizeF(font.pointSizeF() * 0.94)
            widget.setFont(font)
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 3, 10, 3)
        row.setSpacing(10)
        row.addWidget(self._bar)
        row.addWidget(self.figures, 1)
        row.addWidget(self.model)
        row.addWidget(self.details)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def say(self, text: str) -> None:
        """Shows a state in place of figures."""
        if text and text == self.figures.whole():
            return
        self._bar.hide()
        self.figures.set_text(text)

    def show_stats(self, stats: Mapping[str, Any]) -> None:
        """Shows an answer's figures; without any, nothing."""
        if not stats:
            self.say("")
            return
        prompt = float(stats.get("prompt_tokens", 0) or 0)
        reused = float(stats.get("reused_tokens", 0) or 0)
        self.figures.set_text(figures(stats))
        if prompt > 0:
            self._bar.set_share(reused / prompt)
        name, backend = str(stats.get("model", "")), str(stats.get("backend", ""))
        if name:
            self.set_model(name, backend)

    def set_model(self, name: str, backend: str) -> None:
        """Which model answers, and on what."""
        self.model.setText(" · ".join(part for part in (short_name(name), backend) if part))
        self.model.setToolTip(name)

    def set_cache(self, text: str) -> None:
        """Where the conversation's cache is, on the button."""
        self.details.setText(text or "Cache")


def figures(stats: Mapping[str, Any]) -> str:
    """The figures of an answer in one line."""

    def value(key: str) -> float:
        found = stats.get(key, 0)
        return float(found) if isinstance(found, (int, float)) else 0.0

    parts = [
        f"{number(value('reused_tokens'))} tokens reused",
        f"{number(value('prefilled_tokens'))} read",
        f"first word after {seconds(value('ttft_ms'))}",
    ]
    if value("tokens_per_second"):
        parts.append(f"{value('tokens_per_second'):.0f} tokens/s")
    if value("trimmed_tokens"):
        parts.append(f"{number(value('trimmed_tokens'))} trimmed")
    where = restored(str(stats.get("restored_from", "")))
    if where:
        parts.append(where)
    return "  ·  ".join(parts)


def short_name(model: str) -> str:
    """A model's name without its folder and file ending."""
    name = model.replace("\\", "/").rsplit("/", 1)[-1]
    return name.removesuffix(".gguf")
