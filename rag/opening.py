"""How an answer begins: the subject of the question, so that a small model starts on the point.

Left to itself it begins as its last answer did. English rules only; it knows words, not models.
"""

from __future__ import annotations

import re

_COPULA = re.compile(
    r"^(?:and\s+|so\s+)?(?:what|which|who|when|where)\s+(?P<be>is|are|was|were)\s+(?P<rest>.+?)\s*\?*$",
    re.IGNORECASE,
)
_PASSIVE = re.compile(
    r"^(?:and\s+|so\s+)?how\s+(?P<be>is|are|was|were)\s+(?P<rest>.+?)\s*\?*$", re.IGNORECASE
)
_VERB = re.compile(
    r"\b(?:does|do|did|must|shall|will|can|may|should|has|have|is|are)\s+"
    r"(?P<who>(?:the|each|either|a|an)\s+[\w-]+(?:[’']s)?(?:\s+(?:party|parties|bank|agent))?)\s",
    re.IGNORECASE,
)
_LOOSE = re.compile(
    r"\b(it|they|he|she|this|that|there|these|those|main|key|happens)\b", re.IGNORECASE
)
_LONGEST = 14


def opening(question: str) -> str:
    """The words an answer begins with, or nothing where the rules see no clear subject."""
    text = " ".join(question.split())
    if match := _PASSIVE.match(text):
        words = match["rest"].split()
        if len(words) >= 2 and words[-1].endswith(("ed", "made", "paid", "given", "set", "held")):
            return _capital(f"{' '.join(words[:-1])} {match['be'].lower()} {words[-1]}")
    if (match := _COPULA.match(text)) and _plain(match["rest"]):
        return _capital(f"{match['rest']} {match['be'].lower()}")
    if (match := _VERB.search(text)) and not _COPULA.match(text):
        return _capital(match["who"])
    return ""


def _plain(rest: str) -> bool:
    """True for a noun phrase of moderate length, without pronouns or a second verb."""
    return (
        len(rest.split()) <= _LONGEST
        and not _LOOSE.search(rest)
        and not re.search(r"\b(if|when|due|needed|required|made|paid|deemed)\b", rest)
    )


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
