"""Which chunks are looked at, and which are kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from rag.fake_embedder import FakeEmbedder
from rag.index import VectorIndex
from rag.retrieval import Retriever, Shelves
from rag.shelf import Row, Shelf
from rag.store import Draft, Store
from rag.types import Chunk, Page, Span

EMBEDDER = FakeEmbedder(128)
THINGS = ["law", "rent", "cats", "gas", "rain", "bread", "iron", "salt", "wool", "wine"]


class Counting(FakeEmbedder):
    def __init__(self) -> None:
        super().__init__(128)
        self.texts: list[str] = []

    def embed(self, texts):
        self.texts += texts
        return super().embed(texts)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(tmp_path)
    for letter in "abc":
        texts = [f"{n}. The {thing} of {letter} is good." for n, thing in enumerate(THINGS)]
        chunks = [
            Chunk(0, letter, n, text, f"{n}", (Span(1, 0, len(text)),))
            for n, text in enumerate(texts)
        ]
        pages = [Page(1, "\n".join(texts))]
        opened.put(Draft(letter, f"/{letter}", letter, pages, chunks, EMBEDDER.embed(texts)))
    yield opened
    opened.close()


def retriever(store: Store, tmp_path: Path, all_below: int, embedder=EMBEDDER) -> Retriever:
    index = VectorIndex(tmp_path, 128, EMBEDDER.name, store.vectors, store.size)
    return Retriever(store, index, embedder, all_below=all_below)


@pytest.mark.parametrize("all_below", [1000, 0], ids=["every chunk", "candidates"])
def test_both_ways_find_the_same(store: Store, tmp_path: Path, all_below: int) -> None:
    searched = retriever(store, tmp_path, all_below)
    for thing in THINGS:
        hits = searched.search(f"Is the {thing} good in a?", k=3)
        assert all(thing in hit.chunk.text for hit in hits)
        scores = [hit.score for hit in hits]
        assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("all_below", [1000, 0], ids=["every chunk", "candidates"])
def test_the_search_keeps_to_the_documents_named(
    store: Store, tmp_path: Path, all_below: int
) -> None:
    hits = retriever(store, tmp_path, all_below).search("Is the rent good?", ["b", "c"], k=5)
    assert {hit.chunk.document for hit in hits} <= {"b", "c"}
    assert [hit.chunk.text for hit in hits[:2]] == [
        "1. The rent of b is good.",
        "1. The rent of c is good.",
    ]


def test_rare_words_are_looked_up_and_common_ones_left(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched = retriever(store, tmp_path, 0)
    monkeypatch.setattr("rag.retrieval._POSTINGS", 4)
    assert searched._rarest(["good", "rent", "unheard"]) == ["rent"]
    assert searched._rarest([]) == []


def test_wordings_are_embedded_once(store: Store, tmp_path: Path) -> None:
    embedder = Counting()
    searched = retriever(store, tmp_path, 1000, embedder)
    searched.search("Which law governs?")
    first = len(embedder.texts)
    searched.search("Which law governs it?")
    assert first > 1
    assert len(embedder.texts) == first + 1


def test_a_reranker_takes_a_second_look(store: Store, tmp_path: Path) -> None:
    class LikesSalt:
        def score(self, question, passages):
            return np.array(["salt" in passage for passage in passages], np.float32)

    index = VectorIndex(tmp_path, 128, EMBEDDER.name, store.vectors, store.size)
    searched = Retriever(store, index, EMBEDDER, reranker=LikesSalt())
    hits = searched.search("Is the rent good?", ["a"], k=3)
    assert "salt" in hits[0].chunk.text
    assert "rent" in hits[1].chunk.text


def test_nothing_is_found_in_an_empty_library(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert retriever(store, tmp_path, 1000).search("Is it?") == []
    assert retriever(store, tmp_path, -1).search("Is it?") == []
    store.close()


def test_the_shelves_asked_for_lately_are_kept() -> None:
    loaded: list[int] = []

    def load(document: int) -> Shelf:
        loaded.append(document)
        rows = [Row(n, n, "text", "", ["word"]) for n in range(10)]
        return Shelf(rows, np.zeros((10, 4), np.float32))

    shelves = Shelves(load, most=25)
    for document in (1, 2, 1, 3, 1, 2):
        assert len(shelves.get(document)) == 10
    assert loaded == [1, 2, 3, 2]
    assert len(shelves) == 2
