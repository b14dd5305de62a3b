"""The window itself: its panels side by side, and what it remembers of them.

What the panels' signals lead to is in `controller`.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QCloseEvent, QFont
from PySide6.QtWidgets import QHBoxLayout, QMainWindow, QSplitter, QVBoxLayout, QWidget

from desktop_app.window import icons
from desktop_app.window.cache_panel import CachePanel
from desktop_app.window.chat_panel import ChatPanel
from desktop_app.window.controls import IconButton, label
from desktop_app.window.conversation_list import ConversationPanel
from desktop_app.window.document_model import DocumentModel
from desktop_app.window.drop_overlay import DropOverlay
from desktop_app.window.library_panel import LibraryPanel
from desktop_app.window.pdf_panel import PdfPanel
from desktop_app.window.status_line import StatusLine
from desktop_app.window.theme import Theme
from desktop_app.window.window_state import WindowState


class MainWindow(QMainWindow):
    """Conversations and documents, the conversation in the middle, the PDF at the right."""

    settings_requested = Signal()
    closing = Signal()

    def __init__(self, theme: Theme, model: DocumentModel, state: WindowState) -> None:
        super().__init__()
        self.theme = theme
        self.state = state
        self.library = LibraryPanel(theme, model)
        self.conversations = ConversationPanel(theme)
        self.chat = ChatPanel(theme)
        self.pdf = PdfPanel(theme)
        self.status = StatusLine(theme)
        self.cache = CachePanel(theme, self)
        self.setWindowTitle("Clausebook")
        self.setWindowIcon(icons.application_icon())
        self._lay_out()
        self.drop = DropOverlay(theme, self)
        self._restore()

    def _lay_out(self) -> None:
        self.side = QWidget()
        self.side.setProperty("role", "side")
        self.side.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.side.setMinimumWidth(190)
        self.lists = QSplitter(Qt.Orientation.Vertical)
        self.lists.addWidget(self.conversations)
        self.lists.addWidget(self.library)
        self.lists.setChildrenCollapsible(False)
        self.lists.setSizes([340, 420])
        column = QVBoxLayout(self.side)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._brand())
        column.addWidget(self.lists, 1)
        self.panes = QSplitter(Qt.Orientation.Horizontal)
        for index, (pane, stretch) in enumerate(((self.side, 0), (self.chat, 3), (self.pdf, 2))):
            self.panes.addWidget(pane)
            self.panes.setStretchFactor(index, stretch)
            self.panes.setCollapsible(index, False)
        self.panes.setSizes([272, 630, 538])
        middle = QWidget()
        rows = QVBoxLayout(middle)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setSpacing(0)
        rows.addWidget(self.panes, 1)
        rows.addWidget(self.status)
        self.setCentralWidget(middle)
        self.resize(1440, 900)
        self.setMinimumSize(720, 480)

    def _brand(self) -> QWidget:
        holder = QWidget()
        row = QHBoxLayout(holder)
        row.setContentsMargins(16, 12, 10, 8)
        row.setSpacing(9)
        mark = label()
        mark.setPixmap(icons.pixmap("clausebook", "", 24))
        row.addWidget(mark)
        row.addWidget(label("Clausebook", scale=1.14, weight=QFont.Weight.DemiBold))
        row.addStretch(1)
        settings = self.settings_requested.emit
        row.addWidget(IconButton(self.theme, "settings", "Settings", settings, shortcut="Ctrl+,"))
        return holder

    def toggle_side(self) -> None:
        """Shows or hides the side bar."""
        self.side.setVisible(self.side.isHidden())

    def toggle_document(self) -> None:
        """Shows or hides the document."""
        self.pdf.setVisible(self.pdf.isHidden())

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802
        self._remember()
        self.hide()
        self.closing.emit()
        super().closeEvent(event)

    def _restore(self) -> None:
        geometry = self.state.geometry("window")
        if geometry is not None:
            self.restoreGeometry(geometry)
        for name, splitter in (("panes", self.panes), ("lists", self.lists)):
            saved = self.state.geometry(name)
            if saved is not None:
                splitter.restoreState(saved)
        self.side.setVisible(self.state.flag("side", default=True))
        self.pdf.setVisible(self.state.flag("pdf", default=True))

    def _remember(self) -> None:
        self.state.set_geometry("window", self.saveGeometry())
        self.state.set_geometry("panes", self.panes.saveState())
        self.state.set_geometry("lists", self.lists.saveState())
        self.state.set_flag("side", not self.side.isHidden())
        self.state.set_flag("pdf", not self.pdf.isHidden())
        self.state.save()
