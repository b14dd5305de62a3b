"""Cuts a passage into sentences, English and Chinese. It knows characters, not pages or models."""

from __future__ import annotations

import re
from dataclasses import dataclass

_ABBREVIATIONS = frozenset(
    "mr mrs ms dr prof no nos art arts sec secs sect cl para paras fig inc ltd co corp llc u.s "
    "e.g i.e etc vs v cf al approx dept est st jan feb mar apr jun jul aug sep sept oct nov dec "
    "p pp vol ed rev ex exh".split()
)
_LISTED = (
    r"\(?[a-z0-9]{1,4}[.)]|\([A-Z]{1,4}\)|[A-Z][.)] |•|[-–*] |"
    r"[（(]?[一二三四五六七八九十]{1,3}[）)、]"
)
_LABEL = r"[A-Z][\w’'&/() -]{1,40}:\s"
_END = re.compile(
    r"[.!?;][\"”’)\]]*(?=\s)|[。！？；][”’）]*|\n\s*\n|"
    rf"\n(?=\s*(?:{_LISTED}))|\n(?={_LABEL})|(?P<line>\n)"
)
_DAY = re.compile(r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* \d{1,2}$", re.I)
_YEAR = re.compile(r"\s+(?:19|20)\d\d\b")
_SHORT = 12
_CELL = " | "


@dataclass(frozen=True, slots=True)
class Sentence:
    """Characters start ≤ c < stop of the text it was cut from; `text` is exactly those."""

    text: str
    start: int
    stop: int


def split(text: str) -> list[Sentence]:
    """Sentences of `text` in order, without surrounding white space.

    A semicolon ends a sentence too: in contracts it separates items of a list. So do a line that
    begins with a label ("Response Date: …") and a table's row. Pieces under 12 characters (clause
    numbers, "(a)") go with what follows.
    """
    out: list[Sentence] = []
    begin = 0
    for match in _END.finditer(text):
        if _is_abbreviation(text, match) or (
            match["line"] and not _parts_rows(text, match.start())
        ):
            continue
        if len(text[begin : match.end()].strip()) < _SHORT and match.end() < len(text):
            continue
        begin = _append(out, text, begin, match.end())
    _append(out, text, begin, len(text))
    return out


def _append(out: list[Sentence], text: str, begin: int, end: int) -> int:
    piece = text[begin:end]
    start = begin + len(piece) - len(piece.lstrip())
    stop = end - (len(piece) - len(piece.rstrip()))
    if start < stop:
        out.append(Sentence(text[start:stop], start, stop))
    return end


def _parts_rows(text: str, at: int) -> bool:
    """Whether the line break at `at` ends or begins a table's row: cells are parted by " | "."""
    before = text[text.rfind("\n", 0, at) + 1 : at]
    after = text[at + 1 :].split("\n", 1)[0]
    return (_CELL in before or _CELL in after) and not after.startswith("|")


def _is_abbreviation(text: str, match: re.Match[str]) -> bool:
    if text[match.start()] != ".":
        return False
    before = re.search(r"[\w.]+$", text[max(0, match.start() - 12) : match.start()])
    if before is None:
        return False
    word = before.group().lower()
    following = text[match.end() :].lstrip()[:1]
    return (
        word in _ABBREVIATIONS
        or (len(word) == 1 and word.isalpha())
        or (
            re.fullmatch(r"[\d.]+", word) is not None
            and len(word) <= 6
            and _starts_line(text, match)
        )
        or following.islower()
        or _is_date(text, match)
    )


def _is_date(text: str, match: re.Match[str]) -> bool:
    """True within "March 18. 2021", as scans have it."""
    before = text[max(0, match.start() - 14) : match.start()]
    return bool(_YEAR.match(text, match.end()) and _DAY.search(before))


def _starts_line(text: str, match: re.Match[str]) -> bool:
    """True if only the number stands before the dot on its line: a clause number."""
    line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
    return re.fullmatch(r"\s*[\d.]+", line) is not None
