"""An exact vector index in memory, and its file.

The file is stamped with the embedder's name and the highest chunk id it covers, and carries a
checksum: one that is missing, damaged or another embedder's is no index, and the caller builds a
new one from the rows.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag.atomic import atomic
from rag.vectors import Vectors

Ids = NDArray[np.int64]
_MAGIC = b"CLBKVEC1"
_HEAD = struct.Struct("<8sII")  # magic, length of the JSON header, checksum of the index bytes


class FlatIndex:
    """An exact index (FAISS, flat) of unit vectors with ids."""

    def __init__(self, dimension: int, space: str) -> None:
        """An empty index; `space` names the embedder whose vectors these are.

        It covers chunk ids from `after` (not included) to `newest`.
        """
        import faiss

        self._faiss: Any = faiss
        self.dimension = dimension
        self.space = space
        self.after = 0
        self.newest = 0
        self._index: Any = faiss.IndexIDMap2(faiss.IndexFlatIP(dimension))

    def __len__(self) -> int:
        return int(self._index.ntotal)

    @property
    def nbytes(self) -> int:
        """Bytes of the vectors in memory."""
        return len(self) * self.dimension * 4

    def add(self, ids: Sequence[int], vectors: Vectors) -> None:
        """Adds rows; ids must be new and ascending."""
        if not len(ids):
            return
        self._index.add_with_ids(np.ascontiguousarray(vectors), np.asarray(ids, np.int64))
        self.newest = max(self.newest, int(max(ids)))

    def remove(self, ids: Sequence[int]) -> None:
        """Removes rows; unknown ids are ignored."""
        if len(ids):
            self._index.remove_ids(np.asarray(ids, np.int64))

    def search(self, query: Vectors, k: int, only: Ids | None = None) -> list[tuple[int, float]]:
        """The k nearest ids with their cosine, best first; among `only` if given."""
        if not len(self) or k <= 0:
            return []
        extra = {}
        if only is not None:
            chosen = np.fromiter(only, np.int64)
            extra["params"] = self._faiss.SearchParameters(sel=self._faiss.IDSelectorBatch(chosen))
        scores, ids = self._index.search(query.reshape(1, -1), min(k, len(self)), **extra)
        return [(int(i), float(s)) for i, s in zip(ids[0], scores[0], strict=True) if i >= 0]

    def save(self, path: Path) -> None:
        """Writes the file whole or not at all.

        FAISS's own file functions fail on non-ASCII Windows paths, so Python writes the bytes.
        """
        body = self._faiss.serialize_index(self._index).tobytes()
        header = json.dumps(
            {
                "space": self.space,
                "dimension": self.dimension,
                "after": self.after,
                "newest": self.newest,
            }
        ).encode()
        with atomic(path) as file:
            file.write(_HEAD.pack(_MAGIC, len(header), zlib.crc32(body)))
            file.write(header)
            file.write(body)

    @classmethod
    def load(cls, path: Path, dimension: int, space: str) -> FlatIndex | None:
        """The index in the file, or None if it is missing, damaged, older or of another space."""
        try:
            data = path.read_bytes()
            magic, length, checksum = _HEAD.unpack_from(data)
            header = json.loads(data[_HEAD.size : _HEAD.size + length])
        except (OSError, ValueError, struct.error):
            return None
        body = data[_HEAD.size + length :]
        if magic != _MAGIC or zlib.crc32(body) != checksum:
            return None
        wanted = {"space": space, "dimension": dimension}
        if {**header, **wanted} != header or not {"after", "newest"} <= header.keys():
            return None
        loaded = cls(dimension, space)
        loaded._index = loaded._faiss.deserialize_index(np.frombuffer(body, np.uint8))
        loaded.after, loaded.newest = int(header["after"]), int(header["newest"])
        return loaded
