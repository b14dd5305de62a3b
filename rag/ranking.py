"""Scores the chunks of shelves for a question: meaning, words, exact things, place.

Meaning is the cosine of the chunk's vector with the question's, drawn towards the usual wording of
the kinds of clause asked for. Words are ranked by BM25 (Robertson and Zaragoza 2009), the
question's own above those that such clauses usually hold. Both are brought to one scale and added.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rag import hallmarks
from rag.answer_type import holds_expected
from rag.keywords import words
from rag.questions import Question
from rag.shelf import Floats, Shelf, spaced
from rag.vectors import Vectors


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each sign counts; calibrated on half of the evaluation's documents.

    Attributes:
        wording: the wording of the kind of clause, beside the question itself.
        term: a word that such clauses hold, beside one of the question.
        keywords: words, beside meaning.
        generic: a word that every contract is full of, such as "party".
        exact: a clause number, amount, quoted word or defined term found as written.
        defines: the clause that defines a term, by its share in the question.
        start: the beginning of the document, where titles, parties and dates stand.
        expected: a thing of the kind asked for, such as a date or an amount.
        hallmark: what a clause of the kind asked for can hardly do without.
        contents: a table of contents.
        saturation, length: BM25's k1 and b.
    """

    wording: float = 1.0
    term: float = 0.5
    keywords: float = 1.0
    generic: float = 0.25
    exact: float = 0.6
    defines: float = 3.0
    start: float = 5.0
    expected: float = 0.5
    hallmark: float = 1.0
    contents: float = -1.5
    saturation: float = 1.2
    length: float = 0.75


DEFAULT = Weights()
_CLOSER = 20  # chunks that are looked at once more
_GENERIC = frozenset(
    words(
        "party parties agreement contract document policy other certain one each thing happens"
        " required require must may section clause provision following herein hereof hereby stated"
    )
)
Rarity = Callable[[str], float]


def query_vector(text: Vectors, wordings: Vectors, weights: Weights = DEFAULT) -> Vectors:
    """One vector (D,) from the question's (D,) and those of the wordings (W, D)."""
    if not len(wordings):
        return text
    drawn: Vectors = text + weights.wording * wordings.mean(0)
    return drawn / np.linalg.norm(drawn)


def query_words(question: Question, weights: Weights = DEFAULT) -> dict[str, float]:
    """Search words with their weights."""
    wanted = {w: weights.generic if w in _GENERIC else 1.0 for w in words(question.text)}
    for word in words(" ".join(question.expansion.terms)):
        wanted.setdefault(word, weights.term)
    return wanted


def bm25(
    shelf: Shelf, wanted: Mapping[str, float], rarity: Rarity, mean_length: float, weights: Weights
) -> Floats:
    """The score of each chunk, shape (N,)."""
    scores = np.zeros(len(shelf))
    k1, b = weights.saturation, weights.length
    damping = k1 * (1 - b + b * shelf.lengths / max(1.0, mean_length))
    for word, weight in wanted.items():
        rows, counts = shelf.holding(word)
        if len(rows):
            scores[rows] += weight * rarity(word) * counts * (k1 + 1) / (counts + damping[rows])
    return scores


def rarity_in(shelves: Sequence[Shelf]) -> Rarity:
    """BM25's inverse document frequency, counted over these shelves."""
    total = sum(map(len, shelves))

    def rarity(word: str) -> float:
        holding = sum(len(shelf.holding(word)[0]) for shelf in shelves)
        return math.log(1 + (total - holding + 0.5) / (holding + 0.5))

    return rarity


def score(
    shelves: Sequence[Shelf],
    question: Question,
    query: Vectors,
    rarity: Rarity | None = None,
    weights: Weights = DEFAULT,
) -> Floats:
    """Scores of all chunks of the shelves, one after the other, shape (sum of N,)."""
    rarity = rarity or rarity_in(shelves)
    wanted = query_words(question, weights)
    mean_length = float(np.concatenate([shelf.lengths for shelf in shelves]).mean())
    meaning = np.concatenate([shelf.vectors @ query for shelf in shelves]).astype(np.float64)
    keywords = np.concatenate(
        [bm25(shelf, wanted, rarity, mean_length, weights) for shelf in shelves]
    )
    signs = np.concatenate([_signs(shelf, question, weights) for shelf in shelves])
    total: Floats = standard(meaning) + weights.keywords * standard(keywords) + signs
    texts = [text for shelf in shelves for text in shelf.texts]
    for place in np.argsort(-total)[:_CLOSER]:
        total[place] += weights.expected * (holds_expected(question.text, texts[place]) - 0.5)
        borne = hallmarks.borne(question.expansion.names, texts[place])
        total[place] += weights.hallmark * bool(borne)
    return total


def standard(values: Floats) -> Floats:
    """Mean 0 and deviation 1, so that unlike scores can be added."""
    deviation = float(values.std())
    centred: Floats = values - values.mean()
    return centred / deviation if deviation > 1e-9 else np.zeros_like(centred)


def _signs(shelf: Shelf, question: Question, weights: Weights) -> Floats:
    """What is looked up rather than ranked."""
    found: Floats = weights.contents * shelf.contents.astype(np.float64)
    if question.expansion.place == "start":
        found += weights.start * shelf.openings
    for thing in question.exact:
        places = _places(shelf, thing)
        if places:
            found[places] += weights.exact * (1 - len(places) / len(shelf))
    asked = spaced(question.text)
    content = set(words(question.text)) - _GENERIC
    for term, place in shelf.definitions:
        if term in asked:
            share = len(set(words(term)) & content) / max(1, len(content))
            found[place] += weights.defines * min(1.0, share * (2 if question.defines else 1))
    return found


def _places(shelf: Shelf, thing: str) -> list[int]:
    """Chunks that hold something as written, whole words only, in any case."""
    bare = thing.lower()
    pattern = re.compile(rf"(?<!\w){re.escape(bare)}(?!\w)")
    return [n for n, text in enumerate(shelf.folded) if bare in text and pattern.search(text)]
