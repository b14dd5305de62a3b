from __future__ import annotations

import pytest

from rag import reference

POINTS = (
    "Sonos shall pay such invoice in accordance with the payment terms described in Section 7.5."
)


@pytest.mark.parametrize(
    ("question", "sentence", "expected"),
    [
        ("When must the invoices be paid?", POINTS, "Section 7.5"),
        ("Who shall pay such invoices?", POINTS, "Section 7.5"),
        ("When must the invoices be paid?", "Section 7.5 says more than this sentence.", ""),
        ("When is it due?", "It is due within 30 days, as Section 7.5 says.", ""),
        ("什么时候付款？", "付款时间按照第七条的约定执行。", "第七条"),
    ],
)
def test_the_clause_that_should_be_looked_up(question: str, sentence: str, expected: str) -> None:
    assert reference.clause(question, sentence) == expected
