"""What of a passage can be quoted."""

from __future__ import annotations

import pytest

from rag.captions import is_form
from rag.quotes import _candidates

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
