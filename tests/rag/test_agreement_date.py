"""The sentence of an opening that states when an agreement was made or becomes effective."""

from __future__ import annotations

import pytest

from rag import agreement_date
from rag.agreement_date import AGREEMENT, EFFECTIVE
from rag.types import Chunk, Span


def chunk(text: str, page: int = 1) -> Chunk:
    return Chunk(1, "a.pdf", 0, text, "", (Span(page, 0, len(text)),))


MADE = "This Lease Agreement is made and entered into as of May 3, 1999 by Ann and Bob."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (MADE, MADE),
        (f"EXHIBIT 10.6 LEASE AGREEMENT {MADE} It has two parts.", MADE),
        (
            "THIS CONTRACT is made by A Corp. and B Ltd. of Ohio, this 7th day of September, 1999.",
            "THIS CONTRACT is made by A Corp. and B Ltd. of Ohio, this 7th day of September, 1999.",
        ),
        ("SUPPLY CONTRACT\nDated as of 1 June 2020", "Dated as of 1 June 2020"),
        ("Agreement made this ___ day of ____, 20__ by A.", "Agreement made this ___ day"),
    ],
)
def test_the_date_is_stated_at_the_opening(text: str, expected: str) -> None:
    found = agreement_date.find(AGREEMENT, [chunk(text)])
    assert found is not None
    assert expected in found.text
    assert found.chunk.text[found.start : found.stop] == found.text


def test_an_effective_date_is_not_any_date() -> None:
    assert agreement_date.find(EFFECTIVE, [chunk(MADE)]) is None
    text = f"{MADE} The contract becomes effective on July 1, 1999."
    found = agreement_date.find(EFFECTIVE, [chunk(text)])
    assert found is not None
    assert found.text == "The contract becomes effective on July 1, 1999."


@pytest.mark.parametrize(
    "text",
    [
        "The parties have made a contract.",
        "The price was paid on May 3, 1999.",
        "This Agreement shall terminate on December 31, 2000.",
        "WHEREAS, they are parties to a Purchase Agreement dated as of April 4, 2017;",
        "WHEREAS, they have met; and\n\nThe old contract was made on April 4, 2017.",
    ],
)
def test_another_date_is_none(text: str) -> None:
    assert agreement_date.find(AGREEMENT, [chunk(text)]) is None


def test_later_pages_have_none() -> None:
    assert agreement_date.find(AGREEMENT, [chunk(MADE, page=9)]) is None
