"""Fonts and paragraph styles of the sample documents."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from reportlab.lib import colors
from reportlab.lib.enums import TA_CENTER
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont

CHINESE_FONT = Path(__file__).parent / "fonts" / "WenQuanYiMicroHei-subset.ttf"
INK = colors.HexColor("#1c2430")
RULE = colors.HexColor("#8a94a3")
SHADE = colors.HexColor("#eef1f5")


@dataclass(frozen=True, slots=True)
class Fonts:
    """Names of the fonts of a document."""

    body: str
    bold: str
    chinese: bool


def fonts(chinese: bool) -> Fonts:
    if not chinese:
        return Fonts("Times-Roman", "Times-Bold", chinese=False)
    if "SampleChinese" not in pdfmetrics.getRegisteredFontNames():
        pdfmetrics.registerFont(TTFont("SampleChinese", str(CHINESE_FONT)))
    return Fonts("SampleChinese", "SampleChinese", chinese=True)


class Styles:
    """Paragraph styles for a document's fonts."""

    def __init__(self, font: Fonts, size: float) -> None:
        base = ParagraphStyle(
            "body",
            fontName=font.body,
            fontSize=size,
            leading=size * (1.62 if font.chinese else 1.4),
            textColor=INK,
            spaceAfter=size * 0.62,
            wordWrap="CJK" if font.chinese else None,
            bulletFontName=font.body,
            bulletFontSize=size,
        )
        self.body = base
        self.clause = ParagraphStyle("clause", base, leftIndent=34, bulletIndent=0)
        self.item = ParagraphStyle("item", base, leftIndent=62, bulletIndent=36)
        self.cell = ParagraphStyle(
            "cell", base, fontSize=size * 0.88, leading=size * 1.18, spaceAfter=0
        )
        self.head = ParagraphStyle("head", self.cell, fontName=font.bold)
        self.article = ParagraphStyle(
            "article", base, fontName=font.bold, fontSize=13, leading=17, spaceBefore=12
        )
        self.heading = ParagraphStyle(
            "heading", base, fontName=font.bold, fontSize=11, leading=15, spaceBefore=8
        )
        self.part = ParagraphStyle(
            "part", self.article, fontSize=17, leading=22, spaceBefore=0, spaceAfter=10
        )
        self.title = ParagraphStyle(
            "title", self.part, fontSize=23, leading=30, alignment=TA_CENTER, spaceAfter=8
        )
        self.subtitle = ParagraphStyle("subtitle", base, fontSize=12, alignment=TA_CENTER)
        self.contents = [
            ParagraphStyle("contents 0", base, fontName=font.bold, spaceBefore=5, spaceAfter=2),
            ParagraphStyle(
                "contents 1", base, fontSize=10, leading=13, leftIndent=14, spaceAfter=0
            ),
        ]
