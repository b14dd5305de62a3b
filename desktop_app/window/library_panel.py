"""The documents at the left: adding, their state, ticks that limit a question, removing.

It asks for things through signals and shows what a DocumentModel holds.
"""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPoint, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QListView,
    QMenu,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from desktop_app.window.controls import IconButton, label
from desktop_app.window.document_delegate import DocumentDelegate
from desktop_app.window.document_model import ROW, DocumentModel, Row
from desktop_app.window.theme import Theme


class DocumentList(QListView):
    """The rows; Space ticks, Delete removes, Enter opens."""

    remove_asked = Signal(object)
    open_asked = Signal(object)

    def __init__(self, theme: Theme, model: DocumentModel) -> None:
        super().__init__()
        self.setModel(model)
        self.delegate = DocumentDelegate(theme, self)
        self.setItemDelegate(self.delegate)
        self.setMouseTracking(True)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setAccessibleName("Documents")
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._menu)
        self.delegate.removed.connect(self.remove_asked)
        self.delegate.opened.connect(self.open_asked)
        theme.changed.connect(self.viewport().update)
        self._kept = ""
        model.modelAboutToBeReset.connect(self._keep_place)
        model.modelReset.connect(self._find_place)

    def _keep_place(self) -> None:
        row = self._row(self.currentIndex())
        self._kept = row.key if row is not None else ""

    def _find_place(self) -> None:
        model = self.model()
        for number in range(model.rowCount() if self._kept else 0):
            row = self._row(model.index(number, 0))
            if row is not None and row.key == self._kept:
                self.setCurrentIndex(model.index(number, 0))

    def set_current(self, name: str) -> None:
        """Marks the document that is shown at the right."""
        self.delegate.current = name
        self.viewport().update()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self.scheduleDelayedItemsLayout()  # error lines wrap anew

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        row = self._row(self.currentIndex())
        model = self.model()
        key = event.key()
        if row is None or not isinstance(model, DocumentModel):
            super().keyPressEvent(event)
        elif key == Qt.Key.Key_Space and row.in_library:
            model.set_ticked(row.key, not row.ticked)
        elif key in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.remove_asked.emit(row)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.open_asked.emit(row)
        else:
            super().keyPressEvent(event)

    def _row(self, index: QModelIndex) -> Row | None:
        row = index.data(ROW) if index.isValid() else None
        return row if isinstance(row, Row) else None

    def _menu(self, place: QPoint) -> None:
        row = self._row(self.indexAt(place))
        model = self.model()
        if row is None or not isinstance(model, DocumentModel):
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if row.in_library:
            menu.addAction("Open", lambda: self.open_asked.emit(row))
            menu.addAction("Ask only this document", lambda: model.tick_only([row.key]))
            menu.addAction("Ask all documents", lambda: model.tick_only(model.document_names()))
            menu.addSeparator()
            menu.addAction("Remove…", lambda: self.remove_asked.emit(row))
        else:
            menu.addAction("Take out of the list", lambda: self.remove_asked.emit(row))
        menu.popup(self.viewport().mapToGlobal(place))


class LibraryPanel(QWidget):
    """The documents' heading, list and empty state."""

    add_requested = Signal()
    open_requested = Signal(str)
    remove_requested = Signal(str)
    stop_requested = Signal(int)
    password_requested = Signal(str)  # path

    def __init__(self, theme: Theme, model: DocumentModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = model
        self._theme = theme
        self.list = DocumentList(theme, model)
        self.list.open_asked.connect(self._opened)
        self.list.remove_asked.connect(self._removed)
        self._scope = label(role="faint", scale=0.92)
        self.add = IconButton(
            theme, "document-add", "Add documents", self.add_requested.emit, shortcut="Ctrl+O"
        )
        head = QHBoxLayout()
        head.setContentsMargins(18, 8, 10, 2)
        head.setSpacing(8)
        head.addWidget(label("Documents", role="section"))
        head.addWidget(self._scope)
        head.addStretch(1)
        head.addWidget(self.add)
        self._empty = self._empty_state()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 6)
        column.setSpacing(2)
        column.addLayout(head)
        column.addWidget(self._empty)
        column.addWidget(self.list, 1)
        model.modelReset.connect(self._refresh)
        model.ticks_changed.connect(self._refresh)
        self._refresh()

    def _empty_state(self) -> QWidget:
        box = QWidget()
        column = QVBoxLayout(box)
        column.setContentsMargins(18, 6, 18, 10)
        column.setSpacing(10)
        text = "Contracts you add stand here, each with its pages. Tick the ones to ask."
        column.addWidget(label(text, role="soft", wrap=True))
        column.addStretch(1)
        box.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
        return box

    def _refresh(self) -> None:
        empty = self.model.rowCount() == 0
        self._empty.setVisible(empty and self.model.loaded)
        self.list.setVisible(not empty)
        total, asked = len(self.model.document_names()), len(self.model.scope())
        self._scope.setText("" if not total or asked == total else f"{asked} of {total} asked")

    def _opened(self, row: Row) -> None:
        if row.in_library:
            self.open_requested.emit(row.key)
        elif row.status == "locked":
            self.password_requested.emit(row.path)

    def _removed(self, row: Row) -> None:
        if row.in_library:
            self.remove_requested.emit(row.key)
        elif row.job:
            self.stop_requested.emit(row.job)
        else:
            self.model.dismiss(row.key)

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(270, 360)
