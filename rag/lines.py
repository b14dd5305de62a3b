"""Lines of a page to clean paragraphs: odd characters, broken words, reflow.

Knows how extractors spell things (ligatures, soft hyphens, control characters), and what begins a
new paragraph in a contract: a clause number, a heading, a list mark, a table row. Knows no pages
around it; `structure` drops running headers and footers first.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from rag.headings import is_heading, starts_clause

_COMPATIBLE = re.compile(r"[\ufb00-\ufb4f\ufb50-\ufdff\ufe70-\ufeff\u2f00-\u2fdf\u2e80-\u2eff]")
_INVISIBLE = re.compile(r"[\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_CONTROL = re.compile(r"[\x00-\x01\x03-\x08\x0b\x0e-\x1f\x7f-\x9f]")
_BROKEN = re.compile(r"[\ufffe\x02\xad]\s*$")  # pdfium's and Unicode's marks of a broken word
_HYPHEN = re.compile(r"(?<=[a-z]{2})[-\u2010]$")
_SPACES = re.compile(r"[ \t\xa0\u2000-\u200a\u202f\u205f\u3000]+")
_CJK = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]")
_LEADERS = re.compile(r"(?:\.\s?){5,}|\u2026{2,}|_{5,}")
_COLUMNS = re.compile(r"\S {3,}\S+.* {3,}\S|\t\S*.*\t")
_ENDS = re.compile(r"[.;:!?\u3002\uff1b\uff1a\uff01\uff1f][\"'\u201d\u2019)]*$")
_REFERS = re.compile(
    r"(?:sections?|articles?|clauses?|paragraphs?|schedule|exhibit|under|to|in|of|and|or|with|by|"
    r"than|within|the|see|this|such|least|[(,])$",
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


def paragraphs(lines: Sequence[str]) -> list[str]:
    """The paragraphs of a page's tidy lines: wrapped lines joined, words whole, tables by line."""
    width = _usual_width(lines)
    done: list[str] = []
    last = ""  # the line before, as it stood; empty before a paragraph
    for line in lines:
        bare = line.strip()
        if bare and done and last and not _begins(bare, last, width):
            done[-1] = join(done[-1], bare)
        elif bare:
            done.append(bare)
        last = bare
    return [squeezed for p in done if re.search(r"\w", squeezed := squeeze(p))]


def squeeze(text: str) -> str:
    """Runs of white space as one space; leftover marks of broken words gone."""
    text = _LEADERS.sub(" \u2026 ", text)
    text = text.replace("\xad", "").replace("\ufffe", "-").replace("\x02", "-")
    return _SPACES.sub(" ", text).strip()


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
    """Whether `line` begins a paragraph, given the line before it."""
    if starts_clause(line) and not _wrapped_reference(last):
        return True
    if _is_row(line) or _is_row(last):
        return True
    if is_heading(last) and not (last.isupper() and line.isupper()):
        return True
    if is_heading(line) and (_ENDS.search(last) or line.isupper() != last.isupper()):
        return True
    return bool(_ENDS.search(last)) and _cells(last) < 0.75 * width


def _wrapped_reference(last: str) -> bool:
    """A line that ends like "pursuant to Section": the number that follows is no clause's."""
    return bool(_REFERS.search(last)) and not _ITEM_ENDS.search(last)


def _is_row(line: str) -> bool:
    return bool(_LEADERS.search(line) or _COLUMNS.search(line))


def _usual_width(lines: Sequence[str]) -> int:
    """Width of a full line: that of the tenth widest in a hundred."""
    widths = sorted(_cells(line.strip()) for line in lines if line.strip())
    return widths[int(0.9 * (len(widths) - 1))] if widths else 0


def _cells(line: str) -> int:
    return len(line) + len(_CJK.findall(line))
