"""The library's vectors, searched by meaning: exact while they are few, by inverted lists beyond.

The store's rows are the truth, and the index follows them: at open, what was added since the files
were written is added, and what is missing or damaged is built again. New vectors go to a small
exact index; when that has outgrown its share, the lists are built anew with everything. Ids of
removed chunks may linger in the lists: they are never used again, and the caller drops ids that
have no row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from rag.flat_index import FlatIndex
from rag.list_index import DamagedIndex, ListIndex, build, in_batches
from rag.vectors import Vectors

Rows = Callable[[int], Iterator[tuple[int, Vectors]]]
"""Id and vector of every chunk whose id is above the given one, in ascending order."""

FLAT_BELOW = 50_000
"""Vectors that are searched exactly; beyond, or beyond a fifth of the lists, lists are built."""


class VectorIndex:
    """Vectors of one library folder, by chunk id."""

    def __init__(
        self,
        folder: Path,
        dimension: int,
        space: str,
        rows: Rows,
        count: Callable[[], int],
        flat_below: int = FLAT_BELOW,
    ) -> None:
        """Opens the index of `folder`.

        `space` names the embedder; `rows` and `count` give the truth and its size.
        """
        self._folder = folder
        self._dimension = dimension
        self._space = space
        self._rows = rows
        self._count = count
        self._flat_below = flat_below
        self._lists = ListIndex.open(folder / "vectors.lists", dimension, space)
        flat = FlatIndex.load(folder / "vectors.index", dimension, space)
        newest = self._lists.newest if self._lists else 0
        fits = flat is not None and flat.newest >= newest and flat.after == newest
        self._flat = flat if flat is not None and fits else self._empty(newest)
        self._gone: set[int] = set()
        self._changed = False
        self._catch_up()
        lingering = len(self) - count()
        if lingering < 0 or lingering > (self._room if self._lists else 0):
            self.rebuild()

    def __len__(self) -> int:
        return len(self._flat) + (len(self._lists) - len(self._gone) if self._lists else 0)

    def add(self, ids: Sequence[int], vectors: Vectors) -> None:
        """Adds rows; ids must be new and ascending."""
        self._flat.add(ids, vectors)
        self._changed = self._changed or bool(len(ids))

    def remove(self, ids: Sequence[int]) -> None:
        """Removes rows; unknown ids are ignored."""
        self._flat.remove(ids)
        if self._lists:
            self._gone.update(number for number in ids if number <= self._lists.newest)
        self._changed = self._changed or bool(len(ids))

    def search(
        self, query: Vectors, k: int, only: Sequence[int] | None = None
    ) -> list[tuple[int, float]]:
        """About the k nearest ids with their cosine, best first; among `only` if given."""
        among = None if only is None else np.asarray(only, np.int64)
        found = self._flat.search(query, k, among)
        if self._lists:
            try:
                found += self._lists.search(query, k + len(self._gone), among)
            except DamagedIndex:
                self.rebuild()
                return self.search(query, k, only)
            found = [pair for pair in found if pair[0] not in self._gone]
            found.sort(key=lambda pair: -pair[1])
        return found[:k]

    def save(self) -> None:
        """Writes what changed; an index that has outgrown its kind is built as the next.

        The files are derived from the rows: where they can't be written, the next start builds
        them again.
        """
        if not self._changed:
            return
        try:
            if len(self._flat) > self._room or len(self._gone) > self._room:
                self.rebuild()
            self._flat.save(self._folder / "vectors.index")
        except OSError:
            (self._folder / "vectors.index").unlink(missing_ok=True)
        self._changed = False

    @property
    def _room(self) -> int:
        """Vectors beside the lists, or lingering in them, from which a rebuild pays."""
        return max(self._flat_below, len(self._lists or ()) // 5)

    def rebuild(self) -> None:
        """Builds the index anew from the rows."""
        path = self._folder / "vectors.lists"
        size = self._count()
        self._lists = None
        self._gone.clear()
        if size <= self._flat_below:
            path.unlink(missing_ok=True)
            self._flat = self._empty(0)
            self._catch_up()
        else:
            batches = lambda: in_batches(self._rows(0))  # noqa: E731
            build(path, batches, size, self._dimension, self._space)
            self._lists = ListIndex.open(path, self._dimension, self._space)
            self._flat = self._empty(self._lists.newest if self._lists else 0)
        self._changed = True

    def _empty(self, after: int) -> FlatIndex:
        flat = FlatIndex(self._dimension, self._space)
        flat.after = flat.newest = after
        return flat

    def _catch_up(self) -> None:
        """Adds the rows that came after the newest one in the files."""
        for ids, vectors in in_batches(self._rows(self._flat.newest)):
            self.add(ids.tolist(), vectors)
