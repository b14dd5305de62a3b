"""An embedder that remembers: a follow-up ranks many of the sentences that the last turn ranked.

It knows texts and vectors, nothing of what they are for.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from rag.protocols import Embedder
from rag.vectors import Vectors

MOST = 8192  # 12 MB of vectors with 384 dimensions


class RememberingEmbedder:
    """An `Embedder` over another that keeps the vectors used last. Not for several threads."""

    def __init__(self, embedder: Embedder, most: int = MOST) -> None:
        self._embedder, self._most = embedder, most
        self._known: OrderedDict[str, Vectors] = OrderedDict()

    @property
    def name(self) -> str:
        return self._embedder.name

    @property
    def dimension(self) -> int:
        return self._embedder.dimension

    @property
    def limit(self) -> int:
        return self._embedder.limit

    def count_tokens(self, text: str) -> int:
        return self._embedder.count_tokens(text)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (len(texts), dimension); only texts not seen lately are computed."""
        fresh = [text for text in dict.fromkeys(texts) if text not in self._known]
        computed = dict(zip(fresh, self._embedder.embed(fresh), strict=True)) if fresh else {}
        rows = np.zeros((len(texts), self.dimension), np.float32)
        for place, text in enumerate(texts):
            if text in computed:
                self._known[text] = computed[text]
            self._known.move_to_end(text)
            rows[place] = self._known[text]
        while len(self._known) > self._most:
            self._known.popitem(last=False)
        return rows
