"""A sentence that points to another clause: "in accordance with Section 7.5".

It knows words, not documents: it says which clause should be looked up, and whether that helped.
"""

from __future__ import annotations

import re

from rag.answer_type import holds_expected

_CLAUSE = re.compile(
    r"\b(?:section|clause|article|paragraph|schedule|exhibit|annex)s?\s+"
    r"(?:\d+(?:\.\d+)*|[A-Z]\b|[IVX]+\b)(?:\s?\([a-z0-9]{1,3}\))?|第[\d一二三四五六七八九十百.]+[条款]",
    re.IGNORECASE,
)


def clause(question: str, sentence: str) -> str:
    """The clause that a sentence points to, if the sentence lacks the kind of thing asked for."""
    if held(question, sentence):
        return ""
    places = [m for m in _CLAUSE.finditer(sentence) if m.start() > 0]  # the first is its own number
    return places[-1].group() if places else ""


def held(question: str, sentence: str) -> bool:
    """Whether a sentence holds the kind of thing asked for, if one is."""
    return holds_expected(question, sentence) > 0.0
