"""Small building blocks: buttons with themed icons, labels by role, wrapping rows.

Icons are drawn again when the theme changes. Nothing here knows the application's data.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QFont
from PySide6.QtWidgets import (
    QFrame,
    QLabel,
    QLayout,
    QLayoutItem,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from desktop_app.window import icons
from desktop_app.window.theme import Theme, scaled


class IconButton(QToolButton):
    """A flat button with an icon of assets/icons, a tool tip and an accessible name."""

    def __init__(
        self,
        theme: Theme,
        name: str,
        label: str,
        on_click: Callable[[], object] | None = None,
        *,
        size: int = 18,
        color: str = "soft",
        text: bool = False,
        shortcut: str = "",
    ) -> None:
        super().__init__()
        self._theme, self._name, self._color = theme, name, color
        self.setIconSize(QSize(size, size))
        self.setAccessibleName(label)
        self.setToolTip(f"{label} ({shortcut})" if shortcut else label)
        if text:
            self.setText(label)
            self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setAutoRaise(True)
        if on_click is not None:
            self.clicked.connect(lambda: on_click())
        theme.changed.connect(self._draw)
        self._draw()

    def set_icon(self, name: str, color: str = "") -> None:
        """Another icon, in another colour of the theme if given."""
        self._name, self._color = name, color or self._color
        self._draw()

    def _draw(self) -> None:
        colors = self._theme.colors.named()
        size = self.iconSize().width()
        self.setIcon(icons.icon(self._name, colors[self._color], size, colors["faint"]))


class IconLabel(QLabel):
    """An icon that is only looked at."""

    def __init__(self, theme: Theme, name: str, color: str = "soft", size: int = 18) -> None:
        super().__init__()
        self._theme, self._name, self._color, self._size = theme, name, color, size
        theme.changed.connect(self._draw)
        self._draw()

    def set_icon(self, name: str, color: str) -> None:
        self._name, self._color = name, color
        self._draw()

    def _draw(self) -> None:
        color = self._theme.colors.named()[self._color]
        self.setPixmap(icons.pixmap(self._name, color, self._size))


def button(
    label: str, on_click: Callable[[], object] | None = None, *, role: str = ""
) -> QPushButton:
    """A push button; `role` is "primary", "danger", "ghost", "suggestion" or nothing."""
    result = QPushButton(label)
    if role:
        result.setProperty("role", role)
    if on_click is not None:
        result.clicked.connect(lambda: on_click())
    result.setCursor(Qt.CursorShape.PointingHandCursor)
    return result


def label(
    text: str = "",
    *,
    role: str = "",
    scale: float = 1.0,
    weight: QFont.Weight | None = None,
    wrap: bool = False,
) -> QLabel:
    """A label of plain text; `role` is "soft", "faint", "bad", "section", "strong" or nothing."""
    result = WrappingLabel(text) if wrap else QLabel(text)
    result.setTextFormat(Qt.TextFormat.PlainText)
    if role:
        result.setProperty("role", role)
    if scale != 1.0 or weight is not None:
        result.setFont(scaled(result.font(), scale, weight))
    return result


class WrappingLabel(QLabel):
    """Text in as many lines as its width needs; it never asks for the height of a narrower one."""

    def __init__(self, text: str = "") -> None:
        super().__init__(text)
        self.setWordWrap(True)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(40, self.fontMetrics().height())


def frame(role: str) -> QFrame:
    """A frame that the style sheet knows by `role`."""
    result = QFrame()
    result.setProperty("role", role)
    return result


def rule() -> QFrame:
    """A hairline."""
    return frame("rule")


def restyle(widget: QWidget) -> None:
    """Makes the style sheet look at a widget's properties again."""
    widget.style().unpolish(widget)
    widget.style().polish(widget)
    widget.update()


def clear(layout: QLayout) -> None:
    """Takes every widget out of a layout and deletes it."""
    while (item := layout.takeAt(0)) is not None:
        widget = item.widget()
        if widget is not None:
            widget.hide()
            widget.deleteLater()


class FlowLayout(QLayout):
    """Widgets one after the other, going on in the next row where the width ends."""

    def __init__(self, spacing: int = 6) -> None:
        super().__init__()
        self._items: list[QLayoutItem] = []
        self.setSpacing(spacing)
        self.setContentsMargins(0, 0, 0, 0)

    def addItem(self, item: QLayoutItem) -> None:  # noqa: N802
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:  # noqa: N802
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:  # noqa: N802
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:  # noqa: N802
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:  # noqa: N802
        return True

    def heightForWidth(self, width: int) -> int:  # noqa: N802
        return self._place(QRect(0, 0, width, 0), move=False)

    def setGeometry(self, rect: QRect) -> None:  # noqa: N802
        super().setGeometry(rect)
        self._place(rect, move=True)

    def sizeHint(self) -> QSize:  # noqa: N802
        return self.minimumSize()

    def minimumSize(self) -> QSize:  # noqa: N802
        size = QSize()
        for item in self._items:
            size = size.expandedTo(item.minimumSize())
        return size

    def _place(self, rect: QRect, *, move: bool) -> int:
        shown = [item for item in self._items if not item.isEmpty()]
        tallest = max((item.sizeHint().height() for item in shown), default=0)
        x, y, height = rect.x(), rect.y(), tallest
        for item in shown:
            hint = item.sizeHint()
            if x > rect.x() and x + hint.width() > rect.right() + 1:
                x, y = rect.x(), y + height + self.spacing()
            if move:
                width = min(hint.width(), rect.width())
                middle = y + (height - hint.height()) // 2
                item.setGeometry(QRect(QPoint(x, middle), QSize(width, hint.height())))
            x += hint.width() + self.spacing()
        return y + height - rect.y()


class ElidedLabel(QLabel):
    """One line of text that ends in "…" where it doesn't fit; its tool tip has all of it."""

    def __init__(self, text: str = "", *, role: str = "", middle: bool = False) -> None:
        super().__init__()
        self._whole = ""
        self._mode = Qt.TextElideMode.ElideMiddle if middle else Qt.TextElideMode.ElideRight
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(30)
        if role:
            self.setProperty("role", role)
        self.set_text(text)

    def whole(self) -> str:
        """The text, not shortened."""
        return self._whole

    def set_text(self, text: str) -> None:
        self._whole = text
        self.setToolTip(text)
        self.setAccessibleName(text)
        self._elide()

    def resizeEvent(self, event: object) -> None:  # noqa: N802
        super().resizeEvent(event)  # type: ignore[arg-type]
        self._elide()

    def _elide(self) -> None:
        self.setText(self.fontMetrics().elidedText(self._whole, self._mode, max(self.width(), 30)))
