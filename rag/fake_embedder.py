"""An embedder without a model, for tests: words hashed into a vector, so shared words are near."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence

import numpy as np

from rag.vectors import Vectors

_WORD = re.compile(r"[a-z0-9]+|[\u4e00-\u9fff]")


class FakeEmbedder:
    """Implements `rag.protocols.Embedder`; deterministic over processes and machines."""

    def __init__(self, dimension: int = 64, limit: int = 256) -> None:
        self._dimension = dimension
        self._limit = limit

    @property
    def name(self) -> str:
        return f"fake-{self._dimension}"

    @property
    def dimension(self) -> int:
        return self._dimension

    @property
    def limit(self) -> int:
        return self._limit

    def count_tokens(self, text: str) -> int:
        return len(_WORD.findall(text.lower()))

    def embed(self, texts: Sequence[str]) -> Vectors:
        out = np.zeros((len(texts), self._dimension), dtype=np.float32)
        for row, text in zip(out, texts, strict=True):
            for word in _WORD.findall(text.lower()):
                row[zlib.crc32(word.encode()) % self._dimension] += 1.0
            row[0] += 1e-3  # a text without words has a direction too
            row /= np.linalg.norm(row)
        return out
