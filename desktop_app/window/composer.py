"""Where the question is typed. Enter sends, Shift+Enter begins a new line, Esc stops."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QResizeEvent, QTextCursor
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QPlainTextEdit,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from desktop_app.window.controls import IconButton, frame, label, restyle
from desktop_app.window.theme import Theme, scaled

PLACEHOLDER = "Ask about your documents"
MOST_LINES = 9
WIDE = 500  # pixels from which there is room to name the keys


class QuestionEdit(QPlainTextEdit):
    """A text field as tall as its text."""

    submitted = Signal()
    focus_changed = Signal(bool)

    def __init__(self) -> None:
        super().__init__()
        self.setPlaceholderText(PLACEHOLDER)
        self.setAccessibleName("Question")
        self.setTabChangesFocus(True)
        self.setFont(scaled(self.font(), 1.06))
        self.document().setDocumentMargin(2)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.document().documentLayout().documentSizeChanged.connect(lambda: self._fit())
        QTimer.singleShot(0, self, self._fit)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if enter and not event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.submitted.emit()
            return
        super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        super().focusInEvent(event)
        self.focus_changed.emit(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        super().focusOutEvent(event)
        self.focus_changed.emit(False)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit()

    def _fit(self) -> None:
        lines = max(1, min(round(self.document().size().height()), MOST_LINES))
        scrolls = self.document().size().height() > MOST_LINES
        policy = Qt.ScrollBarPolicy
        self.setVerticalScrollBarPolicy(
            policy.ScrollBarAsNeeded if scrolls else policy.ScrollBarAlwaysOff
        )
        self.setFixedHeight(lines * self.fontMetrics().lineSpacing() + 8)


class Composer(QWidget):
    """The field with its button, a line that says what is asked, and one for an edit."""

    asked = Signal(str)
    stop_requested = Signal()
    edit_cancelled = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._running = False
        self.editing: int | None = None
        self.edit = QuestionEdit()
        self.edit.submitted.connect(self._submit)
        self.edit.focus_changed.connect(self._focused)
        self.edit.textChanged.connect(self._update_button)
        self.send = IconButton(theme, "send", "Send", self._clicked, color="on_accent", size=18)
        self.send.setProperty("role", "send")
        self.send.setFixedSize(QSize(34, 34))
        self.scope = label(role="faint", scale=0.92)
        self._keys = label("Enter to send · Shift+Enter for a new line", role="faint", scale=0.92)
        self._note = label(role="soft", scale=0.94)
        self._note_row = QWidget()
        note = QHBoxLayout(self._note_row)
        note.setContentsMargins(14, 0, 6, 4)
        note.addWidget(self._note, 1)
        note.addWidget(IconButton(theme, "close", "Cancel the edit", self.cancel_edit, size=14))
        self._note_row.hide()
        self._box = frame("composer")
        self._lay_out(self._box)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._note_row)
        column.addWidget(self._box)
        self._update_button()

    def _lay_out(self, box: QFrame) -> None:
        column = QVBoxLayout(box)
        column.setContentsMargins(14, 11, 9, 9)
        column.setSpacing(6)
        column.addWidget(self.edit)
        row = QHBoxLayout()
        row.setSpacing(10)
        row.addWidget(self.scope)
        row.addStretch(1)
        row.addWidget(self._keys)
        row.addWidget(self.send)
        column.addLayout(row)
        box.installEventFilter(self)

    @property
    def running(self) -> bool:
        return self._running

    def set_running(self, running: bool) -> None:
        """Shows the stop button while an answer is written."""
        self._running = running
        self._update_button()

    def set_scope(self, text: str) -> None:
        """What a question will look into."""
        self.scope.setText(text)

    def begin_edit(self, turn: int, text: str, note: str) -> None:
        """Puts an asked question into the field; sending it replaces that turn."""
        self.editing = turn
        self._note.setText(note)
        self._note_row.show()
        self.edit.setPlainText(text)
        self.edit.moveCursor(QTextCursor.MoveOperation.End)
        self.edit.setFocus()

    def cancel_edit(self) -> None:
        """Leaves the asked question as it was."""
        if self.editing is not None:
            self.editing = None
            self._note_row.hide()
            self.edit.clear()
            self.edit_cancelled.emit()

    def take(self) -> int | None:
        """Empties the field; the turn that is replaced, or None."""
        turn, self.editing = self.editing, None
        self._note_row.hide()
        self.edit.clear()
        return turn

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._keys.setVisible(self.width() >= WIDE)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() == QEvent.Type.MouseButtonPress:
            self.edit.setFocus()
        return super().eventFilter(watched, event)

    def _submit(self) -> None:
        text = self.edit.toPlainText().strip()
        if text and not self._running:
            self.asked.emit(text)

    def _clicked(self) -> None:
        if self._running:
            self.stop_requested.emit()
        else:
            self._submit()

    def _update_button(self) -> None:
        text = bool(self.edit.toPlainText().strip())
        self.send.set_icon("stop" if self._running else "send")
        self.send.setEnabled(self._running or text)
        name = "Stop" if self._running else "Send"
        self.send.setAccessibleName(name)
        self.send.setToolTip(f"{name} ({'Esc' if self._running else 'Enter'})")

    def _focused(self, focused: bool) -> None:
        self._box.setProperty("focused", focused)
        restyle(self._box)
