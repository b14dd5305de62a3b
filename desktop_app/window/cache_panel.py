"""A panel above the status line: what the conversations keep, and what the last answer cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from desktop_app.window.controls import button, clear, label, rule
from desktop_app.window.theme import Theme
from desktop_app.window.wording import number, restored, seconds, size

TIERS = {
    "none": "not read yet",
    "device": "ready",
    "memory": "in memory",
    "disk": "on disk",
}


class CachePanel(QFrame):
    """Pops up from the status line; `opened` asks for fresh figures."""

    opened = Signal()
    clear_requested = Signal(str)  # conversation, "" = all

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setProperty("role", "card")
        self.setFixedWidth(400)
        self.conversation = ""
        self._corner = QPoint()
        self._stats: Mapping[str, Any] = {}
        self._report: Mapping[str, Any] = {}
        self._rows = QGridLayout()
        self._rows.setVerticalSpacing(6)
        self._rows.setHorizontalSpacing(16)
        self._rows.setColumnStretch(1, 1)
        self._column = column = QVBoxLayout(self)
        column.setContentsMargins(20, 16, 20, 14)
        column.setSpacing(10)
        column.addWidget(label("Conversation cache", scale=1.1, weight=QFont.Weight.DemiBold))
        about = (
            "What the model has read is kept, in memory and on disk, so that a follow-up "
            "question costs only its own words."
        )
        column.addWidget(label(about, role="soft", scale=0.94, wrap=True))
        column.addLayout(self._rows)
        column.addWidget(rule())
        row = QHBoxLayout()
        row.setSpacing(8)
        self._one = button("Clear this one", lambda: self._clear(self.conversation))
        self._one.setToolTip("Its texts stay; the next question reads them again")
        row.addWidget(self._one)
        row.addWidget(button("Clear all", lambda: self._clear("")))
        row.addStretch(1)
        column.addLayout(row)

    def show_stats(self, stats: Mapping[str, Any]) -> None:
        """The figures of the last answer."""
        self._stats = stats
        self._fill()

    def show_report(self, report: Mapping[str, Any]) -> None:
        """The engine's cache report."""
        self._report = report
        self._fill()

    def pop_up(self, anchor: QWidget) -> None:
        """Shows the panel above a widget, and asks for fresh figures."""
        self._one.setEnabled(bool(self.conversation))
        self._corner = anchor.mapToGlobal(QPoint(anchor.width(), -8))
        self._fill()
        self.show()
        self.opened.emit()

    def lines(self) -> list[tuple[str, str]]:
        """What the panel says, as (what, figure); a heading has no figure."""
        return [*report_lines(self._report, self.conversation), *stats_lines(self._stats)]

    def _clear(self, conversation: str) -> None:
        self.hide()
        self.clear_requested.emit(conversation)

    def _fill(self) -> None:
        clear(self._rows)
        for row, (what, figure) in enumerate(self.lines()):
            self._rows.addWidget(label(what, role="soft" if figure else "strong"), row, 0)
            value = label(figure, wrap=True)
            value.setAlignment(Qt.AlignmentFlag.AlignRight)
            self._rows.addWidget(value, row, 1)
        QTimer.singleShot(0, self, self._fit)  # once the new lines count

    def _fit(self) -> None:
        self._column.activate()
        height = self._column.totalHeightForWidth(self.width())
        self.setFixedHeight(height)
        self.move(self._corner.x() - self.width(), self._corner.y() - height)


def report_lines(report: Mapping[str, Any], conversation: str) -> list[tuple[str, str]]:
    """A cache report as lines; what it doesn't say is left out."""
    lines: list[tuple[str, str]] = []
    own = find_conversation(report, conversation)
    if own:
        lines.append(("This conversation", tier_text(own)))
        held, window = _number(own, "window_tokens"), _number(own, "window")
        if held is not None and window:
            lines.append(("Readable now", f"{number(held)} of {number(window)} tokens"))
        dropped = (_number(own, "tokens") or 0) - (held or 0)
        if dropped > 0:
            lines.append(("Trimmed so far", f"{number(dropped)} tokens"))
    for what, used, budget in (
        ("On the device", "device_bytes", "device_budget"),
        ("In memory", "memory_bytes", "memory_budget"),
        ("On disk", "disk_bytes", "disk_budget"),
    ):
        count, limit = _number(report, used), _number(report, budget)
        if count is not None:
            of = f" of {size(limit)}" if limit else ""
            lines.append((what, f"{size(count)}{of}"))
    return lines


def stats_lines(stats: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The figures of an answer as lines."""
    if not stats:
        return []
    lines = [("Last answer", "")]
    for what, key in (
        ("Prompt", "prompt_tokens"),
        ("Taken from the cache", "reused_tokens"),
        ("Newly read", "prefilled_tokens"),
        ("Written", "generated_tokens"),
        ("Trimmed", "trimmed_tokens"),
    ):
        count = _number(stats, key)
        if count is not None:
            lines.append((what, f"{number(count)} tokens"))
    first, speed = _number(stats, "ttft_ms"), _number(stats, "tokens_per_second")
    if first is not None:
        lines.append(("First word after", seconds(first)))
    if speed:
        lines.append(("Speed", f"{speed:.0f} tokens/s"))
    where = restored(str(stats.get("restored_from", "")))
    if where:
        lines.append(("Cache came", where))
    return lines


def find_conversation(report: Mapping[str, Any], conversation: str) -> Mapping[str, Any]:
    """What a report says of one conversation; empty if nothing."""
    entries = report.get("conversations", ())
    if isinstance(entries, Mapping):
        found = entries.get(conversation, {})
        return found if isinstance(found, Mapping) else {}
    for entry in entries if isinstance(entries, (list, tuple)) else ():
        if isinstance(entry, Mapping) and entry.get("id") == conversation:
            return entry
    return {}


def tier_text(own: Mapping[str, Any]) -> str:
    """Where a conversation's cache is, and how big."""
    where = TIERS.get(str(own.get("tier", "")), str(own.get("tier", "")))
    count = _number(own, "disk_bytes" if own.get("tier") == "disk" else "cache_bytes")
    return f"{where} · {size(count)}" if count else where


def _number(values: Mapping[str, Any], key: str) -> float | None:
    value = values.get(key)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value)
