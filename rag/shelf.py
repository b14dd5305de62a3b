"""A document's chunks in memory, as the ranking needs them: vectors and word counts by word.

Built from rows, kept by `Shelves` for the documents asked about lately. Knows no question.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag.sections import CONTENTS
from rag.vectors import Vectors

_OPENING = 4  # chunks in which a document's title, parties and date usually stand
_PREAMBLE_WITHIN = 40  # … or behind a table of contents
_PREAMBLE = re.compile(
    r"\b(?:agreement|contract|lease|amendment|deed)\b.{0,160}?"
    r"\b(?:dated|made|entered into|effective)\b.{0,200}?\b(?:between|among|parties)\b"
    r"|本(?:合同|协议)由",
    re.IGNORECASE | re.DOTALL,
)
_DEFINED = re.compile(
    r"[\"\u201c\u201e](?P<means>[A-Z\u3400-\u9fff][^\"\u201c\u201d]{1,60})[\"\u201d]\W{0,3}(?:\w+\W+){0,8}?"
    r"(?:means?|shall mean|has the meaning|have the meaning|refers to|是指)\b"
    r"|\((?:the|each,? an?|collectively,? the|hereinafter,?|an?|以下简称)?\s*"
    r"[\"\u201c\u201e](?P<called>[A-Z\u3400-\u9fff][^\"\u201c\u201d]{1,60})[\"\u201d]\)"
)
_WORDS = re.compile(r"[^\W_]+")
Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Row:
    """What is kept of a chunk; `words` are its search words, its section's included."""

    id: int
    ordinal: int
    text: str
    section: str
    words: Sequence[str]


class Shelf:
    """N chunks, of one document or of several."""

    def __init__(self, rows: Sequence[Row], vectors: Vectors) -> None:
        """`vectors` has row i for `rows[i]`, shape (N, D)."""
        self.ids = [row.id for row in rows]
        self.texts = [row.text for row in rows]
        self.folded = [text.lower() for text in self.texts]
        self.openings = np.array([_opening(row) for row in rows], np.float64)
        self.contents = np.array([row.section == CONTENTS for row in rows], bool)
        self.definitions = [
            (spaced(term), place) for place, row in enumerate(rows) for term in _defined(row.text)
        ]
        self.vectors = vectors
        self.lengths = np.array([len(row.words) for row in rows], np.float64)
        self._codes: dict[str, int] = {}
        codes = [self._codes.setdefault(w, len(self._codes)) for row in rows for w in row.words]
        places = np.repeat(np.arange(len(rows)), self.lengths.astype(np.int64))
        keys = np.asarray(codes, np.int64) * max(1, len(rows)) + places
        both, self._counts = np.unique(keys, return_counts=True)
        of_word, self._rows = np.divmod(both, max(1, len(rows)))
        self._starts = np.searchsorted(of_word, np.arange(len(self._codes) + 1))

    def __len__(self) -> int:
        return len(self.ids)

    def holding(self, word: str) -> tuple[Counts, Counts]:
        """Rows that hold a search word, and how often each does."""
        code = self._codes.get(word)
        if code is None:
            nothing = np.zeros(0, np.int64)
            return nothing, nothing
        part = slice(self._starts[code], self._starts[code + 1])
        return self._rows[part], self._counts[part]


def spaced(text: str) -> str:
    """Lower-case words between single spaces, one at each end, so that whole words are found."""
    return f" {' '.join(_WORDS.findall(text.lower()))} "


def _defined(text: str) -> list[str]:
    """The terms that a chunk defines: "Term" means …; (the "Term")."""
    return [found["means"] or found["called"] for found in _DEFINED.finditer(text)]


def _opening(row: Row) -> float:
    """How much a chunk is where a document names itself: 1 for its first, or for the preamble."""
    if row.section != CONTENTS and row.ordinal < _PREAMBLE_WITHIN and _PREAMBLE.search(row.text):
        return 1.0
    return max(0.0, 1.0 - row.ordinal / _OPENING)
