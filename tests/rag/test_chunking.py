"""Chunks follow clauses, fit the embedder and lose no word."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.chunking import ChunkSize, chunk_pages, sentences
from rag.fake_embedder import FakeEmbedder
from rag.types import Chunk, Page

COUNT = FakeEmbedder().count_tokens
CLAUSE = "The Supplier shall deliver the Goods to the place named in the order. " * 3


def chunks_of(*texts: str, size: ChunkSize | None = None) -> list[Chunk]:
    pages = [Page(number, text) for number, text in enumerate(texts, 1)]
    return chunk_pages(pages, "a.pdf", COUNT, size or ChunkSize(64, 40))


def words(texts: Sequence[str]) -> list[str]:
    return re.findall(r"\w+", " ".join(texts))


def test_a_clause_begins_a_chunk_when_the_one_before_is_full_enough() -> None:
    text = "\n".join(f"{n}. Clause{n}. {CLAUSE}" for n in range(1, 5))
    chunks = chunks_of(text)
    assert [chunk.text[:2] for chunk in chunks] == ["1.", "2.", "3.", "4."]
    assert [chunk.section for chunk in chunks] == [f"{n} Clause{n}" for n in range(1, 5)]
    assert [chunk.ordinal for chunk in chunks] == [0, 1, 2, 3]


def test_small_clauses_share_a_chunk() -> None:
    (chunk,) = chunks_of("1. Rent. It is high.\n2. Pets. There are none.")
    assert chunk.text == "1. Rent. It is high.\n2. Pets. There are none."


def test_a_chunk_over_two_pages_has_a_span_on_each() -> None:
    (chunk,) = chunks_of("The Supplier shall deliver the Goods", "within ten days.")
    assert chunk.pages == (1, 2)
    assert chunk.page == 1
    assert [(s.page, s.start, s.stop) for s in chunk.spans] == [(1, 0, 36), (2, 0, 16)]
    assert chunk.text == "The Supplier shall deliver the Goods\nwithin ten days."


def test_a_sentence_over_the_limit_is_cut_between_words() -> None:
    long = ", ".join(f"thing number {n}" for n in range(100)) + "."
    chunks = chunks_of(long)
    assert len(chunks) > 4
    assert all(COUNT(chunk.text) <= 64 for chunk in chunks)
    assert words([c.text for c in chunks]) == words([long])


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.text(alphabet="ab1 .,;:\n()第条约金。A", max_size=400),
        min_size=1,
        max_size=4,
    )
)
def test_every_word_is_in_one_chunk_in_order_and_none_is_too_large(texts: list[str]) -> None:
    texts = ["\n".join(p.strip() for p in text.split("\n") if p.strip()) for text in texts]
    chunks = chunks_of(*texts, size=ChunkSize(32, 20))
    assert "".join(words([c.text for c in chunks])) == "".join(words(texts))
    for chunk in chunks:
        assert COUNT(chunk.text) <= 32
        parts = [texts[s.page - 1][s.start : s.stop] for s in chunk.spans]
        assert chunk.text == "\n".join(parts)
        assert all(parts)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two? Three!", ["One.", "Two?", "Three!"]),
        (
            "Acme Inc. Delaware is No. 5 of them. So.",
            ["Acme Inc. Delaware is No. 5 of them.", "So."],
        ),
        (
            "甲方付款。乙方交货；逾期的，付违约金。",
            ["甲方付款。", "乙方交货；", "逾期的，付违约金。"],
        ),
        ("no end", ["no end"]),
        ("", []),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert [text[a:b] for a, b in sentences(text)] == expected


def test_sizes_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ValueError, match="enough"):
        ChunkSize(100, 200)
