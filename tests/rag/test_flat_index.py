from pathlib import Path

import numpy as np
import pytest

from rag.flat_index import FlatIndex
from rag.vectors import Vectors


def unit(rows: int, dimension: int = 16, seed: int = 0) -> Vectors:
    vectors = np.random.default_rng(seed).normal(size=(rows, dimension)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.fixture
def index() -> FlatIndex:
    made = FlatIndex(16, "fake")
    made.add(range(10, 60), unit(50))
    return made


def test_the_nearest_come_first_with_their_cosine(index: FlatIndex) -> None:
    vectors = unit(50)
    found = index.search(vectors[7], 3)
    assert found[0] == (17, pytest.approx(1.0, abs=1e-5))
    expected = np.argsort(-(vectors @ vectors[7]))[:3] + 10
    assert [number for number, _ in found] == expected.tolist()


def test_the_search_can_be_kept_to_some_ids(index: FlatIndex) -> None:
    found = index.search(unit(50)[7], 5, only=np.array([30, 31, 12]))
    assert {number for number, _ in found} == {30, 31, 12}
    assert index.search(unit(50)[7], 5, only=np.zeros(0, np.int64)) == []


def test_removed_ids_are_not_found_and_unknown_ones_are_ignored(index: FlatIndex) -> None:
    index.remove([17, 999])
    assert len(index) == 49
    assert 17 not in {number for number, _ in index.search(unit(50)[7], 50)}


def test_an_empty_index_finds_nothing() -> None:
    empty = FlatIndex(16, "fake")
    assert empty.search(unit(1)[0], 5) == []
    empty.add([], unit(0))
    assert len(empty) == 0


def test_a_saved_index_is_the_same(index: FlatIndex, tmp_path: Path) -> None:
    path = tmp_path / "张 三 📄.index"
    index.save(path)
    loaded = FlatIndex.load(path, 16, "fake")
    assert loaded is not None
    assert (len(loaded), loaded.newest, loaded.nbytes) == (50, 59, 50 * 16 * 4)
    assert loaded.search(unit(50)[7], 5) == index.search(unit(50)[7], 5)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:20],
        lambda data: data[:-100],
        lambda data: b"X" + data[1:],
        lambda data: data[:200] + bytes([data[200] ^ 1]) + data[201:],
    ],
)
def test_a_damaged_file_is_not_used(index: FlatIndex, tmp_path: Path, damage) -> None:
    path = tmp_path / "a.index"
    index.save(path)
    path.write_bytes(damage(path.read_bytes()))
    assert FlatIndex.load(path, 16, "fake") is None


def test_an_index_of_another_embedder_is_not_used(index: FlatIndex, tmp_path: Path) -> None:
    path = tmp_path / "a.index"
    index.save(path)
    assert FlatIndex.load(path, 16, "other") is None
    assert FlatIndex.load(path, 8, "fake") is None
    assert FlatIndex.load(tmp_path / "none", 16, "fake") is None
