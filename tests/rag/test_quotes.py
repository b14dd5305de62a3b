"""What of a passage can be quoted."""

from __future__ import annotations

import pytest

from rag.captions import is_definition, is_form, is_heading
from rag.fake_embedder import FakeEmbedder
from rag.quotes import _candidates, rank, words
from rag.types import Chunk, Hit, Span

RULE = "The Dealer shall keep the List secret after the end of this Agreement."


@pytest.mark.parametrize(
    "heading",
    ["7.8 DUTIES OF THE DEALER AFTER TERMINATION.", "7.8 DUTIES OF THE DEALER\nAFTER TERMINATION."],
)
def test_a_heading_alone_is_not_quoted_even_over_two_lines(heading: str) -> None:
    assert [c.text for c in _candidates(f"{heading}\n\n{RULE}")] == [RULE]


@pytest.mark.parametrize("row", ["2.5 Choice of Premises; No Territory | 5", "9.1.2 Return | 12"])
def test_a_line_of_a_table_of_contents_is_a_form(row: str) -> None:
    assert is_form(row)


@pytest.mark.parametrize("row", ["Late fee | 50", "2.5 percent of sales | 1,200 | monthly"])
def test_a_row_with_an_amount_is_not(row: str) -> None:
    assert not is_form(row)


def test_headings_that_run_into_each_other_are_one() -> None:
    assert is_heading(
        "ARTICLE VII RESIGNATION AND END; SUCCESSOR AGENT Section 7.1 No Resignation."
    )
    assert not is_heading("ARTICLE VII The agent shall not resign under Section 7.1 of this part.")


def test_a_heading_may_have_two_marks() -> None:
    assert is_heading("K. 8.7 CHOICE OF LAW;")
    assert is_heading("IV. TRAINING")
    assert not is_heading("K. The fees of Section 8.7 are due at once.")


def test_a_definition_comes_first_only_where_a_meaning_is_asked_for() -> None:
    meaning = "“Generic” means a product of the same substance."
    rule = "If a Generic is sold in a country, the royalty falls by half."
    text = f"{meaning} {rule}"
    hits = [Hit(Chunk(1, "a.pdf", 0, text, "", (Span(1, 0, len(text)),)), 1.0)]
    assert is_definition(meaning)
    assert not is_definition(rule)

    def first(question: str) -> str:
        return rank(question, hits, FakeEmbedder())[0].text

    assert first("Which royalty is paid if a generic is sold?") == rule
    assert first("What does “Generic” mean?") == meaning


def test_a_word_is_the_same_in_both_spellings() -> None:
    assert words("licence defence") == words("license defense")
