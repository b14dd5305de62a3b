"""What stands where a conversation will be: how to begin, and questions worth asking."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from desktop_app.window import icons
from desktop_app.window.controls import button, clear, label
from desktop_app.window.theme import Theme

SUGGESTIONS = (
    "What are the main terms?",
    "How is payment made?",
    "How is liability for breach determined?",
)
SUGGESTIONS_HAN = ("付款方式是什么？", "违约责任如何约定？", "合同的主要条款有哪些？")


class Welcome(QWidget):
    """The empty conversation, by what there is to ask about."""

    add_requested = Signal()
    sample_requested = Signal()
    suggested = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._inner = QVBoxLayout()
        self._inner.setSpacing(10)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 24, 24, 24)
        column.addStretch(3)
        column.addLayout(self._inner)
        column.addStretch(4)
        self._state: tuple[int, bool, str, str] | None = None
        self.show_state(documents=0, loaded=False)

    def show_state(
        self, *, documents: int, loaded: bool, first: str = "", reading: str = ""
    ) -> None:
        """`documents` are in the library, if it is `loaded`; `first` names one of them.

        `reading` names a file that is being read.
        """
        state = (documents, loaded, first, reading)
        if state == self._state:
            return
        self._state = state
        clear(self._inner)
        if not loaded:
            self._title("Opening your library …", "")
        elif not documents and reading:
            self._title(f"Reading {reading} …", "You can ask about it as soon as it is read.")
        elif not documents:
            self._begin()
        else:
            self._ask(documents, first)

    def _title(self, title: str, text: str) -> None:
        mark = label()
        mark.setPixmap(icons.pixmap("clausebook", "", 44))
        self._inner.addWidget(mark, 0, Qt.AlignmentFlag.AlignHCenter)
        self._inner.addSpacing(4)
        head = label(title, scale=1.55, weight=QFont.Weight.DemiBold, wrap=True)
        head.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._inner.addWidget(head)
        if text:
            body = label(text, role="soft", scale=1.04, wrap=True)
            body.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            self._inner.addWidget(body)

    def _begin(self) -> None:
        self._title(
            "Add a contract to begin",
            "Ask in your own words. Every answer shows the page it came from, "
            "and nothing leaves this machine.",
        )
        row = QHBoxLayout()
        row.setSpacing(10)
        row.addStretch(1)
        row.addWidget(button("Add documents…", self.add_requested.emit, role="primary"))
        row.addWidget(button("Open the sample", self.sample_requested.emit))
        row.addStretch(1)
        holder = QWidget()
        holder.setLayout(row)
        self._inner.addSpacing(8)
        self._inner.addWidget(holder)
        hint = label("or drop PDF files anywhere in this window", role="faint", wrap=True)
        hint.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._inner.addWidget(hint)

    def _ask(self, documents: int, first: str) -> None:
        about = f"'{first}'" if documents == 1 else f"{documents} documents"
        self._title(
            "What would you like to know?", f"Ask about {about}, or begin with one of these."
        )
        self._inner.addSpacing(8)
        han = documents == 1 and any("\u4e00" <= c <= "\u9fff" for c in first)
        for text in SUGGESTIONS_HAN if han else SUGGESTIONS:
            suggestion = button(text, role="suggestion")
            suggestion.setMinimumWidth(360)
            suggestion.clicked.connect(lambda _=False, text=text: self.suggested.emit(text))
            self._inner.addWidget(suggestion, 0, Qt.AlignmentFlag.AlignHCenter)
