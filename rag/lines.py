"""Lines of a page to clean paragraphs: odd characters, broken words, reflow.

Knows how extractors spell things (ligatures, soft hyphens, control characters), and what begins a
new paragraph in a contract: a clause number, a heading, a list mark, a table row. Knows no pages
around it; `structure` drops running headers and footers first.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence, Set

from rag.headings import is_heading, starts_clause

# Invisible, and in no tidy line: here a page number stood in the midst of a sentence.
LEFT_OUT = "\u200b"
_COMPATIBLE = re.compile(r"[\ufb00-\ufb4f\ufb50-\ufdff\ufe70-\ufeff\u2f00-\u2fdf\u2e80-\u2eff]")
_INVISIBLE = re.compile(r"[\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_CONTROL = re.compile(r"[\x00-\x01\x03-\x08\x0b\x0e-\x1f\x7f-\x9f]")
_BROKEN = re.compile(r"[\ufffe\x02\xad]\s*$")  # pdfium's and Unicode's marks of a broken word
_HYPHEN = re.compile(r"(?<=[a-z]{2})[-\u2010]$")
_SPACES = re.compile(r"[ \t\xa0\u2000-\u200a\u202f\u205f\u3000]+")
_CJK = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]")
_LEADERS = re.compile(r"(?:\.\s?){5,}|\u2026{2,}|_{5,}")
_COLUMNS = re.compile(r"\S {3,}\S+.* {3,}\S|\S\t\S|\u2026 \d{1,4}$")
_MARK_GAP = re.compile(
    r"^(\s*(?:\(?[A-Za-z0-9]{1,4}[.)]|\d{1,2}(?:\.\d{1,2})*|[\u2022\u25cf\u25aa\uf0b7*\u2013-]|"
    r"[\u201c\"](?=[A-Z])|(?:section|article|clause|第\S{1,4}条)\s*[\w.]*))\t",
    re.IGNORECASE,
)
_PAGE_CELL = re.compile(r"\S\t(?P<n>\d{1,4})\s*$")
_CONTENTS = 3  # entries of a table of contents, at least
_SHORT = 0.55  # share of a full line below which a line wasn't wrapped
_INNER_BREAK = re.compile(r"\b([A-Za-z]+)[\ufffe\x02](?=[a-z])")
_ENDS = re.compile(r"[.;:!?\u3002\uff1b\uff1a\uff01\uff1f][\"'\u201d\u2019)]*$")
_REFERS = re.compile(
    r"(?:sections?|articles?|clauses?|paragraphs?|schedule|exhibit|under|to|in|of|and|or|with|by|"
    r"than|within|the|see|this|such|least|[(,])$",
    re.IGNORECASE,
)
_WAITS = re.compile(
    r"\b(?:a|an|and|any|are|as|at|be|been|between|by|dated|each|for|from|has|have|in|into|is|its|"
    r"may|means|no|not|of|on|or|our|section|shall|such|than|that|the|their|this|to|under|upon|"
    r"which|will|with|within|your|,)$",
    re.IGNORECASE,
)
_ITEM_ENDS = re.compile(r"[;,]\s*(?:and|or|and/or)$", re.IGNORECASE)
_KEPT_HYPHEN = frozenset(
    """non self co pre post re sub anti multi semi cross well third arm long short half ex inter
    end first one two three five ten on off in out so""".split()
)


def tidy(line: str) -> str:
    """One line with its letters as written: no ligatures, invisible or control characters."""
    line = _COMPATIBLE.sub(lambda m: unicodedata.normalize("NFKC", m.group()), line)
    line = _INVISIBLE.sub("", _CONTROL.sub(" ", line))
    return line.rstrip()


def paragraphs(lines: Sequence[str], left_out: Set[int] = frozenset()) -> list[str]:
    """The paragraphs of a page's tidy lines: wrapped lines joined, words whole, tables by row.

    After the lines `left_out` a running line stood; `LEFT_OUT` marks the place in a paragraph.
    """
    lines = _contents_marked([_without_mark_gap(line) for line in lines])
    width = _usual_width(lines)
    done: list[str] = []
    last, in_row = "", False  # the line before, as it stood; whether it belongs to a row
    omitted = False  # whether a running line stood since the last line with text
    for place, line in enumerate(lines):
        bare = line.strip()
        continued = line.startswith("\t") and bool(last) and not starts_clause(bare)
        row = _is_row(bare)
        begins = row or in_row or not last or _begins(bare, last, width)
        if bare and omitted and done:
            done[-1] = _marked(done[-1], bare)
        if bare and done and (continued or not begins):
            done[-1] = join(done[-1], bare)
        elif bare:
            done.append(bare)
        last, in_row = bare, row or (continued and in_row)
        omitted = place in left_out or (omitted and not bare)
    return [squeezed for p in done if re.search(r"\w", squeezed := squeeze(p))]


def _marked(paragraph: str, line: str) -> str:
    """A paragraph, marked at its end unless a sentence ends there or a word is broken."""
    whole = join(paragraph, line) == f"{paragraph} {line}"
    return paragraph + LEFT_OUT if whole and not _ENDS.search(paragraph) else paragraph


def without_marks(text: str) -> str:
    """A text as it is shown, without the marks of lines that were left out."""
    return text.replace(LEFT_OUT, "")


def _without_mark_gap(line: str) -> str:
    """The gap between a clause's mark and its text is no table's."""
    found = _MARK_GAP.match(line)
    if found and not (found.group(1).strip().isdigit() and "\t" in line[found.end() :]):
        return f"{found.group(1)} {line[found.end() :]}"
    return line


def _contents_marked(lines: Sequence[str]) -> list[str]:
    """Where three lines or more end in page numbers that don't fall, a leader before each."""
    done = list(lines)
    run: list[int] = []
    before = -1
    for place, line in enumerate([*lines, ""]):
        found = _PAGE_CELL.search(line)
        number = int(found["n"]) if found and line.count("\t") == 1 else -1
        if run and (number < before or number < 0):
            if len(run) >= _CONTENTS:
                for entry in run:
                    done[entry] = done[entry].replace("\t", " \u2026 ")
            run = []
        if number >= 0:
            run.append(place)
        before = number
    return done


