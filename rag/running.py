"""Lines that are no text: running headers and footers, page numbers, wherever they stand.

At the edges of pages they are found by repeating from page to page, numbers aside. Where a file's
own pages don't coincide with the printed ones (a text file, a filing converted to PDF) they stand
in the middle: found by repeating at the distance of a page, and by counting up.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Sequence

_EDGE = 3  # lines at the top and bottom of a page that may be running
_NUMBERS = 3  # numbers that a running line may hold
_INSIDE = 5  # times that a line inside pages must repeat
_APART = 22  # usual number of lines between two such
_DIGITS = re.compile(r"\d+")
_ROMAN = r"(?=[ivxl])x{0,3}(?:ix|iv|v?i{0,3})"
_NUMBER = re.compile(
    rf"(?:page|p\.|第)?\s*[-\u2013\u2014\[(|]?\s*(?P<n>\d{{1,4}}|{_ROMAN}|[A-Z]-\d{{1,3}})\s*"
    r"[-\u2013\u2014\])|]?\s*(?:页)?\s*(?:(?:of|/|共)\s*\d{1,4}\s*页?)?",
    re.IGNORECASE,
)
_TAIL_NUMBER = re.compile(
    r"(?:page|第)\s*[-\u2013]?\s*(?P<n>\d{1,4})(?:\s*(?:of|/)\s*\d{1,4}|\s*页|\s*[-\u2013])?\s*$",
    re.IGNORECASE,
)
_PAGE_LINE = re.compile(r"page\s*[-\u2013]?\s*\d{1,4}\s*[-\u2013]?(?:\s*of\s*\d{1,4})?", re.I)

Rows = list[str]


def drop_running(pages: Sequence[Rows]) -> list[tuple[Rows, str]]:
    """Each page's lines without running ones, and the page number printed on it, if any."""
    shapes = _repeated_edges(pages)
    edged = [_drop_edges(rows, number, shapes) for number, rows in enumerate(pages, 1)]
    inside = _repeated_inside([rows for rows, _ in edged])
    numbers = _counting_up([rows for rows, _ in edged])
    done = []
    for number, (rows, printed) in enumerate(edged):
        kept = [
            row
            for at, row in enumerate(rows)
            if row.strip() not in inside
            and (number, at) not in numbers
            and not _PAGE_LINE.fullmatch(row.strip())
        ]
        done.append((kept, printed))
    if not any(row.strip() for rows, _ in done for row in rows):
        return [(list(rows), "") for rows in pages]  # the numbers are all there is
    return done


def left_out(rows: Rows, kept: Rows) -> set[int]:
    """Lines of `kept` after which a line of `rows` that is no longer there stood."""
    found: set[int] = set()
    at = 0
    for row in rows:
        if at < len(kept) and row == kept[at]:
            at += 1
        elif row.strip() and at:
            found.add(at - 1)
    return found


def _shapes(line: str, page: int) -> set[str]:
    """How a line would repeat: each of its numbers the same, or counting up with the pages.

    Two lines that share a shape differ at most in numbers that count pages, so "Page 4 of 9" is
    running and "Item 7731" is not.
    """
    parts = _DIGITS.split(" ".join(line.split()).casefold())
    numbers = _DIGITS.findall(line)
    if len(numbers) > _NUMBERS or len(line) > 250:
        return set()
    ways = itertools.product((0, page), repeat=len(numbers))
    spelled = (
        [f"{int(n) - base}#{bool(base)}" for n, base in zip(numbers, way, strict=True)]
        for way in ways
    )
    return {"\0".join(itertools.chain(*zip(parts, [*s, ""], strict=True))) for s in spelled}


def _edges(rows: Rows) -> tuple[list[int], list[int]]:
    """Indexes of the first and last lines that hold something."""
    filled = [i for i, row in enumerate(rows) if row.strip()]
    return filled[:_EDGE], filled[-_EDGE:]


def _repeated_edges(pages: Sequence[Rows]) -> set[str]:
    """Shapes of lines at page edges that occur on many pages."""
    counts: Counter[str] = Counter()
    for number, rows in enumerate(pages, 1):
        top, bottom = _edges(rows)
        counts.update(set().union(*(_shapes(rows[i], number) for i in {*top, *bottom})))
    filled = sum(any(row.strip() for row in rows) for rows in pages)
    least = max(3, 0.3 * filled)
    return {shape for shape, count in counts.items() if count >= least}


def _drop_edges(rows: Rows, page: int, shapes: set[str]) -> tuple[Rows, str]:
    """The page without its running edges, unless nothing else is on it; and its number."""
    top, bottom = _edges(rows)
    dropped: set[int] = set()
    printed = ""
    for edge in (bottom[::-1], top):
        for index in edge:
            bare = rows[index].strip()
            alone = _NUMBER.fullmatch(bare)
            if not alone and not _shapes(bare, page) & shapes:
                break
            dropped.add(index)
            number = alone or _TAIL_NUMBER.search(bare)
            printed = printed or (number.group("n") if number else "")
    if all(i in dropped or not row.strip() for i, row in enumerate(rows)):
        dropped = {i for i in dropped if _NUMBER.fullmatch(rows[i].strip())}
    return [row for i, row in enumerate(rows) if i not in dropped], printed


def _repeated_inside(pages: Sequence[Rows]) -> set[str]:
    """Short lines that repeat about once a printed page."""
    places: dict[str, list[int]] = defaultdict(list)
    at = 0
    for rows in pages:
        for row in rows:
            bare = row.strip()
            at += bool(bare)
            if 5 <= len(bare) <= 80 and sum(c.isalpha() for c in bare) >= 5:
                places[bare].append(at)
    found = set()
    for line, seen in places.items():
        gaps = sorted(b - a for a, b in itertools.pairwise(seen))
        if len(seen) >= _INSIDE and gaps[len(gaps) // 2] >= _APART and gaps[0] >= _APART // 3:
            found.add(line)
    return found


def _counting_up(pages: Sequence[Rows]) -> set[tuple[int, int]]:
    """Places (page, line) of lone numbers that count up by one."""
    lone = [
        (number, at, int(row))
        for number, rows in enumerate(pages)
        for at, row in enumerate(rows)
        if re.fullmatch(r"\s*\d{1,3}\s*", row)
    ]
    chain: list[tuple[int, int]] = []
    expected = 0
    for number, at, value in lone:
        if value == expected or (not chain and value <= 3):
            chain.append((number, at))
            expected = value + 1
    return set(chain) if len(chain) >= _INSIDE and len(chain) >= 0.6 * len(lone) else set()
