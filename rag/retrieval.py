"""Question to hits: which chunks are looked at, how they are scored, which are kept.

Where the documents in question are few, every one of their chunks is scored. In a large library
the vector index and the keyword index name candidates first, and those are scored the same way.
Knows nothing of answers.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from rag.index import VectorIndex
from rag.protocols import Embedder
from rag.questions import Question, understand
from rag.ranking import DEFAULT, Rarity, Weights, query_vector, query_words, score, standard
from rag.reranking import Reranker
from rag.shelf import Floats, Shelf
from rag.store import Store
from rag.types import Hit
from rag.vectors import Vectors

ALL_BELOW = 6000
"""Chunks up to which every one is scored."""

_CANDIDATES = 150  # from each index
_POSTINGS = 20_000  # chunks that a keyword query may look at
_RERANKED = 20  # passages that a reranker reads
_SAME = 0.8  # share of words from which two passages say the same


class Shelves:
    """The shelves of the documents asked about lately."""

    def __init__(self, load: Callable[[int], Shelf], most: int = 2 * ALL_BELOW) -> None:
        """`load` makes a document's shelf; together they hold at most about `most` chunks."""
        self._load = load
        self._most = most
        self._kept: OrderedDict[int, Shelf] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, document: int) -> Shelf:
        """The shelf of a document, loaded if it isn't kept."""
        shelf = self._kept.pop(document, None) or self._load(document)
        self._kept[document] = shelf
        while len(self._kept) > 1 and sum(map(len, self._kept.values())) > self._most:
            self._kept.popitem(last=False)
        return shelf


class Retriever:
    """Searches a store through its indexes."""

    def __init__(
        self,
        store: Store,
        index: VectorIndex,
        embedder: Embedder,
        weights: Weights = DEFAULT,
        all_below: int = ALL_BELOW,
        reranker: Reranker | None = None,
    ) -> None:
        self._store = store
        self._index = index
        self._embedder = embedder
        self._weights = weights
        self._all_below = all_below
        self._reranker = reranker
        self._shelves = Shelves(store.shelf)
        self._wordings: dict[str, Vectors] = {}

    def search(self, question: str, documents: Sequence[str] = (), k: int = 5) -> list[Hit]:
        """The k best chunks, of `documents` if any are named; none says the same as another."""
        asked = understand(question)
        query = self._query(asked)
        sizes = self._store.sizes(documents)
        if sum(sizes.values()) <= self._all_below:
            shelves = [self._shelves.get(document) for document in sizes]
            rarity = None
        else:
            shelves = [self._candidates(asked, query, list(sizes) if documents else [])]
            rarity = self._rarity(query_words(asked, self._weights), sum(sizes.values()))
        shelves = [shelf for shelf in shelves if len(shelf)]
        if not shelves:
            return []
        scores = score(shelves, asked, query, rarity, self._weights)
        if self._reranker is not None:
            texts = [text for shelf in shelves for text in shelf.texts]
            scores = _reranked(self._reranker, asked.text, texts, scores)
        return self._hits(shelves, scores, k)

    def _query(self, asked: Question) -> Vectors:
        """The question's vector, drawn towards the wordings; theirs are computed once."""
        new = [text for text in asked.expansion.wordings if text not in self._wordings]
        vectors = self._embedder.embed([asked.text, *new])
        self._wordings.update(zip(new, vectors[1:], strict=True))
        wordings = [self._wordings[text] for text in asked.expansion.wordings]
        return query_vector(vectors[0], np.array(wordings), self._weights)

    def _candidates(self, asked: Question, query: Vectors, documents: Sequence[int]) -> Shelf:
        only = self._store.chunk_ids(documents) if documents else None
        ids = {number for number, _ in self._index.search(query, _CANDIDATES, only)}
        wanted = query_words(asked, self._weights)
        rare = self._rarest(list(wanted))
        ids.update(self._store.match(rare, _CANDIDATES, documents))
        return self._store.shelf_of(sorted(ids))

    def _rarest(self, terms: Sequence[str]) -> list[str]:
        """The rarest words, as many as a keyword query can look at in time."""
        counts = self._store.word_counts(terms)
        chosen: list[str] = []
        total = 0
        for term in sorted(counts, key=lambda t: counts[t]):
            total += counts[term]
            if chosen and total > _POSTINGS:
                break
            chosen.append(term)
        return chosen

    def _rarity(self, wanted: Mapping[str, float], total: int) -> Rarity:
        counts = self._store.word_counts(list(wanted))
        return lambda word: math.log(
            1 + (total - counts.get(word, 0) + 0.5) / (counts.get(word, 0) + 0.5)
        )

    def _hits(self, shelves: Sequence[Shelf], scores: Floats, k: int) -> list[Hit]:
        ids = [number for shelf in shelves for number in shelf.ids]
        texts = [text for shelf in shelves for text in shelf.texts]
        chosen: list[int] = []
        seen: list[frozenset[str]] = []
        for place in np.argsort(-scores, kind="stable"):
            said = frozenset(texts[place].lower().split())
            if all(_likeness(said, other) < _SAME for other in seen):
                chosen.append(int(place))
                seen.append(said)
            if len(chosen) == k:
                break
        chunks = self._store.chunks_by_id([ids[place] for place in chosen])
        return [
            Hit(chunks[ids[place]], float(scores[place]))
            for place in chosen
            if ids[place] in chunks
        ]


def _reranked(reranker: Reranker, question: str, texts: Sequence[str], scores: Floats) -> Floats:
    """The best scores, each moved by what the reranker makes of its passage."""
    best = np.argsort(-scores)[:_RERANKED]
    seen = np.asarray(reranker.score(question, [texts[place] for place in best]), np.float64)
    changed = scores.copy()
    changed[best] += 2 * standard(seen) + 8  # above all that were not looked at
    return changed


def _likeness(one: frozenset[str], two: frozenset[str]) -> float:
    return len(one & two) / max(1, len(one | two))