def squeeze(text: str) -> str:
    """Runs of white space as one space, cells parted by bars, broken words whole."""
    text = _LEADERS.sub(" \u2026 ", text)
    text = _INNER_BREAK.sub(lambda m: m[1] + ("-" if m[1].lower() in _KEPT_HYPHEN else ""), text)
    text = text.replace("\xad", "").replace("\ufffe", "-").replace("\x02", "-")
    return _SPACES.sub(" ", re.sub(r"\s*\t\s*", " | ", text)).strip()


def join(first: str, second: str) -> str:
    """Two pieces of a paragraph: a word broken between them is joined, Chinese needs no space."""
    if _BROKEN.search(first):
        return _BROKEN.sub("", first) + second
    if _HYPHEN.search(first) and second[:1].islower():
        before = re.findall(r"[A-Za-z]+", first)[-1].lower()
        return (first if before in _KEPT_HYPHEN else first[:-1]) + second
    if first[-1:] == "-":
        return first + second
    if _CJK.match(first[-1:]) and _CJK.match(second[:1]):
        return first + second
    return f"{first} {second}"


def _begins(line: str, last: str, width: int) -> bool:
    """Whether `line` begins a paragraph, given the line before it; neither is a table's row."""
    if starts_clause(line) and not _wrapped_reference(last):
        return True
    if is_heading(last) and not (last.isupper() and line.isupper()):
        return True
    if is_heading(line) and (_ENDS.search(last) or line.isupper() != last.isupper()):
        return True
    if _cells(last) < _SHORT * width and not (line[:1].islower() or _goes_on(last)):
        return True
    return bool(_ENDS.search(last)) and _cells(last) < 0.75 * width


def _goes_on(last: str) -> bool:
    """A line that can't be a paragraph's last: its last word or a bracket waits for another."""
    if _WAITS.search(last):
        return True
    return last.count("(") > last.count(")") or last.count("\u201c") > last.count("\u201d")


def _wrapped_reference(last: str) -> bool:
    """A line that ends like "pursuant to Section": the number that follows is no clause's."""
    return bool(_REFERS.search(last)) and not _ITEM_ENDS.search(last)


def _is_row(line: str) -> bool:
    return bool(_LEADERS.search(line) or _COLUMNS.search(line))


def _usual_width(lines: Sequence[str]) -> int:
    """Width of a full line: that of the tenth widest in a hundred."""
    widths = sorted(_cells(line.strip()) for line in lines if line.strip())
    return widths[math.ceil(0.9 * (len(widths) - 1))] if widths else 0


def _cells(line: str) -> int:
    return len(line) + len(_CJK.findall(line))
