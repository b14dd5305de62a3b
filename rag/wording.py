"""Regular expressions for how clauses are worded. Knows no clause."""

from __future__ import annotations


def near(one: str, other: str, most: int = 120) -> str:
    """`one` and `other` within a sentence, more or less, in any order."""
    gap = rf"[^.;]{{0,{most}}}"
    return rf"(?:{one}){gap}(?:{other})|(?:{other}){gap}(?:{one})"


def then(one: str, other: str, most: int = 120) -> str:
    """`other` after `one` within a sentence, more or less."""
    return rf"(?:{one})[^.;]{{0,{most}}}(?:{other})"
