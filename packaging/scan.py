"""Makes a scan of a page of a sample document, for the trial: a PDF that is a picture and no text.

    python packaging/scan.py assets/samples/supply-agreement.pdf "8.1 Payment" OUT

It takes the first page with that text: in grey, 150 dots an inch, a little crooked and grained as
from a scanner. The same page gives the same picture.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pypdfium2

DPI = 150
CROOKED = 0.4  # degrees
GRAIN = 9.0  # levels of brightness


def page_with(document: pypdfium2.PdfDocument, text: str) -> pypdfium2.PdfPage:
    for page in document:
        if text in " ".join(page.get_textpage().get_text_bounded().split()):
            return page
    raise SystemExit(f"No page has the text: {text}")


def scan(source: Path, text: str, target: Path) -> None:
    with pypdfium2.PdfDocument(source) as document, pypdfium2.PdfDocument.new() as made:
        page = page_with(document, text)
        width, height = page.get_size()
        bitmap = page.render(scale=DPI / 72, grayscale=True)
        grey = bitmap.to_numpy()
        grain = np.random.default_rng(1).normal(0, GRAIN, grey.shape)
        grey[:] = np.clip(grey * 0.9 + 12 + grain, 0, 255).astype(np.uint8)
        picture = pypdfium2.PdfImage.new(made)
        picture.set_bitmap(bitmap)
        picture.set_matrix(pypdfium2.PdfMatrix().scale(width, height).rotate(CROOKED))
        shown = made.new_page(width, height)
        shown.insert_obj(picture)
        shown.gen_content()
        made.save(target)


def main() -> None:
    scan(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]))


if __name__ == "__main__":
    main()
