"""What the positions of letters say about a PDF page's text: paragraphs and table columns.

pdfium gives lines without the white space between them. A wide step down begins a paragraph, and
is told by an empty line. A wide gap within a line that stands above or below another parts two
cells, and is told by a tab; a line that goes on in a later cell of the row above begins with one.
Knows pdfium's text page; runs in the parser process.
"""

from __future__ import annotations

import ctypes
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

_STEP = 1.45  # usual line steps from which one begins a paragraph
_WIDE = 1.8  # heights of a tall letter from which a gap may part two cells
_WIDER = 2.8  # and usual spaces between words: justified lines of even letters have double ones
_SPACED = 1.4  # heights of a tall letter that a usual space has at most; else they are columns
_LEVEL = 4.0  # points within which two characters stand on one line
_NEAR = 4  # lines in which another gap must stand above or below
_SPACE = re.compile(r"(?<=\S) +(?=\S)")


@dataclass(frozen=True, slots=True)
class _Gap:
    """White space within a line: characters start ≤ c < stop, points left to right."""

    start: int
    stop: int
    left: float
    right: float


def laid_out(textpage: Any) -> str:
    """The text of a pdfium text page, with empty lines and tabs as above."""
    lines = textpage.get_text_range().split("\r\n")
    boxes = _Boxes(textpage)
    places = itertools.accumulate((len(line) + 2 for line in lines), initial=0)
    starts = list(zip(lines, places, strict=False))
    firsts = [boxes.at(at + len(line) - len(line.lstrip())) for line, at in starts]
    heights = sorted(box[3] - box[2] for box in firsts if box)
    tall = heights[int(0.7 * len(heights))] if heights else 0.0
    spaces = [list(_gaps(line, at, boxes)) for line, at in starts]
    wide = _wide(tall, [gap.right - gap.left for found in spaces for gap in found])
    gaps = [[gap for gap in found if gap.right - gap.left > wide] for found in spaces]
    parted = [
        _with_tabs(line, [gap for gap in gaps[number] if _stands_over(gap, number, gaps, wide)])
        for number, line in enumerate(lines)
    ]
    lasts = [boxes.at(at + len(line.rstrip()) - 1) for line, at in starts]
    rows = _with_cells_joined([_Line(*line) for line in zip(parted, firsts, lasts, strict=True)])
    return "\n".join(_with_paragraphs(list(_with_continued(rows, wide))))


_Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class _Line:
    """A line's text with the boxes of its first and last character, if they have one."""

    text: str
    first: _Box | None
    last: _Box | None


class _Boxes:
    """Boxes (left, right, bottom, top) of a page's characters, in points."""

    def __init__(self, textpage: Any) -> None:
        from pypdfium2 import raw

        self._get = raw.FPDFText_GetCharBox
        self._page = textpage
        self._values = [ctypes.c_double() for _ in range(4)]
        self._slots = [ctypes.byref(value) for value in self._values]

    def at(self, index: int) -> _Box | None:
        if index < 0 or not self._get(self._page, index, *self._slots):
            return None
        left, right, bottom, top = (value.value for value in self._values)
        return left, right, bottom, top


def _wide(tall: float, spaces: Sequence[float]) -> float:
    """Points from which a gap may part two cells."""
    usual = sorted(spaces)[len(spaces) // 2] if spaces else 0.0
    return max(_WIDE * tall, _WIDER * min(usual, _SPACED * tall))


def _gaps(line: str, at: int, boxes: _Boxes) -> Iterator[_Gap]:
    for space in _SPACE.finditer(line):
        one, two = boxes.at(at + space.start() - 1), boxes.at(at + space.end())
        if one and two and two[0] > one[1]:
            yield _Gap(space.start(), space.end(), one[1], two[0])


def _stands_over(gap: _Gap, number: int, gaps: Sequence[Sequence[_Gap]], wide: float) -> bool:
    """Whether a gap of a line near by covers half of what `gap` must at least be."""
    near = [*gaps[max(0, number - _NEAR) : number], *gaps[number + 1 : number + 1 + _NEAR]]
    return any(
        min(gap.right, other.right) - max(gap.left, other.left) > wide / 2
        for others in near
        for other in others
    )


def _with_tabs(line: str, gaps: Sequence[_Gap]) -> str:
    """The line with a tab in place of each gap."""
    pieces: list[str] = []
    start = 0
    for gap in gaps:
        pieces.append(line[start : gap.start])
        start = gap.stop
    return "\t".join([*pieces, line[start:]])


def _with_cells_joined(lines: Sequence[_Line]) -> list[_Line]:
    """The lines, with those that pdfium parted at a very wide gap as one, a tab between."""
    done: list[_Line] = []
    for line in lines:
        before = done[-1].last if done else None
        first = line.first
        if before and first and first[0] > before[1] and abs(first[2] - before[2]) < _LEVEL:
            done[-1] = _Line(f"{done[-1].text}\t{line.text.strip()}", done[-1].first, line.last)
        else:
            done.append(line)
    return done


def _with_continued(lines: Sequence[_Line], wide: float) -> Iterator[_Line]:
    """The lines, with a tab before each that goes on in a cell of the row above."""
    row: float | None = None  # where the row above begins
    for line in lines:
        left = line.first[0] if line.first else None
        if row is not None and left is not None and left > row + 2 * wide:
            yield replace(line, text=f"\t{line.text.lstrip()}")
            continue
        if "\t" in line.text:
            row = left
        elif line.text.strip():
            row = None
        yield line


def _with_paragraphs(lines: Sequence[_Line]) -> Iterator[str]:
    """The lines' texts, with an empty one before each that stands a paragraph's step down.

    A step goes from a line's last character to the next line's first: pdfium gives two lines with
    a broken word between them as one.
    """
    lasts = [None, *(line.last for line in lines)]
    steps = [
        before[2] - line.first[2] if before and line.first else 0.0
        for before, line in zip(lasts, lines, strict=False)
    ]
    down = sorted(step for step in steps if step > _LEVEL)
    usual = down[len(down) // 2] if down else 0.0
    for line, step in zip(lines, steps, strict=True):
        if usual and step > _STEP * usual:
            yield ""
        yield line.text
