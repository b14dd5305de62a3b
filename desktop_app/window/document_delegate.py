"""How a document's row is drawn: tick box, name, a line below it, progress, and a button."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetrics, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from desktop_app.window import icons
from desktop_app.window.document_model import ROW, DocumentModel, Index, Row
from desktop_app.window.theme import Theme, scaled, suited

_MARGIN = 8
_LEFT = 38
_RIGHT = 36
_MOST_LINES = 4
_STATUS = {
    "failed": ("warning", "bad"),
    "locked": ("lock", "soft"),
    "waiting": ("document", "faint"),
    "reading": ("document", "accent"),
}


class DocumentDelegate(QStyledItemDelegate):
    """Draws rows of a DocumentModel and notices clicks on their parts."""

    removed = Signal(object)  # the Row whose button was clicked
    opened = Signal(object)

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.current = ""  # the document that is shown at the right

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:  # noqa: N802
        row: Row = index.data(ROW)
        width = option.rect.width() or 240
        small = self._small(option.font)
        height = 9 + QFontMetrics(option.font).height() + 2 + 9
        if row.status in ("failed", "locked"):
            height += self._wrapped(small, row.detail, width)
        else:
            height += QFontMetrics(small).height()
        if row.status == "reading":
            height += 8
        return QSize(width, height)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row: Row = index.data(ROW)
        colors = self._theme.colors
        box = option.rect.adjusted(_MARGIN, 1, -_MARGIN, -1)
        hovered = bool(option.state & QStyle.StateFlag.State_MouseOver)
        focused = bool(option.state & QStyle.StateFlag.State_HasFocus)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(colors.accent), 1) if focused else Qt.PenStyle.NoPen)
        if row.key == self.current:
            painter.setBrush(QColor(colors.pressed))
        else:
            painter.setBrush(QColor(colors.hover) if hovered else Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(box.adjusted(0, 0, -1, -1), 8, 8)
        self._paint_left(painter, row, box)
        self._paint_words(painter, row, box, option.font)
        if hovered or focused or row.status in ("failed", "locked"):
            name = "close" if not row.in_library else "trash"
            painter.drawPixmap(
                button_rect(option.rect).topLeft(), icons.pixmap(name, colors.faint, 16)
            )
        painter.restore()

    def editorEvent(  # noqa: N802
        self,
        event: QEvent,
        model: DocumentModel,  # type: ignore[override]
        option: QStyleOptionViewItem,
        index: Index,
    ) -> bool:
        if event.type() != QEvent.Type.MouseButtonRelease or not isinstance(event, QMouseEvent):
            return False
        if event.button() != Qt.MouseButton.LeftButton:
            return False
        row: Row = index.data(ROW)
        place = event.position().toPoint()
        if button_rect(option.rect).adjusted(-6, -6, 6, 6).contains(place):
            self.removed.emit(row)
        elif row.in_library and place.x() < option.rect.x() + _LEFT:
            model.set_ticked(row.key, not row.ticked)
        else:
            self.opened.emit(row)
        return True

    # the parts

    def _paint_left(self, painter: QPainter, row: Row, box: QRect) -> None:
        colors = self._theme.colors
        if not row.in_library:
            name, color = _STATUS[row.status]
            pixmap = icons.pixmap(name, colors.named()[color], 18)
            painter.drawPixmap(box.x() + 7, box.y() + 9, pixmap)
            return
        square = QRect(box.x() + 8, box.y() + 10, 16, 16)
        painter.setPen(QPen(QColor(colors.accent if row.ticked else colors.faint), 1.4))
        painter.setBrush(QColor(colors.accent) if row.ticked else Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(square, 4, 4)
        if row.ticked:
            painter.drawPixmap(
                square.adjusted(1, 1, 0, 0).topLeft(), icons.pixmap("check", colors.on_accent, 14)
            )

    def _paint_words(self, painter: QPainter, row: Row, box: QRect, font: QFont) -> None:
        colors = self._theme.colors
        left = box.x() + _LEFT - _MARGIN + 2
        width = box.right() - left - _RIGHT + _MARGIN
        metrics = QFontMetrics(font)
        painter.setFont(suited(font, row.name))
        painter.setPen(QColor(colors.ink if row.ticked or not row.in_library else colors.soft))
        name = metrics.elidedText(row.name, Qt.TextElideMode.ElideMiddle, width)
        top = box.y() + 8
        flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop
        painter.drawText(QRect(left, top, width, metrics.height()), flags, name)
        small = self._small(font)
        painter.setFont(small)
        below = QRect(left, top + metrics.height() + 2, width, box.bottom() - top)
        if row.status in ("failed", "locked"):
            painter.setPen(QColor(colors.bad if row.status == "failed" else colors.soft))
            below.setHeight(self._wrapped(small, row.detail, box.width() + 2 * _MARGIN))
            painter.drawText(below, flags | Qt.TextFlag.TextWordWrap, row.detail)
            return
        painter.setPen(QColor(colors.soft))
        detail = QFontMetrics(small).elidedText(row.detail, Qt.TextElideMode.ElideRight, width)
        painter.drawText(below, flags, detail)
        if row.status == "reading":
            self._paint_progress(painter, row, QRect(left, box.bottom() - 9, width, 3))

    def _paint_progress(self, painter: QPainter, row: Row, bar: QRect) -> None:
        colors = self._theme.colors
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colors.pressed))
        painter.drawRoundedRect(bar, 1.5, 1.5)
        if row.progress > 0:
            painter.setBrush(QColor(colors.accent))
            bar.setWidth(max(3, round(bar.width() * min(row.progress, 1.0))))
            painter.drawRoundedRect(bar, 1.5, 1.5)

    def _small(self, font: QFont) -> QFont:
        return scaled(font, 0.9)

    def _wrapped(self, font: QFont, text: str, width: int) -> int:
        metrics = QFontMetrics(font)
        free = width - _LEFT - _RIGHT - 2
        flags = Qt.TextFlag.TextWordWrap.value
        height = metrics.boundingRect(QRect(0, 0, free, 1000), flags, text).height()
        return min(height, metrics.lineSpacing() * _MOST_LINES)


def button_rect(row: QRect) -> QRect:
    """Where the remove button of a row is."""
    return QRect(row.right() - _MARGIN - 24, row.y() + 10, 16, 16)
