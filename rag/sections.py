"""The path of headings that a paragraph stands under, e.g. "7 Liability > 7.2 Cap".

Reads a document's paragraphs in order. Numbered clauses nest by their numbers; a heading without
a number lasts until the next numbered clause; entries of a table of contents change nothing.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from rag.headings import CAPITALS, LEVELS, TITLE_CASE, caption, is_heading, mark

CONTENTS = "Contents"
_ENTRY = re.compile(r"(?:\u2026|\s)\s*(?:page\s*)?(?:\d{1,3}|[ivxl]{1,6}|[A-Z]-\d{1,3})\s*$", re.I)
_BARE = re.compile(r"(?P<n>\d{1,2})\s+[A-Z\u3400-\u9fff][^.;:]{2,70}")
_OFTEN = 4  # a heading that stands so many times is a running line that the pages hid
_DEPTH = 3
_LONGEST = 80


@dataclass(frozen=True, slots=True)
class _Heading:
    level: int
    name: str
    numbered: bool


class SectionPath:
    """Follows the headings of one document."""

    def __init__(self, paragraphs: Iterable[str]) -> None:
        """`paragraphs` are the whole document's: what repeats is found in them first."""
        every = [p.strip() for p in paragraphs]
        counts = Counter(text for text in every if len(text) <= 100)
        self._often = {text for text, count in counts.items() if count >= _OFTEN}
        self._bare = {one for one, two in itertools.pairwise(every) if _heads(one, two)}
        self._stack: list[_Heading] = []
        self._contents = False

    def enter(self, paragraph: str) -> str:
        """The path at `paragraph`, which is read next."""
        self._contents = is_contents_entry(paragraph) or (
            paragraph.strip().rstrip(":").lower()
            in ("contents", "table of contents", "目录", "目 录")
        )
        if self._contents:
            return CONTENTS
        bare = paragraph.strip()
        if bare in self._bare:
            self._push(_Heading(LEVELS["number"], bare, True))
        elif bare not in self._often:
            heading = _heading(paragraph)
            if heading is not None:
                self._push(heading)
        return " > ".join(h.name[:_LONGEST] for h in self._stack[-_DEPTH:])

    def _push(self, heading: _Heading) -> None:
        if heading.numbered:
            self._stack = [h for h in self._stack if h.numbered and h.level < heading.level]
        elif heading.level == CAPITALS:
            self._stack = []
        else:
            self._stack = [h for h in self._stack if h.level < heading.level]
        self._stack.append(heading)


def is_contents_entry(paragraph: str) -> bool:
    """Whether a line is a table of contents' entry: a short title, then a page number."""
    if len(paragraph) > 140 or not _ENTRY.search(paragraph):
        return False
    if "\u2026" in paragraph:
        return True
    found = mark(paragraph)
    return (
        found is not None
        and found.kind not in ("bullet", "paren")
        and is_heading(_ENTRY.sub("", paragraph))
    )


def _heads(one: str, two: str) -> bool:
    """Whether `one`, e.g. "5 Delivery and acceptance", is the heading of `two`, "5.1 The …"."""
    number = _BARE.fullmatch(one)
    return bool(number) and number is not None and two.startswith(f"{number['n']}.1")


def _heading(paragraph: str) -> _Heading | None:
    found = mark(paragraph)
    title = caption(paragraph)
    if found is None:
        if not title:
            return None
        capitals = is_heading(paragraph) and title.isupper()
        return _Heading(CAPITALS if capitals else TITLE_CASE, title, False)
    named = found.kind in ("title", "decimal", "zh_article", "zh_annex", "zh_part", "zh_section")
    if found.kind == "bullet" or not (title or named):
        return None
    return _Heading(found.level, f"{found.id} {title}".strip(), True)
