"""The index that follows the rows, and its large kind on disk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from rag.index import VectorIndex
from rag.list_index import DamagedIndex, ListIndex, build, in_batches
from rag.vectors import Vectors

DIMENSION = 24


class Truth:
    """Rows as a store would give them: clustered unit vectors by ascending id."""

    def __init__(self, size: int = 0) -> None:
        self._random = np.random.default_rng(7)
        self._centres = self._random.normal(size=(40, DIMENSION))
        self.rows: dict[int, Vectors] = {}
        self._next = 1
        self.grow(size)

    def grow(self, by: int) -> tuple[list[int], Vectors]:
        around = self._centres[self._random.integers(0, 40, by)]
        vectors = (around + 0.5 * self._random.normal(size=(by, DIMENSION))).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        ids = list(range(self._next, self._next + by))
        self._next += by
        self.rows.update(zip(ids, vectors, strict=True))
        return ids, vectors

    def after(self, number: int) -> Iterator[tuple[int, Vectors]]:
        return ((i, v) for i, v in self.rows.items() if i > number)

    def count(self) -> int:
        return len(self.rows)

    def nearest(self, query: Vectors, k: int) -> list[int]:
        ids = list(self.rows)
        scores = np.stack([self.rows[i] for i in ids]) @ query
        return [ids[i] for i in np.argsort(-scores)[:k]]

    def open(self, folder: Path, flat_below: int = 500) -> VectorIndex:
        return VectorIndex(folder, DIMENSION, "fake", self.after, self.count, flat_below)


def found(index: VectorIndex | ListIndex, query: Vectors, k: int = 10) -> list[int]:
    return [number for number, _ in index.search(query, k)]


def recall(truth: Truth, index: VectorIndex | ListIndex) -> float:
    queries = [truth.rows[i] for i in list(truth.rows)[::97]]
    hits = [len({*found(index, q)} & {*truth.nearest(q, 10)}) / 10 for q in queries]
    return float(np.mean(hits))


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_few_vectors_are_searched_exactly(tmp_path: Path) -> None:
    truth = Truth(400)
    index = truth.open(tmp_path)
    index.save()
    assert files(tmp_path) == {"vectors.index"}
    assert recall(truth, index) == 1.0
    assert len(truth.open(tmp_path)) == 400


def test_many_vectors_are_put_into_lists(tmp_path: Path) -> None:
    truth = Truth(3000)
    index = truth.open(tmp_path)
    index.save()
    assert files(tmp_path) == {"vectors.index", "vectors.lists"}
    assert len(index) == 3000
    assert recall(truth, index) > 0.95
    again = truth.open(tmp_path)
    query = truth.rows[5]
    assert again.search(query, 5) == index.search(query, 5)
    assert again.search(query, 1)[0] == (5, pytest.approx(1, abs=1e-3))


def test_new_vectors_stand_beside_the_lists_until_they_are_many(tmp_path: Path) -> None:
    truth = Truth(3000)
    index = truth.open(tmp_path)
    index.save()
    before = (tmp_path / "vectors.lists").read_bytes()
    index.add(*truth.grow(100))
    index.save()
    assert (tmp_path / "vectors.lists").read_bytes() == before
    assert found(index, truth.rows[3050], 1) == [3050]
    assert found(truth.open(tmp_path), truth.rows[3050], 1) == [3050]
    index.add(*truth.grow(600))
    index.save()
    assert (tmp_path / "vectors.lists").read_bytes() != before
    assert len(index) == len(truth.open(tmp_path)) == 3700
    assert found(index, truth.rows[3650], 1) == [3650]


def test_removed_vectors_are_not_found_and_do_not_pile_up(tmp_path: Path) -> None:
    truth = Truth(3000)
    index = truth.open(tmp_path)
    index.save()
    query = truth.rows[10]
    for number in (9, 10, 11):
        del truth.rows[number]
    index.remove([9, 10, 11])
    assert not {9, 10, 11} & {*found(index, query, 50)}
    assert len(index) == 2997
    gone = list(truth.rows)[:900]
    for number in gone:
        del truth.rows[number]
    index.remove(gone)
    index.save()
    assert len(index) == len(truth.open(tmp_path)) == 2097


def test_what_was_removed_while_closed_is_dropped_at_the_next_start(tmp_path: Path) -> None:
    truth = Truth(300)
    truth.open(tmp_path).save()
    del truth.rows[7]
    index = truth.open(tmp_path)
    assert len(index) == 299
    assert 7 not in found(index, truth.rows[8], 50)


def test_the_search_can_be_kept_to_some_ids(tmp_path: Path) -> None:
    truth = Truth(3000)
    index = truth.open(tmp_path)
    index.save()
    query = truth.rows[20]
    among = truth.nearest(query, 6)[1::2]
    assert {number for number, _ in index.search(query, 10, among)} == {*among}


@pytest.mark.parametrize("part", ["head", "cut", "list", "missing"])
def test_a_damaged_file_is_built_again(tmp_path: Path, part: str) -> None:
    truth = Truth(3000)
    truth.open(tmp_path).save()
    path = tmp_path / "vectors.lists"
    data = bytearray(path.read_bytes())
    if part == "head":
        data[20] ^= 1
    elif part == "list":
        data[-DIMENSION * 2 * 3000 :] = bytes(DIMENSION * 2 * 3000)
    path.write_bytes(data[:-10] if part == "cut" else data)
    if part == "missing":
        path.unlink()
    index = truth.open(tmp_path)
    assert found(index, truth.rows[5], 1) == [5]
    index.save()
    assert recall(truth, truth.open(tmp_path)) > 0.95


def test_a_list_is_checked_when_it_is_read(tmp_path: Path) -> None:
    truth = Truth(1000)
    path = tmp_path / "a.lists"
    build(path, lambda: in_batches(truth.after(0)), 1000, DIMENSION, "fake")
    data = bytearray(path.read_bytes())
    data[-1] ^= 64
    path.write_bytes(data)
    index = ListIndex.open(path, DIMENSION, "fake")
    assert index is not None
    with pytest.raises(DamagedIndex):
        index.search(truth.rows[5], 5, probes=1000)


def test_another_space_is_another_index(tmp_path: Path) -> None:
    truth = Truth(1000)
    path = tmp_path / "a.lists"
    build(path, lambda: in_batches(truth.after(0)), 1000, DIMENSION, "fake")
    assert ListIndex.open(path, DIMENSION, "other") is None
    assert ListIndex.open(path, DIMENSION + 1, "fake") is None
    assert ListIndex.open(path, DIMENSION, "fake") is not None
