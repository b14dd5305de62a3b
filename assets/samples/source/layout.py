"""Lays a sample document out as a PDF. The same source always gives the same bytes."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from xml.sax.saxutils import escape

from markup import Block, Source
from numbering import Numbering
from reportlab import rl_config
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import (
    BaseDocTemplate,
    CondPageBreak,
    Flowable,
    Frame,
    PageBreak,
    PageTemplate,
    Paragraph,
    Spacer,
    Table,
    TableStyle,
)
from reportlab.platypus.tableofcontents import TableOfContents
from styles import INK, RULE, SHADE, Fonts, Styles, fonts

rl_config.invariant = 1


class Document(BaseDocTemplate):
    """A page template with a running header, a page number and bookmarks."""

    def __init__(self, file: io.BytesIO, source: Source, font: Fonts, numbering: Numbering) -> None:
        settings = source.settings
        super().__init__(
            file,
            pagesize=A4,
            title=settings["title"],
            subject=settings["subtitle"],
            author="Clausebook sample documents",
            lang="zh-CN" if font.chinese else "en-GB",
        )
        self.settings, self.font, self.numbering = settings, font, numbering
        frame = Frame(24 * mm, 24 * mm, A4[0] - 48 * mm, A4[1] - 50 * mm, id="body", showBoundary=0)
        page = PageTemplate("page", [frame], onPage=self.draw_header, onPageEnd=self.draw_footer)
        self.addPageTemplates(page)

    def on_cover(self, canvas: Canvas) -> bool:
        return self.numbering.scheme == "roman-arabic" and canvas.getPageNumber() == 1

    def draw_header(self, canvas: Canvas, _: BaseDocTemplate) -> None:
        """The running header; a cover has none."""
        if self.on_cover(canvas):
            return
        canvas.saveState()
        canvas.setFont(self.font.body, 8.5)
        canvas.setFillColor(INK)
        canvas.drawString(25 * mm, A4[1] - 16 * mm, self.settings["header"])
        canvas.setStrokeColor(RULE)
        canvas.line(25 * mm, A4[1] - 18 * mm, A4[0] - 25 * mm, A4[1] - 18 * mm)
        canvas.restoreState()

    def draw_footer(self, canvas: Canvas, _: BaseDocTemplate) -> None:
        """The printed page number; a cover has none."""
        canvas.saveState()
        canvas.setFont(self.font.body, 8.5)
        canvas.setFillColor(INK)
        canvas.drawCentredString(A4[0] / 2, 13 * mm, self.numbering.printed(canvas.getPageNumber()))
        canvas.restoreState()

    def afterFlowable(self, flowable: Flowable) -> None:  # noqa: N802 - reportlab's name
        """Tells the contents and the bookmarks of each heading."""
        mark = getattr(flowable, "bookmark", None)
        if isinstance(mark, NewNumbering):
            self.numbering.first_arabic = self.page
        elif mark is not None:
            level, text, key = mark
            self.canv.bookmarkPage(key)
            self.canv.addOutlineEntry(text, key, level)
            self.notify("TOCEntry", (level, escape(text), self.page, key))


class NewNumbering(Spacer):
    """An empty flowable: arabic page numbers begin on its page."""

    def __init__(self) -> None:
        super().__init__(0, 0)
        self.bookmark = self


def heading(text: str, style: ParagraphStyle, level: int, key: str) -> Paragraph:
    paragraph = Paragraph(escape(text), style)
    paragraph.bookmark = (level, text, key)
    paragraph.keepWithNext = 1
    return paragraph


def table(rows: tuple[tuple[str, ...], ...], styles: Styles, width: float) -> Table:
    """A ruled table; columns are as wide as their longest cells ask, within reason."""
    count = max(len(row) for row in rows)
    rows = tuple(row + ("",) * (count - len(row)) for row in rows)
    scale = 1.9 if styles.body.wordWrap == "CJK" else 1.0
    need = [min(54, max(len(row[k]) * scale for row in rows)) + 3 for k in range(count)]
    if scale == 1.0:
        words = [[word for row in rows for word in row[k].split()] for k in range(count)]
        need = [
            max(n, *(len(w) + 5 for w in column), 9) for n, column in zip(need, words, strict=True)
        ]
    body = [
        [Paragraph(escape(cell), styles.cell if number else styles.head) for cell in row]
        for number, row in enumerate(rows)
    ]
    made = Table(
        body, [width * n / sum(need) for n in need], repeatRows=1, spaceBefore=2, spaceAfter=8
    )
    made.setStyle(
        TableStyle(
            [
                ("GRID", (0, 0), (-1, -1), 0.4, RULE),
                ("NOSPLIT", (0, 0), (-1, min(3, len(rows) - 1))),
                ("BACKGROUND", (0, 0), (-1, 0), SHADE),
                ("VALIGN", (0, 0), (-1, -1), "TOP"),
                ("TOPPADDING", (0, 0), (-1, -1), 3),
                ("BOTTOMPADDING", (0, 0), (-1, -1), 4),
            ]
        )
    )
    return made


def contents(styles: Styles, numbering: Numbering) -> TableOfContents:
    made = TableOfContents()
    made.levelStyles = styles.contents
    made.dotsMinLevel = 0
    made.formatter = numbering.printed
    return made


class Story:
    """Turns blocks into flowables."""

    def __init__(self, styles: Styles, numbering: Numbering, width: float, parts: bool) -> None:
        self.styles, self.numbering, self.width = styles, numbering, width
        self.article_level = 1 if parts else 0
        self.keys = 0

    def title(self, settings: dict[str, str]) -> Iterator[Flowable]:
        cover = self.numbering.scheme == "roman-arabic"
        yield Spacer(0, 70 * mm if cover else 4 * mm)
        yield Paragraph(escape(settings["title"]), self.styles.title)
        yield Paragraph(escape(settings["subtitle"]), self.styles.subtitle)
        yield Paragraph(escape(settings["reference"]), self.styles.subtitle)
        yield Spacer(0, 8 * mm)

    def flowables(self, block: Block) -> Iterator[Flowable]:
        styles = self.styles
        self.keys += 1
        key = f"h{self.keys}"
        if block.kind in ("part", "schedule"):
            short = block.kind == "schedule" and not self.article_level
            yield CondPageBreak(75 * mm) if short else PageBreak()
            yield heading(block.text, styles.part, 0, key)
        elif block.kind == "article":
            yield CondPageBreak(28 * mm)
            yield heading(block.text, styles.article, self.article_level, key)
        elif block.kind == "heading":
            paragraph = Paragraph(escape(block.text), styles.heading)
            paragraph.keepWithNext = 1
            yield paragraph
        elif block.kind == "clause":
            yield Paragraph(escape(block.text), styles.clause, bulletText=block.number)
        elif block.kind == "item":
            yield Paragraph(escape(block.text), styles.item, bulletText=block.number)
        elif block.kind == "table":
            yield table(block.rows, styles, self.width)
        elif block.kind == "command":
            yield from self.command(block.text)
        else:
            yield Paragraph(escape(block.text), styles.body)

    def command(self, name: str) -> Iterator[Flowable]:
        if name == "contents":
            yield contents(self.styles, self.numbering)
        elif name == "arabic":
            yield NewNumbering()
        elif name == "page":
            yield PageBreak()
        else:
            raise ValueError(f"the command [{name}] is unknown")


class CountingCanvas(Canvas):
    """Tells the numbering how many pages there were, and writes the page labels at the end."""

    def __init__(self, *args: object, numbering: Numbering, **options: object) -> None:
        super().__init__(*args, **options)
        self.numbering = numbering

    def save(self) -> None:
        self.numbering.pages = self.getPageNumber() - 1
        self.numbering.add_labels(self)
        super().save()


def render(source: Source) -> bytes:
    """The document as PDF. Laid out until page numbers and contents no longer change."""
    font = fonts(source.settings["numbering"] == "chinese")
    styles = Styles(font, float(source.settings.get("size", "10.5")))
    numbering = Numbering(source.settings["numbering"])

    parts = any(block.kind == "part" for block in source.blocks)

    def story(document: Document) -> list[Flowable]:
        maker = Story(styles, numbering, document.width_inside, parts)
        made = list(maker.title(source.settings))
        for block in source.blocks:
            made.extend(maker.flowables(block))
        return made

    return build_twice(source, font, numbering, story)


def build_twice(
    source: Source,
    font: Fonts,
    numbering: Numbering,
    story: Callable[[Document], list[Flowable]],
) -> bytes:
    """Two runs: the first counts pages, the second prints "Page n of N"."""
    for _ in range(2):
        file = io.BytesIO()
        document = Document(file, source, font, numbering)
        document.width_inside = A4[0] - 48 * mm - 12
        document.multiBuild(
            story(document),
            canvasmaker=lambda *args, **options: CountingCanvas(
                *args, numbering=numbering, **options
            ),
        )
    return file.getvalue()
