"""Question to hits: vectors and keywords, fused by rank."""

from __future__ import annotations

from collections.abc import Sequence

from rag.index import VectorIndex
from rag.keywords import words
from rag.protocols import Embedder
from rag.store import Store
from rag.types import Hit

_DEPTH = 60
_RANK = 20  # damping of reciprocal rank fusion


class Retriever:
    """Searches a store through its index; knows nothing of answers."""

    def __init__(self, store: Store, index: VectorIndex, embedder: Embedder) -> None:
        self._store = store
        self._index = index
        self._embedder = embedder

    def search(self, question: str, documents: Sequence[str] = (), k: int = 5) -> list[Hit]:
        """The k best chunks, of `documents` if any are named."""
        ids = self._store.document_ids(documents)
        only = self._store.chunk_ids(ids) if ids else None
        query = self._embedder.embed([question])[0]
        scores: dict[int, float] = {}
        dense = [i for i, _ in self._index.search(query, _DEPTH, only)]
        sparse = self._store.match(words(question), _DEPTH, ids)
        for ranking in (dense, sparse):
            for rank, number in enumerate(ranking):
                scores[number] = scores.get(number, 0.0) + 1.0 / (_RANK + rank)
        best = sorted(scores, key=lambda i: -scores[i])
        chunks = self._store.chunks_by_id(best)
        return [Hit(chunks[i], scores[i]) for i in best if i in chunks][:k]
