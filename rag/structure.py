"""Raw pages to clean pages: running headers and footers dropped, page numbers read, text reflowed.

Looks at all pages of a document at once, since what repeats from page to page is no text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from rag.lines import join, paragraphs, tidy
from rag.pdf import RawPage
from rag.quality import is_garbled
from rag.types import Page, PageStatus

_EDGE = 3  # lines at the top and bottom of a page that may be running
_DIGITS = re.compile(r"\d+")
_NUMBER = re.compile(
    r"(?:page|p\.|seite|第)?\s*[-\u2013\u2014\[(|]?\s*(?P<n>\d{1,4}|[ivxlc]{1,7}|[A-Z]-\d{1,3})\s*"
    r"[-\u2013\u2014\])|]?\s*(?:页)?\s*(?:(?:of|/|共)\s*\d{1,4}\s*页?)?",
    re.IGNORECASE,
)
_TAIL_NUMBER = re.compile(r"(?:page|第)\s*(?P<n>\d{1,4})(?:\s*(?:of|/)\s*\d{1,4}|\s*页)?\s*$", re.I)


def clean_pages(raw: Sequence[RawPage]) -> list[Page]:
    """Pages as readers see their text; the numbers printed on them beside the physical ones."""
    lines = [[tidy(line) for line in page.text.split("\n")] for page in raw]
    running = _running(lines)
    pages: list[Page] = []
    for page, rows in zip(raw, lines, strict=True):
        kept, printed = _drop_edges(rows, running)
        text = "\n".join(paragraphs("\n".join(kept)))
        status: PageStatus = "text"
        if not re.search(r"\w", text):
            text, status = "", "empty"
        elif is_garbled(text):
            status = "garbled"
        pages.append(Page(page.number, text, printed or _label(page), status))
    return _join_broken_words(pages)


def _label(page: RawPage) -> str:
    return page.label if page.label != str(page.number) else ""


def _shape(line: str) -> str:
    """A line with its numbers blanked, as it would repeat on the next page."""
    return _DIGITS.sub("#", " ".join(line.split())).casefold()


def _edges(rows: list[str]) -> tuple[list[int], list[int]]:
    """Indexes of the first and last lines that hold something."""
    filled = [i for i, row in enumerate(rows) if row.strip()]
    return filled[:_EDGE], filled[-_EDGE:]


def _running(pages: list[list[str]]) -> set[str]:
    """Shapes of lines at page edges that occur on many pages."""
    counts: Counter[str] = Counter()
    for rows in pages:
        top, bottom = _edges(rows)
        counts.update({_shape(rows[i]) for i in {*top, *bottom}})
    filled = sum(any(row.strip() for row in rows) for rows in pages)
    if filled < 3:
        return set()
    least = max(3, 0.3 * filled)
    return {shape for shape, count in counts.items() if count >= least and len(shape) <= 200}


def _drop_edges(rows: list[str], running: set[str]) -> tuple[list[str], str]:
    """The lines without running ones and page numbers, and the number found."""
    top, bottom = _edges(rows)
    dropped: set[int] = set()
    printed = ""
    for edge in (bottom[::-1], top):
        for index in edge:
            bare = rows[index].strip()
            number = _NUMBER.fullmatch(bare) or _TAIL_NUMBER.search(bare)
            if not (_NUMBER.fullmatch(bare) or _shape(bare) in running):
                break
            dropped.add(index)
            printed = printed or (number.group("n") if number else "")
    return [row for i, row in enumerate(rows) if i not in dropped], printed


def _join_broken_words(pages: list[Page]) -> list[Page]:
    """A word broken between two pages stands whole on the first."""
    done: list[Page] = []
    for page in pages:
        if done and re.search(r"[a-z]{2}[-\u2010\ufffe\x02]$", done[-1].text):
            head = re.match(r"[a-z]+[,.;:]?\s*", page.text)
            if head:
                last = done[-1]
                text = join(last.text, head.group().strip())
                done[-1] = Page(last.number, text, last.printed, last.status)
                page = Page(page.number, page.text[head.end() :], page.printed, page.status)
        done.append(page)
    return done
