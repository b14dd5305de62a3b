"""The passages found for a question, as page chips, and how far the model has read them."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QToolButton, QVBoxLayout, QWidget

from desktop_app.window.controls import FlowLayout, clear, label
from desktop_app.window.theme import scaled
from desktop_app.window.wording import number, plural
from rag.types import Hit

MOST_CHIPS = 8


class EvidenceStrip(QWidget):
    """A line "Found on p. 12, p. 47 …", and a thin bar below it while the model reads."""

    opened = Signal(object)  # the Hit of a chip that was clicked

    def __init__(self) -> None:
        super().__init__()
        self._hits: tuple[Hit, ...] = ()
        self._row = QWidget()
        self._flow = FlowLayout(6)
        self._row.setLayout(self._flow)
        self._reading = label(role="faint", scale=0.92)
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setFixedWidth(150)
        self._bar.setAccessibleName("Reading progress")
        self._progress = QWidget()
        line = QHBoxLayout(self._progress)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(10)
        line.addWidget(self._bar, 0, Qt.AlignmentFlag.AlignVCenter)
        line.addWidget(self._reading, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self._row)
        column.addWidget(self._progress)
        self._progress.hide()

    @property
    def hits(self) -> tuple[Hit, ...]:
        return self._hits

    def wait(self, text: str) -> None:
        """Says what is being done before any passage was found."""
        self._bar.setRange(0, 0)
        self._reading.setText(text)
        self._progress.show()

    def show_hits(self, hits: tuple[Hit, ...], several_documents: bool) -> None:
        """Shows a chip for each page a passage begins on."""
        self._hits = hits
        self._reading.setText("Reading the passages …")
        clear(self._flow)
        if not hits:
            return
        names = {hit.chunk.document for hit in hits}
        one = several_documents and len(names) == 1
        where = f"Found in {_short(hits[0].chunk.document)} on" if one else "Found on"
        self._flow.addWidget(label(where, role="soft"))
        seen: set[tuple[str, int]] = set()
        for hit in hits:
            place = (hit.chunk.document, hit.chunk.page)
            if place in seen or len(seen) >= MOST_CHIPS:
                continue
            seen.add(place)
            self._flow.addWidget(self._chip(hit, named=len(names) > 1))
        self._row.updateGeometry()

    def show_reading(self, done: int, total: int, unit: str) -> None:
        """Shows how much of the passages the model has read."""
        self._bar.setRange(0, max(total, 1))
        self._bar.setValue(done)
        if unit == "pages":
            text = f"Read {done} of {plural(total, 'page')}"
        else:
            text = f"Reading {number(done)} of {plural(total, 'new token')}"
        self._reading.setText(text)
        self._progress.setVisible(True)

    def writing(self) -> None:
        """The model writes: reading is over."""
        self._progress.hide()

    def _chip(self, hit: Hit, *, named: bool) -> QToolButton:
        chip = QToolButton()
        chip.setProperty("role", "chip")
        page = f"p. {hit.chunk.page}"
        name = hit.chunk.document
        chip.setText(f"{_short(name)} {page}" if named else page)
        chip.setAccessibleName(f"Passage found in {name} on page {hit.chunk.page}")
        head = f"{hit.chunk.section}\n\n" if hit.chunk.section else ""
        chip.setToolTip(f"{name}, page {hit.chunk.page}\n{head}{_preview(hit.chunk.text)}")
        chip.setFont(scaled(chip.font(), 0.92))
        chip.setCursor(Qt.CursorShape.PointingHandCursor)
        chip.clicked.connect(lambda: self.opened.emit(hit))
        return chip


def _short(name: str) -> str:
    return name if len(name) <= 26 else name[:24].rstrip() + "…"


def _preview(text: str, limit: int = 320) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else line[:limit].rstrip() + "…"
