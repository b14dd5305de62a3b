"""Small dialogs that don't stop the program: a question with two answers, a password, a text."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontDatabase, QGuiApplication, QShowEvent
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QVBoxLayout,
    QWidget,
)

from desktop_app.window.controls import button, label


class Dialog(QDialog):
    """A titled box with room for content and a row of buttons. Shown with `open`, never `exec`."""

    def __init__(self, parent: QWidget, title: str, text: str = "", width: int = 420) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(title)
        self.setMinimumWidth(width)
        column = QVBoxLayout(self)
        self._column = column
        column.setContentsMargins(26, 22, 26, 20)
        column.setSpacing(12)
        column.addWidget(label(title, scale=1.18, weight=QFont.Weight.DemiBold, wrap=True))
        if text:
            column.addWidget(label(text, role="soft", wrap=True))
        self.content = QVBoxLayout()
        self.content.setSpacing(10)
        column.addLayout(self.content)
        column.addSpacing(6)
        self.buttons = QHBoxLayout()
        self.buttons.setSpacing(8)
        self.buttons.addStretch(1)
        column.addLayout(self.buttons)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        # Wrapped lines count at the width they will have.
        super().showEvent(event)
        self._column.activate()
        width = max(self.width(), self.minimumWidth())
        needed = self._column.totalHeightForWidth(width)
        self.resize(width, max(needed, self.sizeHint().height()))

    def add_button(self, text: str, on_click: Callable[[], object], role: str = "") -> None:
        """Adds a button at the right end of the row."""
        self.buttons.addWidget(button(text, on_click, role=role))


def confirm(
    parent: QWidget, title: str, text: str, action: str, do: Callable[[], object]
) -> Dialog:
    """Asks before something is removed; `do` is called if the user says so."""
    dialog = Dialog(parent, title, text)

    def agreed() -> None:
        dialog.accept()
        do()

    dialog.add_button("Cancel", dialog.reject)
    dialog.add_button(action, agreed, "danger")
    dialog.open()
    return dialog


def ask_password(parent: QWidget, name: str, do: Callable[[str], object]) -> Dialog:
    """Asks for a document's password."""
    text = "The password is used to read the file now; it is not kept."
    dialog = Dialog(parent, f"'{name}' is locked", text)
    field = QLineEdit()
    field.setEchoMode(QLineEdit.EchoMode.Password)
    field.setAccessibleName("Password")
    field.setPlaceholderText("Password")

    def given() -> None:
        if field.text():
            password = field.text()
            dialog.accept()
            do(password)

    field.returnPressed.connect(given)
    dialog.content.addWidget(field)
    dialog.add_button("Cancel", dialog.reject)
    dialog.add_button("Unlock", given, "primary")
    dialog.open()
    field.setFocus()
    return dialog


def show_text(parent: QWidget, title: str, text: str, body: str, *, fixed: bool = False) -> Dialog:
    """Shows a long text that can be copied, in letters of one width if `fixed`."""
    dialog = Dialog(parent, title, text, width=640)
    field = QPlainTextEdit(body)
    field.setReadOnly(True)
    field.setMinimumHeight(360)
    if fixed:
        field.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
    field.setAccessibleName(title)
    dialog.content.addWidget(field)
    dialog.add_button("Copy", lambda: QGuiApplication.clipboard().setText(body))
    dialog.add_button("Close", dialog.accept, "primary")
    dialog.open()
    return dialog
