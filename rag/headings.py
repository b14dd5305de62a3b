"""Recognises the headings and clause numbers of contracts, in English and Chinese.

"12.3(b)", "Section 4.2", "ARTICLE IX", "Schedule 2", "第十二条", "附件二", "（一）": what kind of
mark a paragraph begins with and how deep it stands. Knows single paragraphs only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_ZH = "零〇一二三四五六七八九十百千两0-9０-９"
_ROMAN = r"(?=[IVXLC])(?:C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})"
_TITLE = (
    r"(?P<title>(?i:article|section|clause|part|chapter|schedule|exhibit|annex|appendix|attachment|"
    r"addendum|amendment|item|§))\s+(?P<id>[A-Z]-?\d+|\d+(?:\.\d+)*[A-Za-z]?|"
    + _ROMAN
    + r"|[A-Z])\b"
)
_PAREN = r"(?P<paren>(?:\s?\([a-zA-Z0-9]{1,4}\))*)"
_ITEM = r"(?:\([a-zA-Z]{1,4}\)|\(\d{1,3}\))(?:\s?\((?:[a-z]{1,4}|\d{1,2})\))*"
_MARKS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        ("title", _TITLE + _PAREN + r"[.:\s\u2013\u2014-]*"),
        (
            "decimal",
            r"(?P<id>\d{1,3}(?:\.\d{1,3}){1,5})\.?"
            + _PAREN
            + r"(?=\s|$|[A-Z\u201c\"\u3400-\u9fff])\s*",
        ),
        ("number", r"(?P<id>\d{1,3})\s?[.)、．](?!\d)\s*"),
        ("letter", r"(?P<id>[A-Za-z]|" + _ROMAN + r"|[ivx]{1,5})[.)](?=\s)\s*"),
        ("paren", rf"(?P<id>{_ITEM})\s*"),
        ("zh_part", rf"(?P<id>第[{_ZH}]+(?:编|分编|部分|章))\s*"),
        ("zh_section", rf"(?P<id>第[{_ZH}]+节)\s*"),
        ("zh_article", rf"(?P<id>第[{_ZH}]+条(?:之[{_ZH}]+)?)\s*"),
        ("zh_annex", rf"(?P<id>(?:附件|附录|附表)[{_ZH}A-Z]*)\s*[:：]?\s*"),
        ("zh_number", r"(?P<id>[一二三四五六七八九十]{1,3})[、．.]\s*"),
        ("zh_paren", r"(?P<id>[（(][一二三四五六七八九十\d]{1,3}[）)])\s*"),
        ("bullet", r"(?P<id>[•●▪◦‣·*\uf0b7o-])\s+"),
    )
)
LEVELS = {
    "zh_annex": 3, "zh_section": 4, "title": 10, "zh_article": 15, "zh_number": 18,
    "number": 20, "decimal": 20, "letter": 60, "paren": 70, "zh_paren": 70, "bullet": 90,
}  # fmt: skip
CAPITALS, TITLE_CASE = 10, 80
"""Levels of headings without a mark."""

_ATTACHED = re.compile(r"(?:schedule|exhibit|annex|appendix|attachment|part)\b", re.IGNORECASE)
_SMALL = frozenset(
    "a an and as at by for from in of on or the to under with without upon its via per".split()
)
_CAPTION = re.compile(
    r"(?P<caption>[A-Z][\w\u2019'/&,;\u2013\u00a0 ()-]{2,90}?)"
    r"(?:\.(?=\s)|[.:]?\s[\u2014\u2013-]{1,2}\s|:(?=\s)|\.$)"
)
_MOST_HEADING = 100


@dataclass(frozen=True, slots=True)
class Mark:
    """What a paragraph begins with.

    Attributes:
        kind: a key of the table above, e.g. "decimal".
        id: the mark itself, e.g. "12.3", "ARTICLE IX", "第十二条".
        level: depth, a smaller number for what is higher up.
        stop: where the text after the mark begins.
    """

    kind: str
    id: str
    level: int
    stop: int


def mark(paragraph: str) -> Mark | None:
    """The clause number or list mark at the beginning, if there is one."""
    for kind, pattern in _MARKS:
        found = pattern.match(paragraph)
        if not found:
            continue
        identity = found.group("id")
        level = LEVELS.get(kind, 0)
        if kind == "title":
            word = found.group("title")
            if not word[0].isupper() and word != "§":
                continue
            level = _title_level(word, identity)
            identity = f"{word} {identity}"
        elif kind == "decimal":
            level += 10 * identity.count(".")
        elif kind == "zh_part":
            level = 3 if identity.endswith("章") else 2 if identity.endswith("分编") else 1
        return Mark(kind, identity + (found.groupdict().get("paren") or ""), level, found.end())
    return None


def _title_level(word: str, identity: str) -> int:
    if word.lower() in ("section", "clause", "§", "item"):
        return LEVELS["number"] + 10 * identity.count(".")
    return LEVELS["title"]


def starts_clause(line: str) -> bool:
    """Whether a line begins a numbered clause or a list item."""
    found = mark(line)
    if found is None:
        return False
    if found.kind == "title":
        rest = line[found.stop :]
        return not rest or rest[:1].isupper() or not rest[:1].isalpha()
    if found.kind in ("number", "letter"):
        rest = line[found.stop :]
        return not rest or not rest[:1].islower()
    return True


def caption(paragraph: str) -> str:
    """The caption of a clause, e.g. "Governing Law" of "12.3 Governing Law. This…"; or empty."""
    found = mark(paragraph)
    rest = paragraph[found.stop :] if found else paragraph
    if is_heading(paragraph):
        return rest.strip(" .:\u2014\u2013-").strip()
    run_in = _CAPTION.match(rest)
    if run_in and (found or len(run_in.group("caption").split()) <= 8):
        text = run_in.group("caption").strip()
        if _is_title_case(text):
            return text
    return ""


def is_heading(paragraph: str) -> bool:
    """Whether a whole paragraph is a heading: short, in capitals or title case, no full stop."""
    text = paragraph.strip()
    if not text or len(text) > _MOST_HEADING:
        return False
    found = mark(text)
    if found and found.kind.startswith("zh_"):
        return len(text) <= 30 and not re.search(r"[。；，、]", text[found.stop :])
    rest = text[found.stop :].strip() if found else text
    if found and found.kind in ("bullet", "paren"):
        return False
    if not rest:
        return bool(found) and found is not None and found.kind == "title"
    if re.search(r"[.;,:]$", rest) and not (found and rest.endswith((".", ":"))):
        return False
    if re.search(r":\s*\S|/s/|@|\d{5}|[a-z]{2}\.\s+[A-Z]", rest):
        return False  # a label with its value, a signature, an address, two sentences
    letters = [c for c in rest if c.isalpha()]
    if len(letters) < 3 or len(letters) < 0.6 * len(rest.replace(" ", "")):
        return False
    if all(c.isupper() for c in letters):
        return True
    if found and found.kind == "title" and _ATTACHED.match(text) and len(rest.split()) <= 7:
        return rest[:1].isupper()
    return _is_title_case(rest.rstrip(".:")) and len(rest.split()) <= 10


def _is_title_case(text: str) -> bool:
    names = [w for w in re.findall(r"[^\W\d_][\w\u2019'-]*", text) if w.lower() not in _SMALL]
    if not names or len(names) > 12:
        return False
    return sum(w[0].isupper() for w in names) >= 0.8 * len(names) and text[:1].isupper()
