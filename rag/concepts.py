"""A concept of contract language: how people ask for it, and how clauses word it.

People ask "can they walk away early?", clauses say "may terminate this Agreement for convenience
upon thirty days' written notice". The lexicons (`lexicon_*`) hold general kinds of clause, in no
document's words; `Expansion` brings a question nearer to the wording of the clauses it asks for.
Knows no index.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal


@dataclass(frozen=True, slots=True)
class Concept:
    """A kind of clause.

    Attributes:
        name: the usual caption.
        asked: a regular expression over the lower-case question.
        over: the name of a wider concept that isn't meant where this one is.
        needs: another one, that the question must hold too with its preamble; empty: none.
        terms: words that such clauses hold, for the keyword search.
        wording: typical wording, for the vector search.
        place: where such text usually stands in a document, if that is usual at all.
    """

    name: str
    asked: str
    terms: str
    wording: str
    place: Literal["", "start", "end"] = ""
    needs: str = ""
    over: str = ""


@dataclass(frozen=True, slots=True)
class Expansion:
    """What the concepts of a question add to it."""

    names: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()
    wordings: tuple[str, ...] = ()
    place: Literal["", "start", "end"] = ""


Patterns = tuple[tuple[Concept, re.Pattern[str]], ...]


def expand(
    question: str,
    context: str = "",
    concepts: Sequence[Concept] | None = None,
    most: int = 2,
) -> Expansion:
    """The concepts that a question asks for: the longest match first, at most `most`.

    `context` is the question with what was taken off it, e.g. the kind of document it names.
    """
    patterns = _compiled() if concepts is None else _compile(concepts)
    return _expand(_plain(question), _plain(context), patterns, most)


@lru_cache(maxsize=64)  # several parts of an answer ask for the same question's
def _expand(text: str, context: str, patterns: Patterns, most: int) -> Expansion:
    around = f"{context} {text}"
    found: list[tuple[int, Concept]] = []
    for concept, pattern in patterns:
        lengths = [len(match.group()) for match in pattern.finditer(text)]
        if lengths and re.search(concept.needs, around):
            found.append((sum(lengths), concept))
    found.sort(key=lambda pair: -pair[0])
    wider = {concept.over for _, concept in found}
    chosen = [concept for _, concept in found if concept.name not in wider][:most]
    places = [concept.place for concept in chosen if concept.place]
    return Expansion(
        tuple(concept.name for concept in chosen),
        tuple(term for concept in chosen for term in concept.terms.split()),
        tuple(concept.wording for concept in chosen),
        places[0] if places else "",
    )


def _plain(text: str) -> str:
    return " ".join(text.lower().replace("\u2019", "'").split())


def _compile(concepts: Sequence[Concept]) -> Patterns:
    return tuple((concept, re.compile(concept.asked)) for concept in concepts)


@cache
def _compiled() -> Patterns:
    from rag import (
        lexicon_chinese,
        lexicon_commercial,
        lexicon_general,
        lexicon_mergers,
        lexicon_privacy,
        lexicon_secrecy,
        lexicon_supply,
    )

    modules = (
        lexicon_general,
        lexicon_commercial,
        lexicon_supply,
        lexicon_secrecy,
        lexicon_mergers,
        lexicon_privacy,
        lexicon_chinese,
    )
    return _compile([concept for module in modules for concept in module.CONCEPTS])
