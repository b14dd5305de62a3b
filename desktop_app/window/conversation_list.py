"""The conversations at the left: opening, a new one, renaming in place, forking, deleting."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QObject, QPoint, QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QFontMetrics, QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from desktop_app.records import ConversationEntry
from desktop_app.window.controls import IconButton, label
from desktop_app.window.document_model import Index
from desktop_app.window.theme import Theme, scaled, suited
from desktop_app.window.wording import ago, plural

ENTRY = Qt.ItemDataRole.UserRole + 1
UNTITLED = "New conversation"
NONE_YET = "Each conversation keeps what it has read, so going on costs only the new words."


class _Delegate(QStyledItemDelegate):
    """Title, and below it when it was used and how long it is."""

    def __init__(self, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme
        self.running = ""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:  # noqa: N802
        small = scaled(option.font, 0.9)
        height = QFontMetrics(option.font).height() + QFontMetrics(small).height()
        return QSize(120, height + 18)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        entry: ConversationEntry = index.data(ENTRY)
        colors = self._theme.colors
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        hovered = bool(option.state & QStyle.StateFlag.State_MouseOver)
        focused = bool(option.state & QStyle.StateFlag.State_HasFocus)
        box = option.rect.adjusted(8, 1, -8, -1)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(colors.accent), 1) if focused else Qt.PenStyle.NoPen)
        if selected:
            painter.setBrush(QColor(colors.pressed))
        else:
            painter.setBrush(QColor(colors.hover) if hovered else Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(box.adjusted(0, 0, -1, -1), 8, 8)
        inner = box.adjusted(10, 7, -10, -7)
        metrics = QFontMetrics(option.font)
        painter.setPen(QColor(colors.ink))
        flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop
        title = entry.title or UNTITLED
        painter.setFont(suited(option.font, title))
        painter.drawText(
            inner, flags, metrics.elidedText(title, Qt.TextElideMode.ElideRight, inner.width())
        )
        painter.setFont(scaled(option.font, 0.9))
        running = entry.id == self.running
        painter.setPen(QColor(colors.accent if running else colors.faint))
        when = "answering …" if running else ago(entry.updated)
        parts = [when, plural(entry.turns, "question")] if entry.turns else [when]
        below = QRect(inner.x(), inner.y() + metrics.height() + 1, inner.width(), inner.height())
        painter.drawText(below, flags, " · ".join(part for part in parts if part))
        painter.restore()

    def updateEditorGeometry(  # noqa: N802
        self, editor: QWidget, option: QStyleOptionViewItem, index: Index
    ) -> None:
        editor.setGeometry(option.rect.adjusted(10, 4, -10, -4))


class _List(QListWidget):
    delete_asked = Signal(object)
    open_asked = Signal(object)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        item = self.currentItem()
        if item is not None and event.key() == Qt.Key.Key_Delete:
            self.delete_asked.emit(item)
        elif item is not None and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.open_asked.emit(item)
        else:
            super().keyPressEvent(event)


class ConversationPanel(QWidget):
    """The heading and the list."""

    open_requested = Signal(str)
    new_requested = Signal()
    rename_requested = Signal(str, str)
    fork_requested = Signal(str)
    delete_requested = Signal(str, str)  # id, title

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.list = _List()
        self.list.setAccessibleName("Conversations")
        self._delegate = _Delegate(theme, self.list)
        self.list.setItemDelegate(self._delegate)
        self.list.setMouseTracking(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.list.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)
        self.list.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.list.customContextMenuRequested.connect(self._menu)
        self.list.itemClicked.connect(self._open)
        self.list.open_asked.connect(self._open)
        self.list.delete_asked.connect(self._delete)
        self.list.itemChanged.connect(self._renamed)
        self._pending: tuple[list[ConversationEntry], str] | None = None
        self._delegate.closeEditor.connect(self._editor_closed)
        self._hint = label(NONE_YET, role="faint", scale=0.94, wrap=True)
        self._hint.setContentsMargins(18, 2, 18, 8)
        head = QHBoxLayout()
        head.setContentsMargins(18, 6, 10, 2)
        head.addWidget(label("Conversations", role="section"))
        head.addStretch(1)
        head.addWidget(
            IconButton(
                theme, "chat-add", "New conversation", self.new_requested.emit, shortcut="Ctrl+N"
            )
        )
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 6)
        column.setSpacing(2)
        column.addLayout(head)
        column.addWidget(self._hint)
        column.addWidget(self.list, 1)
        column.addStretch(0)
        theme.changed.connect(self.list.viewport().update)
        self.set_entries((), "")

    def set_entries(self, entries: Iterable[ConversationEntry], current: str) -> None:
        """Shows these conversations with `current` selected; a name being typed is left alone."""
        entries = list(entries)
        if self.list.state() == QAbstractItemView.State.EditingState:
            self._pending = (entries, current)
            return
        self.list.blockSignals(True)
        self.list.clear()
        for entry in entries:
            item = QListWidgetItem(entry.title or UNTITLED)
            item.setData(ENTRY, entry)
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsEditable)
            item.setToolTip(entry.title or UNTITLED)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, entry.title or UNTITLED)
            self.list.addItem(item)
        self.list.blockSignals(False)
        self.set_current(current)
        self._hint.setVisible(not entries)
        self.list.setVisible(bool(entries))

    def _editor_closed(self) -> None:
        if self._pending is not None:
            entries, current = self._pending
            self._pending = None
            QTimer.singleShot(0, self, lambda: self.set_entries(entries, current))

    def set_current(self, conversation: str) -> None:
        """Selects a conversation; "" selects none."""
        self.list.blockSignals(True)
        self.list.setCurrentItem(self._item(conversation))  # type: ignore[arg-type]
        self.list.blockSignals(False)
        if not conversation:
            self.list.clearSelection()

    def set_running(self, conversation: str) -> None:
        """Says which conversation is being answered; "" for none."""
        self._delegate.running = conversation
        self.list.viewport().update()

    def rename(self, conversation: str) -> None:
        """Opens the editor of a conversation's name."""
        item = self._item(conversation)
        if item is not None:
            self.list.editItem(item)

    def _item(self, conversation: str) -> QListWidgetItem | None:
        for row in range(self.list.count()):
            if self.list.item(row).data(ENTRY).id == conversation:
                return self.list.item(row)
        return None

    def _open(self, item: QListWidgetItem) -> None:
        self.open_requested.emit(item.data(ENTRY).id)

    def _delete(self, item: QListWidgetItem) -> None:
        entry = item.data(ENTRY)
        self.delete_requested.emit(entry.id, entry.title or UNTITLED)

    def _renamed(self, item: QListWidgetItem) -> None:
        entry = item.data(ENTRY)
        title = " ".join(item.text().split())
        if title and title != (entry.title or UNTITLED):
            self.rename_requested.emit(entry.id, title)

    def _menu(self, place: QPoint) -> None:
        item = self.list.itemAt(place)
        if item is None:
            return
        entry = item.data(ENTRY)
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction("Open", lambda: self.open_requested.emit(entry.id))
        menu.addAction("Rename", lambda: self.rename(entry.id))
        menu.addAction("Fork", lambda: self.fork_requested.emit(entry.id))
        menu.addSeparator()
        title = entry.title or UNTITLED
        menu.addAction("Delete…", lambda: self.delete_requested.emit(entry.id, title))
        menu.popup(self.list.viewport().mapToGlobal(place))
