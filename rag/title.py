"""The title of a document: "What is this document called?".

It is the first line of the first pages that names a kind of document and is written as a title;
failing that, the first such words in capitals within a line.
Knows chunks; no question.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from rag.quote import Quote
from rag.types import Chunk

_PAGES = 3  # a cover and a table of contents may stand before
_WORDS = 14
_KIND = re.compile(
    r"\b(agreement|contract|lease|licen[cs]e|policy|deed|amendment|addendum|order|terms|conditions|"
    r"memorandum|undertaking|guarant(y|ee)|plan|charter|bylaws|articles|statement|schedule|notice|"
    r"report|act|manual)\b|合同|协议|章程|条款|声明|通知",
    re.IGNORECASE,
)
_CAPITALS = re.compile(
    r"\b(?!THIS\b)(?:[A-Z][A-Z'’&-]+[ ,/]+){1,9}(?:AGREEMENT|CONTRACT|LEASE|LICEN[CS]E|POLICY|DEED"
    r"|AMENDMENT|PLAN|CHARTER)\b"
)
_SMALL = frozenset("a an and as between by for from in of on or the to with".split())
_EXHIBIT = re.compile(r"(exhibit|annex|appendix|execution|page|exh?\.)\b", re.IGNORECASE)


def find(chunks: Iterable[Chunk]) -> Quote | None:
    """The title as a quotation; None if none can be told."""
    first = [chunk for chunk in chunks if chunk.page <= _PAGES]
    for chunk in first:
        at = 0
        for line in chunk.text.split("\n"):
            text = line.strip()
            if _is_title(text):
                start = at + line.index(text)
                return Quote(text, chunk, start, start + len(text), 1.0)
            at += len(line) + 1
    for chunk in first:
        if match := _CAPITALS.search(chunk.text):
            return Quote(match.group(), chunk, match.start(), match.end(), 1.0)
    return None


def _is_title(line: str) -> bool:
    words = re.findall(r"[^\W\d_][\w'’&-]*", line)
    if not _KIND.search(line) or len(words) > _WORDS or line.endswith((".", ",", ";", ":")):
        return False
    if _EXHIBIT.match(line):
        return False
    return all(word[0].isupper() or word in _SMALL or word[0] > "\u2e80" for word in words)
