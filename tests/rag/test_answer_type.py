from __future__ import annotations

import pytest

from rag.answer_type import holds_expected


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        ("How many days of notice are needed?", "upon thirty (30) days notice", "upon notice"),
        ("How many days of notice are needed?", "within [*] days", "within the days agreed"),
        ("What is the monthly fee?", "a fee of $[***] per month", "a monthly fee as agreed"),
        ("What is the monthly fee?", "a fee of $18,000 per month", "a monthly fee as agreed"),
        ("What interest applies?", "interest at 1.5% per month", "interest at the agreed rate"),
        ("When is the maturity date?", "matures on April 22, 2019", "matures in due course"),
        ("Who is the borrower?", "Harbour Line Holdings, Inc. borrows", "the one who borrows"),
        ("Which law governs?", "governed by the laws of Colorado", "all rights are reserved"),
        ("租赁期限最长是多少年？", "租赁期限不得超过二十年", "租赁合同应当采用书面形式"),
        ("定金最高为百分之多少？", "不得超过主合同标的额的百分之二十", "定金应当抵作价款"),
    ],
)
def test_a_sentence_with_the_kind_of_thing_asked_for_scores_higher(
    question: str, right: str, wrong: str
) -> None:
    assert holds_expected(question, right) > holds_expected(question, wrong)


def test_a_question_of_no_kind_favours_no_sentence() -> None:
    assert holds_expected("Describe the acceptance procedure", "anything") == 0.5
