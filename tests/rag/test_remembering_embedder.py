from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rag.fake_embedder import FakeEmbedder
from rag.remembering_embedder import RememberingEmbedder
from rag.vectors import Vectors


class Counting(FakeEmbedder):
    """Counts the texts that it was asked for."""

    def __init__(self) -> None:
        super().__init__(dimension=32)
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        return super().embed(texts)


def test_a_text_is_embedded_once_and_the_vectors_are_the_same() -> None:
    plain, counted = FakeEmbedder(dimension=32), Counting()
    remembering = RememberingEmbedder(counted)
    first, second = ["rent", "term", "rent"], ["term", "notice"]
    assert np.array_equal(remembering.embed(first), plain.embed(first))
    assert np.array_equal(remembering.embed(second), plain.embed(second))
    assert counted.asked == ["rent", "term", "notice"]
    assert remembering.embed([]).shape == (0, 32)
    assert (remembering.name, remembering.limit) == (plain.name, plain.limit)
    assert remembering.count_tokens("one two") == plain.count_tokens("one two")


def test_it_forgets_what_was_used_longest_ago() -> None:
    counted = Counting()
    remembering = RememberingEmbedder(counted, most=2)
    for text in ("a", "b", "a", "c", "a", "b"):
        remembering.embed([text])
    assert counted.asked == ["a", "b", "c", "b"]
