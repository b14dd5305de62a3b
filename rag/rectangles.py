"""Finds a quotation on a PDF page and gives one rectangle a line.

The search tolerates what extraction changes: white space, hyphens at line ends, ligatures, case.
It compares letters and digits only, as kept by `letters`, and maps them back to characters of the
page. Knows pdfium's text page, in the parser process, and pieces of recognised text.
"""

from __future__ import annotations

import bisect
import ctypes
import unicodedata
from collections.abc import Sequence
from typing import Any

from rag.raw_page import Piece

Rectangle = tuple[float, float, float, float]
_SHORTEST_PART = 24  # letters of a quotation that crosses pages that must stand on this page
_RUNNING = 120  # letters of running lines that may stand in the midst of a quotation
_SCALE = 64  # device units a point, since pdfium maps to whole units


def letters(text: str) -> tuple[str, list[int]]:
    """Lower-case letters and digits of `text` after NFKC, and each one's place in `text`."""
    kept: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        for c in unicodedata.normalize("NFKC", character).lower():
            if c.isalnum():
                kept.append(c)
                places.append(place)
    return "".join(kept), places


def locate(page: str, quote: str) -> tuple[int, int] | None:
    """Characters start ≤ c < stop of `page` that hold `quote`, or its part on this page.

    A page number may stand in the midst: quotations are without it.
    """
    have, places = letters(page)
    want, _ = letters(quote)
    if not want:
        return None
    at = have.find(want)
    if at >= 0:
        return places[at], places[at + len(want) - 1] + 1
    return _interrupted(have, want, places) or _overlap(have, want, places)


def _interrupted(have: str, want: str, places: list[int]) -> tuple[int, int] | None:
    """The whole of `want`, where one run of letters stands between two parts of it."""
    size = bisect.bisect_left(range(len(want)), True, key=lambda n: want[: n + 1] not in have)
    for head in range(size, max(1, size - 4), -1):  # what comes between may begin as the rest does
        at = have.find(want[:head])
        rest = have.find(want[head:], at + head, at + len(want) + _RUNNING)
        if at >= 0 and rest >= 0:
            return places[at], places[rest + len(want) - head - 1] + 1
    return None


def _overlap(have: str, want: str, places: list[int]) -> tuple[int, int] | None:
    """The longest head of `want` that ends the page, or tail that begins it."""
    for size in range(len(want) - 1, _SHORTEST_PART - 1, -1):
        if (at := have.find(want[:size])) >= 0 and at + size >= 0.9 * len(have):
            return places[at], places[at + size - 1] + 1
        if 0 <= (at := have.find(want[-size:])) <= 0.1 * len(have):
            return places[at], places[at + size - 1] + 1
    return None


def find_rectangles(page: Any, quote: str) -> list[Rectangle]:
    """Rectangles (x0, y0, x1, y1) of `quote` on a pdfium page, in points from its top left."""
    from pypdfium2 import raw

    textpage = page.get_textpage()
    try:
        total = textpage.count_chars()
        codes = [raw.FPDFText_GetUnicode(textpage, i) for i in range(total)]
        text = "".join(chr(c) if 0 < c < 0x110000 else " " for c in codes)
        found = locate(text, quote)
        if found is None:
            return []
        start, stop = found
        boxes = [textpage.get_rect(i) for i in range(textpage.count_rects(start, stop - start))]
    finally:
        textpage.close()
    return _lines([_to_view(page, box) for box in boxes])


def on_pieces(pieces: Sequence[Piece], quote: str) -> list[Rectangle]:
    """Rectangles of `quote` on a page that was recognised; a part of a piece by its letters."""
    text = "\n".join(piece.text for piece in pieces)
    found = locate(text, quote)
    if found is None:
        return []
    start, stop = found
    boxes = []
    at = 0
    for piece in pieces:
        length = len(piece.text)
        a, b = max(start, at) - at, min(stop, at + length) - at
        if a < b:
            wide = (piece.x1 - piece.x0) / length
            boxes.append((piece.x0 + a * wide, piece.y0, piece.x0 + b * wide, piece.y1))
        at += length + 1
    return _lines(boxes)


def _to_view(page: Any, box: Rectangle) -> Rectangle:
    """A box of page space (left, bottom, right, top) as the page is shown: cropped and rotated."""
    from pypdfium2 import raw

    width, height = page.get_size()
    x, y = ctypes.c_int(), ctypes.c_int()
    points = []
    for px, py in ((box[0], box[1]), (box[2], box[3])):
        size = (round(width * _SCALE), round(height * _SCALE))
        raw.FPDF_PageToDevice(page, 0, 0, *size, 0, px, py, ctypes.byref(x), ctypes.byref(y))
        points.append((x.value / _SCALE, y.value / _SCALE))
    (ax, ay), (bx, by) = points
    return min(ax, bx), min(ay, by), max(ax, bx), max(ay, by)


def _lines(boxes: list[Rectangle]) -> list[Rectangle]:
    """Joins boxes that stand in one line: font changes split a line into several."""
    joined: list[Rectangle] = []
    for box in boxes:
        if joined:
            last = joined[-1]
            overlap = min(last[3], box[3]) - max(last[1], box[1])
            if overlap > 0.5 * min(last[3] - last[1], box[3] - box[1]) and box[0] >= last[0]:
                joined[-1] = (
                    last[0],
                    min(last[1], box[1]),
                    max(last[2], box[2]),
                    max(last[3], box[3]),
                )
                continue
        joined.append(box)
    return joined
