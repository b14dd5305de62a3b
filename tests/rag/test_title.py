from __future__ import annotations

import pytest

from rag import title
from rag.types import Chunk, Span


def chunk(text: str, page: int = 1) -> Chunk:
    return Chunk(1, "a.pdf", 0, text, "", (Span(page, 0, len(text)),))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Exhibit 10.4\nCONSULTING AGREEMENT\nThis Consulting Agreement …", "CONSULTING AGREEMENT"),
        ("Supply and Services Agreement\nmade on 3 May.", "Supply and Services Agreement"),
        ("EXHIBIT 10.6 DISTRIBUTOR AGREEMENT THIS DISTRIBUTOR AGREEMENT is made", "DISTRIBUTOR AG"),
        ("采购合同\n甲方：江淮", "采购合同"),
    ],
)
def test_the_line_that_is_written_as_a_title(text: str, expected: str) -> None:
    found = title.find([chunk(text)])
    assert found is not None
    assert expected in found.text
    assert found.chunk.text[found.start : found.stop] == found.text


@pytest.mark.parametrize(
    "text", ["The parties make this agreement.", "Dear Sir,", "it ends with the contract"]
)
def test_a_sentence_is_none(text: str) -> None:
    assert title.find([chunk(text)]) is None


def test_later_pages_have_none() -> None:
    assert title.find([chunk("SALES AGREEMENT", page=9)]) is None
