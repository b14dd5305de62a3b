"""Printed page numbers of the sample documents, and the PDF's page labels that agree with them."""

from __future__ import annotations

from reportlab.pdfgen.canvas import Canvas


def roman(number: int) -> str:
    """Lower-case roman numeral of a number below 40."""
    digits = ((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))
    out = ""
    for value, letters in digits:
        while number >= value:
            out, number = out + letters, number - value
    return out


class Numbering:
    """Printed page numbers: a cover without one, roman front matter, then arabic from 1."""

    def __init__(self, scheme: str) -> None:
        self.scheme = scheme
        self.first_arabic = 1
        self.pages = 0

    def printed(self, page: int) -> str:
        """What stands at the foot of physical page `page`."""
        if self.scheme == "page-of":
            return f"Page {page} of {self.pages}"
        if self.scheme == "chinese":
            return f"第 {page} 页　共 {self.pages} 页"
        if page == 1:
            return ""
        if page < self.first_arabic:
            return roman(page - 1)
        return f"{page - self.first_arabic + 1}"

    def add_labels(self, canvas: Canvas) -> None:
        """Page labels of the PDF that agree with the printed numbers."""
        if self.scheme != "roman-arabic":
            return
        canvas.addPageLabel(0, "ARABIC", start=1, prefix="Cover ")
        canvas.addPageLabel(1, "ROMAN_LOWER", start=1)
        canvas.addPageLabel(self.first_arabic - 1, "ARABIC", start=1)
