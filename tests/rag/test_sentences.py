from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag import sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Payment is due in 30 days. Interest accrues after that.",
            ["Payment is due in 30 days.", "Interest accrues after that."],
        ),
        (
            "Acme Inc. sells goods to Mr. Smith. He pays.  Always and in full.",
            ["Acme Inc. sells goods to Mr. Smith.", "He pays.  Always and in full."],
        ),
        (
            "12.3 The cap is $1,500.00 per claim. No. 4 applies to the rest of it.",
            ["12.3 The cap is $1,500.00 per claim.", "No. 4 applies to the rest of it."],
        ),
        (
            "It runs until March 18. 2021, unless ended. It ends in 18. 2021 is the year.",
            [
                "It runs until March 18. 2021, unless ended.",
                "It ends in 18.",
                "2021 is the year.",
            ],
        ),
        (
            "买方应在收货后十日内付款。逾期付款的，每日支付违约金；最高不超过百分之五。",
            ["买方应在收货后十日内付款。", "逾期付款的，每日支付违约金；", "最高不超过百分之五。"],
        ),
        (
            "The Supplier shall:\n(a) deliver the goods on time\n(b) insure the goods in transit",
            [
                "The Supplier shall:",
                "(a) deliver the goods on time",
                "(b) insure the goods in transit",
            ],
        ),
        (
            "Request for Quotation\nResponse Date: April 22, 2019\nSet Aside: Small Business",
            ["Request for Quotation", "Response Date: April 22, 2019", "Set Aside: Small Business"],
        ),
        (
            "Fees\nRent | 900 a month | 4\nDeposit | two months' rent,\n| in advance | 5\nThe end.",
            [
                "Fees\nRent | 900 a month | 4",
                "Deposit | two months' rent,\n| in advance | 5",
                "The end.",
            ],
        ),
        ("", []),
        ("   \n ", []),
    ],
)
def test_sentences_are_cut_where_a_reader_would(text: str, expected: list[str]) -> None:
    assert [s.text for s in sentences.split(text)] == expected


@given(st.text(alphabet="ab. ;!?\n。；(1)A", max_size=200))
def test_sentences_cover_the_text_and_stand_where_they_say(text: str) -> None:
    found = sentences.split(text)
    for sentence in found:
        assert text[sentence.start : sentence.stop] == sentence.text
    assert "".join("".join(s.text.split()) for s in found) == "".join(text.split())
