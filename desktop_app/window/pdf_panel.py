"""The document at the right: its pages, a bar above them, and the passage an answer cites.

It opens files and shows boxes it is given. Where a quotation stands is the worker's to find.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QIntValidator, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QStackedWidget, QVBoxLayout, QWidget

from desktop_app.records import PageEntry
from desktop_app.window.controls import ElidedLabel, IconButton, IconLabel, frame, label
from desktop_app.window.text_page_view import TextPageView
from desktop_app.window.theme import Theme

if TYPE_CHECKING:
    from desktop_app.window.page_marks import Box
    from desktop_app.window.pdf_pages import PdfPages

EMPTY = "Open a document, or click a citation: its page appears here with the passage marked."
WIDE = 620  # pixels from which there is room for the zoom's figure
READ_AS = {"ocr": "recognised", "empty": "no text", "garbled": "unreadable"}
NOT_FOUND = "The passage could not be marked; this is its page."


class PdfPanel(QWidget):
    """A document's pages. `close_requested` asks the window to hide the panel."""

    close_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._path = ""
        self._pages: dict[int, PageEntry] = {}
        self.text = TextPageView(theme)
        self.note = label(role="soft", wrap=True)
        self._note_bar = _note_bar(theme, self.note)
        self._message = label(EMPTY, role="soft", wrap=True)
        self._password = QLineEdit()
        self._stack = QStackedWidget()
        self._stack.addWidget(self._empty())
        self._stack.addWidget(self.text)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._bar())
        column.addWidget(self._note_bar)
        column.addWidget(self._stack, 1)
        self._set_controls(enabled=False)
        self.setMinimumWidth(260)

    @cached_property
    def pages(self) -> PdfPages:
        """The pages of PDFs, made when the first is opened: a start needs none."""
        from desktop_app.window.pdf_pages import PdfPages

        pages = PdfPages(self._theme)
        pages.view.page_changed.connect(self._page_changed)
        pages.view.zoom_changed.connect(self._zoom_changed)
        self._stack.addWidget(pages)
        return pages

    # what the window asks

    @property
    def page(self) -> int:
        """The page in front of the reader, from 1; 0 if no PDF is shown."""
        return self.pages.view.page + 1 if self._shows_pages else 0

    @property
    def path(self) -> str:
        """The file shown; empty if there is none."""
        return self._path

    def open(self, path: str, name: str) -> bool:
        """Shows a file from its first page; False (and the reason in the panel) if it can't be."""
        self.set_note("")
        if path == self._path:
            return True
        self.close_search()
        self._title.set_text(name)
        self._path = ""
        file = Path(path)
        if not file.is_file():
            self._say(
                f"'{name}' is no longer at {file.parent}. Its text can still be asked about; "
                "put the file back, or add it again from its new place, to see its pages."
            )
            return False
        with file.open("rb") as opened:
            is_pdf = b"%PDF-" in opened.read(1024)
        if is_pdf:
            return self._open_pdf(path, name)
        self.text.load(file)
        self._path = path
        self._stack.setCurrentWidget(self.text)
        self._set_controls(enabled=False)
        return True

    def set_pages(self, pages: Sequence[PageEntry]) -> None:
        """What was read from the pages: the numbers printed on them, and how."""
        self._pages = {entry.number: entry for entry in pages}
        if self._shows_pages:
            self._page_changed(self.pages.view.page)

    def show_page(self, page: int) -> None:
        """Goes to a page, from 1."""
        if self._shows_pages:
            self.pages.view.mark(page - 1, ())
            self.pages.view.show_page(page - 1)

    def mark(self, page: int, boxes: Sequence[Box], quote: str = "") -> bool:
        """Highlights a passage on a page, from 1; marks nothing, and says so, without boxes."""
        if self._stack.currentWidget() is self.text:
            found = self.text.mark(quote)
        else:
            if self._shows_pages:
                self.pages.view.mark(page - 1, boxes)
            found = bool(boxes)
        self.set_note("" if found or not quote else NOT_FOUND)
        return found

    def close_document(self) -> None:
        """Shows no document."""
        self._path = ""
        self._title.set_text("")
        if self._has_pages:
            self.pages.close_document()
        self._say(EMPTY)

    def set_note(self, text: str) -> None:
        """One line above the pages; empty hides it."""
        self.note.setText(text)
        self._note_bar.setVisible(bool(text))

    def step_page(self, direction: int) -> None:
        """Goes a page on (+1) or back (-1)."""
        if self._shows_pages:
            self.pages.view.show_page(self.pages.view.page + direction)

    def step_zoom(self, direction: int) -> None:
        """Draws the pages larger (+1) or smaller (-1)."""
        if self._shows_pages:
            self.pages.view.step_zoom(direction)

    def fit_width(self) -> None:
        """Draws the pages as wide as the panel."""
        if self._shows_pages:
            self.pages.view.fit_width()

    def open_search(self) -> None:
        """Shows the search bar if there are pages to search."""
        if self._shows_pages:
            self.pages.find_bar.open_search()

    def close_search(self) -> None:
        """Hides the search bar if it is there."""
        if self._has_pages:
            self.pages.find_bar.close_search()

    # the parts

    def _bar(self) -> QWidget:
        bar = frame("pdfbar")
        row = QHBoxLayout(bar)
        row.setContentsMargins(14, 7, 8, 7)
        row.setSpacing(2)
        self._title = ElidedLabel(role="strong", middle=True)
        self._page = QLineEdit()
        self._page.setFixedWidth(48)
        self._page.setAlignment(Qt.AlignmentFlag.AlignRight)
        self._page.setValidator(QIntValidator(1, 99999, self))
        self._page.setAccessibleName("Page")
        self._page.setToolTip("Go to a page of the file")
        self._page.returnPressed.connect(self._go)
        self._count = label(role="soft")
        self._printed = label(role="faint")
        self._printed.setToolTip("The number printed on this page, and how its text was found")
        self._zoom = label("100 %", role="soft")
        self._zoom.setMinimumWidth(44)
        self._zoom.setAlignment(Qt.AlignmentFlag.AlignCenter)
        theme = self._theme
        self._controls: list[QWidget] = [
            self._page,
            IconButton(theme, "minus", "Zoom out", lambda: self.step_zoom(-1), shortcut="Ctrl+-"),
            IconButton(theme, "add", "Zoom in", lambda: self.step_zoom(1), shortcut="Ctrl++"),
            IconButton(theme, "fit-width", "Fit width", self.fit_width, shortcut="Ctrl+0"),
            IconButton(theme, "search", "Find in document", self.open_search, shortcut="Ctrl+F"),
        ]
        page, smaller, bigger, fit, search = self._controls
        row.addWidget(self._title, 1)
        row.addSpacing(8)
        for widget in (page, self._count, self._printed):
            row.addWidget(widget)
        row.addSpacing(8)
        for widget in (smaller, self._zoom, bigger, fit, search):
            row.addWidget(widget)
        row.addWidget(IconButton(theme, "close", "Hide the document", self.close_requested.emit))
        return bar

    def _empty(self) -> QWidget:
        page = QWidget()
        page.setProperty("role", "desk")
        page.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        column = QVBoxLayout(page)
        column.setContentsMargins(48, 48, 48, 48)
        column.setSpacing(12)
        picture = IconLabel(self._theme, "document", "faint", 40)
        picture.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._message.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._password.setEchoMode(QLineEdit.EchoMode.Password)
        self._password.setPlaceholderText("Password of this document")
        self._password.setAccessibleName("Password of this document")
        self._password.returnPressed.connect(self._unlock)
        self._password.setMaximumWidth(280)
        self._password.hide()
        column.addStretch(2)
        column.addWidget(picture)
        column.addWidget(self._message)
        column.addWidget(self._password, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(3)
        return page

    # inner workings

    @property
    def _has_pages(self) -> bool:
        return "pages" in self.__dict__

    @property
    def _shows_pages(self) -> bool:
        return self._has_pages and self._stack.currentWidget() is self.pages

    def _open_pdf(self, path: str, name: str, password: str = "") -> bool:
        pages = self.pages
        opened = pages.open(path, password)
        if opened == "locked":
            self._locked = (path, name)
            self._say(f"'{name}' is locked. Type its password to see its pages.", locked=True)
            return False
        if opened == "damaged":
            self._say(f"The pages of '{name}' can't be drawn; the file may be damaged.")
            return False
        self._path = path
        self._pages = {}
        self._stack.setCurrentWidget(pages)
        self._set_controls(enabled=True)
        self._count.setText(f"of {pages.view.page_count}")
        self._page_changed(pages.view.page)
        self._zoom_changed(pages.view.zoom)
        return True

    def _unlock(self) -> None:
        path, name = self._locked
        if self._open_pdf(path, name, self._password.text()):
            self._password.clear()

    def _say(self, text: str, *, locked: bool = False) -> None:
        self._message.setText(text)
        self._password.setVisible(locked)
        self._stack.setCurrentIndex(0)
        self._set_controls(enabled=False)

    def _set_controls(self, *, enabled: bool) -> None:
        for widget in (*self._controls, self._count, self._printed):
            widget.setVisible(enabled)
        self._zoom.setVisible(enabled and self.width() >= WIDE)
        if not enabled:
            self._page.clear()
            self._count.clear()
            self._printed.clear()

    def _go(self) -> None:
        view = self.pages.view
        number = min(max(int(self._page.text() or 1), 1), max(view.page_count, 1))
        view.show_page(number - 1)
        self._page.setText(str(number))

    def _page_changed(self, page: int) -> None:
        if page < 0:
            return
        self._page.setText(str(page + 1))
        entry = self._pages.get(page + 1)
        printed = (entry.printed if entry else "") or self.pages.document.pageLabel(page)
        parts = [f"printed {printed}"] if printed and printed != str(page + 1) else []
        if entry is not None and entry.status in READ_AS:
            parts.append(READ_AS[entry.status])
        self._printed.setText(" ".join(f"· {part}" for part in parts))

    def _zoom_changed(self, zoom: float) -> None:
        self._zoom.setText(f"{zoom * 100:.0f} %")

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._zoom.setVisible(self.width() >= WIDE and self._page.isVisibleTo(self))

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(560, 700)


def _note_bar(theme: Theme, note: QWidget) -> QWidget:
    bar = frame("find")
    row = QHBoxLayout(bar)
    row.setContentsMargins(14, 6, 14, 6)
    row.setSpacing(8)
    row.addWidget(IconLabel(theme, "info", "soft", 16), 0, Qt.AlignmentFlag.AlignTop)
    row.addWidget(note, 1)
    bar.hide()
    return bar
