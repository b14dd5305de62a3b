"""Markdown of an answer, as tall as its text, with [1]-style marks as links.

What a model or a document wrote is data: no HTML, no images, no outside links are followed.
"""

from __future__ import annotations

import re

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt, QUrl, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QPainter,
    QPaintEvent,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextFragment,
    QTextFrameFormat,
    QTextTable,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QSizePolicy, QTextBrowser

from desktop_app.window.theme import Theme, quote_font, scaled, suited

_MARK = re.compile(r"(?<!\\)\[(\d{1,3})\](?!\()")
_LINE_HEIGHT = 126.0


class MarkdownView(QTextBrowser):
    """Read-only Markdown; `cited` carries the number of a clicked mark."""

    cited = Signal(int)

    def __init__(self, theme: Theme, scale: float = 1.06) -> None:
        super().__init__()
        self._theme = theme
        self._markdown = ""
        self._citations: int | None = None
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setOpenLinks(False)
        self._base = scaled(self.font(), scale)
        self.setFont(self._base)
        self.document().setDocumentMargin(0)
        self.document().setIndentWidth(24)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextBrowserInteraction
            | Qt.TextInteractionFlag.LinksAccessibleByKeyboard
        )
        self.setAccessibleName("Answer")
        self.anchorClicked.connect(self._clicked)
        self.document().documentLayout().documentSizeChanged.connect(self._fit)
        theme.changed.connect(self._draw)

    def show_markdown(self, text: str, citations: int | None = None) -> None:
        """Shows Markdown; marks up to `citations` are links (None: not known yet, so none is)."""
        if (text, citations) != (self._markdown, self._citations):
            self._markdown, self._citations = text, citations
            self._draw()

    def markdown(self) -> str:
        """What is shown, as Markdown."""
        return self._markdown

    def loadResource(self, kind: int, name: QUrl | str) -> QByteArray:  # noqa: N802
        """Loads nothing: an answer has no pictures."""
        return QByteArray()

    def _draw(self) -> None:
        features = QTextDocument.MarkdownFeature.MarkdownDialectGitHub
        font = suited(self._base, self._markdown)
        if font != self.font():
            self.setFont(font)
        self.document().setMarkdown(
            linked(self._markdown, self._citations),
            features | QTextDocument.MarkdownFeature.MarkdownNoHTML,
        )
        self._polish()
        self._fit()

    def _polish(self) -> None:
        """Line height, calm headings and tables, and links in the theme's colours."""
        block = self.document().begin()
        while block.isValid():
            self._polish_block(block)
            block = block.next()
        for child in self.document().rootFrame().childFrames():
            if isinstance(child, QTextTable):
                style = child.format()
                style.setBorder(1)
                style.setBorderCollapse(True)
                style.setBorderBrush(QColor(self._theme.colors.line))
                style.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
                style.setCellPadding(6)
                style.setTopMargin(4)
                style.setBottomMargin(10)
                child.setFormat(style)

    def _polish_block(self, block: QTextBlock) -> None:
        base = self.font().pointSizeF()
        cursor = QTextCursor(block)
        style = QTextBlockFormat(block.blockFormat())
        height = QTextBlockFormat.LineHeightTypes.ProportionalHeight.value
        style.setLineHeight(_LINE_HEIGHT, height)
        style.setTopMargin(0)
        in_table = cursor.currentTable() is not None
        style.setBottomMargin(0 if in_table else 4 if block.textList() else 9)
        quoted = _is_quote(block)
        if quoted:
            style.setLeftMargin(18)
            style.setRightMargin(0)
        cursor.setBlockFormat(style)
        level = style.headingLevel()
        cursor.select(QTextCursor.SelectionType.BlockUnderCursor)
        if quoted:
            words = QTextCharFormat()
            words.setFontFamilies(quote_font(self.font()).families())
            cursor.mergeCharFormat(words)
        if level:
            heading = QTextCharFormat()
            heading.setProperty(QTextFormat.Property.FontSizeAdjustment, 0)
            heading.setFontPointSize(base * (1.16 if level <= 2 else 1.06))
            heading.setFontWeight(QFont.Weight.DemiBold)
            cursor.mergeCharFormat(heading)
        iterator = block.begin()
        while not iterator.atEnd():
            fragment = iterator.fragment()
            if fragment.charFormat().isAnchor():
                self._style_link(fragment, base)
            iterator += 1

    def _style_link(self, fragment: QTextFragment, base: float) -> None:
        colors = self._theme.colors
        cursor = QTextCursor(self.document())
        cursor.setPosition(fragment.position())
        end = fragment.position() + fragment.length()
        cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        style = QTextCharFormat()
        style.setFontUnderline(False)
        href = fragment.charFormat().anchorHref()
        if href.startswith("cite:"):
            style.setBackground(QColor(colors.mark))
            style.setForeground(QColor(colors.on_mark))
            style.setFontWeight(QFont.Weight.DemiBold)
            style.setFontPointSize(base * 0.86)
            style.setToolTip(f"Show the passage of citation {href[5:]}")
        else:
            style.setForeground(QColor(colors.ink))
            style.setAnchor(False)
        cursor.mergeCharFormat(style)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        super().paintEvent(event)
        painter = QPainter(self.viewport())
        layout = self.document().documentLayout()
        block = self.document().begin()
        while block.isValid():
            following = block.next()
            if _is_quote(block):
                box = layout.blockBoundingRect(block)
                bottom = box.bottom()
                if _is_quote(following):
                    bottom = layout.blockBoundingRect(following).top()
                bar = QRectF(2, box.top(), 3, bottom - box.top())
                painter.fillRect(bar, QColor(self._theme.colors.marker))
            block = following

    def _clicked(self, url: QUrl) -> None:
        if url.scheme() == "cite" and url.path().isdigit():
            self.cited.emit(int(url.path()))

    def _fit(self) -> None:
        self.setFixedHeight(max(round(self.document().size().height()) + 2, 4))

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(400, round(self.document().size().height()) + 2)

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802
        event.ignore()


def _is_quote(block: QTextBlock) -> bool:
    return block.isValid() and block.blockFormat().hasProperty(QTextFormat.Property.BlockQuoteLevel)


def linked(markdown: str, citations: int | None) -> str:
    """Markdown whose [n] marks are links where there is a citation n; pictures are their names."""

    def link(match: re.Match[str]) -> str:
        number = int(match.group(1))
        if citations is not None and 1 <= number <= citations:
            return f"[\N{NO-BREAK SPACE}{number}\N{NO-BREAK SPACE}](cite:{number})"
        return match.group(0)

    result = _MARK.sub(link, markdown.replace("![", "["))
    return result.replace(")[\N{NO-BREAK SPACE}", ") [\N{NO-BREAK SPACE}")
