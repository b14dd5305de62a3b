"""The date of an agreement, and the date on which it becomes effective, as its opening states them.

"This Lease is made and entered into as of May 3, 1999 …": it is the first such sentence of the
first pages, before any paper that the recitals name. Knows chunks; no question.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from rag import hallmarks, sentences
from rag.quote import Quote
from rag.types import Chunk

AGREEMENT, EFFECTIVE = "Agreement date", "Effective date"
_PAGES = 5  # a cover and a table of contents may stand before
_PAPER = re.compile(
    r"agreement|contract|lease|licen[cs]e|deed|addendum|amendment|policy|合同|协议", re.IGNORECASE
)
_EFFECTIVE = re.compile(r"\beffective\b|\bcommenc|\binto (force|effect)|生效", re.IGNORECASE)
_THIS = re.compile(r"\b(?:THIS|This)\s(?=[^.;()]{0,80}(?i:agreement|contract|lease|deed|addendum))")
_RECITAL = re.compile(r"\bwhereas\b|\brecitals\b|\bbackground\b", re.IGNORECASE)


def find(kind: str, chunks: Iterable[Chunk]) -> Quote | None:
    """The sentence that states a date of one of the two kinds; None if the opening doesn't."""
    for chunk in (chunk for chunk in chunks if chunk.page <= _PAGES):
        for sentence in sentences.split(chunk.text):
            text = sentence.text
            if _RECITAL.match(text.strip()):
                return None
            if _states(kind, text):
                start = sentence.start + _begins(kind, text)
                return Quote(chunk.text[start : sentence.stop], chunk, start, sentence.stop, 1.0)
    return None


def _begins(kind: str, text: str) -> int:
    """Where "This Agreement …" begins: exhibits, a title and a list of contents may run into it."""
    places = [
        match.start() for match in _THIS.finditer(text) if _states(kind, text[match.start() :])
    ]
    return places[-1] if places else 0


def _states(kind: str, text: str) -> bool:
    if not _PAPER.search(text) or not hallmarks.borne([kind], text):
        return False
    return kind == AGREEMENT or bool(_EFFECTIVE.search(text))
