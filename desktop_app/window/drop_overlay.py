"""What covers the window while files are dragged over it, and takes them when they are dropped."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QDragEnterEvent, QDropEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from desktop_app.window.theme import Theme, scaled


class DropOverlay(QWidget):
    """Watches a window for dragged files; `dropped` carries their paths."""

    dropped = Signal(list)

    def __init__(self, theme: Theme, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._theme = theme
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()
        window.setAcceptDrops(True)
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        kind = event.type()
        if kind == QEvent.Type.DragEnter and isinstance(event, QDragEnterEvent):
            if any(url.isLocalFile() for url in event.mimeData().urls()):
                event.acceptProposedAction()
                self.setGeometry(self._window.rect())
                self.raise_()
                self.show()
                return True
        elif kind == QEvent.Type.DragLeave:
            self.hide()
        elif kind == QEvent.Type.Drop and isinstance(event, QDropEvent):
            self.hide()
            paths = [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]
            if paths:
                event.acceptProposedAction()
                self.dropped.emit(paths)
                return True
        return super().eventFilter(watched, event)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        colors = self._theme.colors
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        wash = QColor(colors.tint)
        wash.setAlpha(235)
        painter.fillRect(self.rect(), wash)
        pen = QPen(QColor(colors.accent), 2, Qt.PenStyle.DashLine)
        painter.setPen(pen)
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(24, 24, -24, -24), 16, 16)
        painter.setFont(scaled(self.font(), 1.5))
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, "Drop to add to your documents")
