"""A large vector index on disk: inverted lists in a mapped file, of which a search reads a few.

Vectors are kept by the nearest of K centroids (K ≈ 2·√N, found by k-means on a sample); a search
compares the query with the centroids and reads the nearest lists. Opening reads the header and the
centroids only, so it takes the same time for a thousand vectors and for a million.

The file: magic; header length and checksum; header (JSON); centroids (K, D) float32; list ends (K)
int64; a checksum a list (K) uint32; ids (N) int64; vectors (N, D) float16. A list is checked when
it is first read; a damaged one raises `DamagedIndex`, and the caller builds the index again.
"""

from __future__ import annotations

import json
import math
import struct
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag.atomic import atomic
from rag.flat_index import Ids
from rag.vectors import Vectors

_MAGIC = b"CLBKIVF1"
_HEAD = struct.Struct("<8sII")
_SAMPLE = 64  # vectors a centroid that k-means looks at
_PROBES = 40
_BATCH = 16_384

Batches = Callable[[], Iterator[tuple[Ids, Vectors]]]


class DamagedIndex(Exception):
    """A part of the file isn't what was written."""


class ListIndex:
    """A read-only index in a file; see `build` and `open`."""

    def __init__(self, path: Path, header: dict[str, Any], start: int) -> None:
        """Maps the parts of the file, whose header ends at byte `start`."""
        self.newest = int(header["newest"])
        size, lists, dimension = (int(header[key]) for key in ("size", "lists", "dimension"))
        at = start

        def mapped(kind: Any, *shape: int) -> Any:
            nonlocal at
            part = np.memmap(path, kind, "r", at, shape)
            at += part.nbytes
            return part

        self._centroids: Vectors = np.array(mapped(np.float32, lists, dimension))
        self._ends: Ids = np.array(mapped(np.int64, lists))
        self._sums: NDArray[np.uint32] = np.array(mapped(np.uint32, lists))
        self._ids = mapped(np.int64, size)
        self._vectors = mapped(np.float16, size, dimension)
        self._checked: set[int] = set()

    def __len__(self) -> int:
        return len(self._ids)

    def search(
        self, query: Vectors, k: int, only: Ids | None = None, probes: int = _PROBES
    ) -> list[tuple[int, float]]:
        """The k best ids of the nearest lists with their cosine, best first.

        Raises:
            DamagedIndex: a list that was read isn't what was written.
        """
        nearest = np.argsort(-(self._centroids @ query))[:probes]
        parts = [self._part(int(number)) for number in nearest]
        ids = np.concatenate([self._ids[part] for part in parts])
        vectors = np.concatenate([self._vectors[part] for part in parts])
        if only is not None:
            among = np.isin(ids, only)
            ids, vectors = ids[among], vectors[among]
        scores = vectors.astype(np.float32) @ query
        best = np.argsort(-scores)[:k]
        return [(int(ids[i]), float(scores[i])) for i in best]

    def _part(self, number: int) -> slice:
        part = slice(int(self._ends[number - 1]) if number else 0, int(self._ends[number]))
        if number not in self._checked:
            if _checksum(self._ids[part], self._vectors[part]) != self._sums[number]:
                raise DamagedIndex(f"list {number}")
            self._checked.add(number)
        return part

    @classmethod
    def open(cls, path: Path, dimension: int, space: str) -> ListIndex | None:
        """The index in the file, or None if it is missing, damaged or of another space."""
        try:
            with path.open("rb") as file:
                magic, length, checksum = _HEAD.unpack(file.read(_HEAD.size))
                head = file.read(length)
                size = path.stat().st_size
            if magic != _MAGIC or zlib.crc32(head) != checksum:
                return None
            header = json.loads(head)
            if (header["space"], header["dimension"]) != (space, dimension):
                return None
            rows = int(header["lists"]) * (4 * dimension + 12)
            if size != _HEAD.size + length + rows + int(header["size"]) * (2 * dimension + 8):
                return None
            return cls(path, header, _HEAD.size + length)
        except (OSError, ValueError, KeyError, struct.error):
            return None


def build(path: Path, batches: Batches, size: int, dimension: int, space: str) -> None:
    """Writes an index of `size` vectors, which `batches()` gives in ascending order of id.

    The vectors are read three times and never held all at once, but for their halves in float16.
    """
    lists = max(1, int(2 * math.sqrt(size)))
    centroids = _centroids(batches, size, lists, dimension)
    ids = np.empty(size, np.int64)
    owners = np.empty(size, np.int32)
    vectors = np.empty((size, dimension), np.float16)
    at = 0
    for numbers, rows in batches():
        part = slice(at, at + len(numbers))
        ids[part], vectors[part] = numbers, rows
        owners[part] = np.argmax(rows @ centroids.T, axis=1)
        at = part.stop
    order = np.argsort(owners, kind="stable")
    ends = np.cumsum(np.bincount(owners, minlength=lists))
    ids, vectors = ids[order], vectors[order]
    starts = [0, *ends[:-1].tolist()]
    sums = [_checksum(ids[a:b], vectors[a:b]) for a, b in zip(starts, ends, strict=True)]
    header = {"space": space, "dimension": dimension, "size": size, "lists": lists}
    head = json.dumps(header | {"newest": int(ids.max(initial=0))}).encode()
    with atomic(path) as file:
        file.write(_HEAD.pack(_MAGIC, len(head), zlib.crc32(head)) + head)
        for part_of_file in (centroids, ends.astype(np.int64), np.array(sums, np.uint32)):
            file.write(part_of_file.tobytes())
        file.write(ids.data)
        file.write(vectors.data)


def _centroids(batches: Batches, size: int, lists: int, dimension: int) -> Vectors:
    import faiss

    wanted = min(size, lists * _SAMPLE)
    step = max(1, size // wanted)
    sample = np.concatenate([rows[::step] for _, rows in batches()])
    means: Any = faiss.Kmeans(dimension, lists, niter=8, spherical=True, seed=1, verbose=False)
    means.cp.min_points_per_centroid = 1
    means.train(np.ascontiguousarray(sample, np.float32))
    return np.ascontiguousarray(means.centroids, np.float32)


def _checksum(ids: Ids, vectors: Any) -> int:
    return zlib.crc32(np.ascontiguousarray(vectors).tobytes(), zlib.crc32(ids.tobytes()))


def in_batches(rows: Iterator[tuple[int, Vectors]]) -> Iterator[tuple[Ids, Vectors]]:
    """Rows of id and vector, many at a time."""
    numbers: list[int] = []
    held: list[Vectors] = []
    for number, vector in rows:
        numbers.append(number)
        held.append(vector)
        if len(numbers) == _BATCH:
            yield np.array(numbers, np.int64), np.stack(held)
            numbers, held = [], []
    if numbers:
        yield np.array(numbers, np.int64), np.stack(held)
