"""Makes small PDFs for tests."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pypdf import PdfWriter
from reportlab.lib.pdfencrypt import StandardEncryption
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
