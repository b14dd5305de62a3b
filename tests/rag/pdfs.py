"""Makes small PDFs for tests."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pypdf import PdfWriter
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas


def make_pdf(
    path: Path, pages: Sequence[Sequence[str]], password: str = "", rotation: int = 0
) -> Path:
    """A PDF whose pages hold the given lines, 14 points apart from y = 720 down."""
    lock = StandardEncryption(password, canPrint=0) if password else None
    canvas = Canvas(str(path), pagesize=(612, 792), encrypt=lock, invariant=1)
    for lines in pages:
        canvas.setFont("Helvetica", 11)
        for row, line in enumerate(lines):
            canvas.drawString(72, 720 - 14 * row, line)
        canvas.showPage()
    canvas.save()
    if rotation:
        writer = PdfWriter(clone_from=path)
        for page in writer.pages:
            page.rotate(rotation)
        writer.write(path)
    return path


def make_scan(path: Path, source: Path, pages: Sequence[int] = (1,), dpi: int = 150) -> Path:
    """A PDF that holds nothing but pictures of pages of another, as a scanner makes it."""
    import pypdfium2

    pdf = pypdfium2.PdfDocument(source)
    canvas = Canvas(str(path), invariant=1)
    for number in pages:
        page = pdf[number - 1]
        width, height = page.get_size()
        canvas.setPageSize((width, height))
        picture = page.render(scale=dpi / 72).to_pil().convert("L")
        canvas.drawImage(ImageReader(picture), 0, 0, width, height)
        canvas.showPage()
    canvas.save()
    pdf.close()
    return path
