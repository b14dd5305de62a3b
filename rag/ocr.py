"""Recognises the text on a picture of a page (OCR). Knows pictures, not files.

The work is RapidOCR's (PP-OCR models on onnxruntime, which ship in its package, so nothing is
fetched); this puts its pieces into lines and paragraphs. Runs in the parser process.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag.raw_page import Piece

Picture = NDArray[np.uint8]  # (height, width, 3)

_BLANK = 60  # levels of brightness up to which a picture shows nothing
_SURE = 0.5  # confidence from which a piece counts
_LEVEL = 0.5  # share of the lower piece's height by which two pieces of one line overlap
_WIDE = 2.5  # heights from which a gap parts two cells
_STEP = 1.45  # usual line steps from which one begins a paragraph


def available() -> bool:
    """Whether a recogniser is installed."""
    return importlib.util.find_spec("rapidocr") is not None


def is_blank(picture: Picture) -> bool:
    """Whether a picture shows nothing worth a look."""
    return int(picture.max()) - int(picture.min()) < _BLANK


class Recogniser:
    """Loaded once a process; loading takes about a second."""

    def __init__(self, threads: int = 2) -> None:
        """Loads the models; they use so many threads, or as many as there are processors."""
        import onnxruntime
        from rapidocr import RapidOCR

        onnxruntime.disable_telemetry_events()
        self._engine: Any = RapidOCR(
            params={
                "Global.log_level": "critical",
                "EngineConfig.onnxruntime.intra_op_num_threads": min(threads, os.cpu_count() or 1),
                "EngineConfig.onnxruntime.inter_op_num_threads": 1,
            }
        )

    def __call__(self, picture: Picture) -> list[list[Piece]]:
        """The lines of a picture, top to bottom, each in its pieces, left to right.

        Boxes are in its pixels from the top left.
        """
        found = self._engine(picture)
        if found.boxes is None or found.txts is None:
            return []
        pieces = [
            Piece(str(text).strip(), *_bounds(np.asarray(corners)))
            for corners, text, sure in zip(found.boxes, found.txts, found.scores, strict=True)
            if float(sure) >= _SURE and str(text).strip()
        ]
        return in_rows(pieces)


def _bounds(corners: NDArray[Any]) -> tuple[float, float, float, float]:
    (x0, y0), (x1, y1) = corners.min(axis=0), corners.max(axis=0)
    return float(x0), float(y0), float(x1), float(y1)


def in_rows(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """Pieces that stand in one line together, top to bottom and left to right."""
    rows: list[list[Piece]] = []
    for piece in sorted(pieces, key=lambda p: (p.y0 + p.y1) / 2):
        if rows and any(_level(piece, other) for other in rows[-1]):
            rows[-1].append(piece)
        else:
            rows.append([piece])
    return [sorted(row, key=lambda p: p.x0) for row in rows]


def _level(one: Piece, two: Piece) -> bool:
    """Whether two pieces stand side by side in one line."""
    overlap = min(one.y1, two.y1) - max(one.y0, two.y0)
    beside = one.x0 >= two.x1 or two.x0 >= one.x1
    return beside and overlap > _LEVEL * min(one.y1 - one.y0, two.y1 - two.y0)


def page_text(rows: Sequence[Sequence[Piece]]) -> str:
    """Lines as a page's text: a tab for a wide gap, an empty line before a wide step down."""
    tops = [min(piece.y0 for piece in row) for row in rows]
    steps = [two - one for one, two in pairwise(tops)]
    usual = sorted(steps)[len(steps) // 2] if steps else 0.0
    text: list[str] = []
    for row, step in zip(rows, [0.0, *steps], strict=False):
        if usual and step > _STEP * usual:
            text.append("")
        text.append(_joined(row))
    return "\n".join(text)


def _joined(row: Sequence[Piece]) -> str:
    text = row[0].text
    for before, piece in pairwise(row):
        wide = piece.x0 - before.x1 > _WIDE * (before.y1 - before.y0)
        text += ("\t" if wide else " ") + piece.text
    return text
