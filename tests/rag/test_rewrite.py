from __future__ import annotations

import pytest

from rag.rewrite import asks_for_the_next, is_dependent, standalone


@pytest.mark.parametrize(
    "question",
    [
        "And for how much?",
        "When must that be repaid?",
        "How many virtual machines does it have?",
        "What about the penalty?",
        "那违约金呢？",
        "它的期限是多久？",
        "Why?",
    ],
)
def test_a_question_that_leans_on_an_earlier_one_is_recognised(question: str) -> None:
    assert is_dependent(question)


@pytest.mark.parametrize(
    "question",
    [
        "How is payment made under this agreement?",
        "Which law governs the reseller agreement?",
        "Are there any warranties given by the Supplier?",
        "租赁期限最长是多少年？",
        "Is it possible to assign the contract without consent?",
    ],
)
def test_a_question_that_stands_by_itself_is_left_alone(question: str) -> None:
    assert not is_dependent(question)
    assert standalone(question, ["What is the price?"]).text == question


def test_a_follow_up_takes_the_last_question_that_stands_by_itself() -> None:
    earlier = ["Who is the borrower?", "What is the commitment fee?", "When is it due?"]
    result = standalone("And for how much?", earlier)
    assert result.dependent
    assert "commitment fee" in result.text
    assert "borrower" not in result.text
    assert result.text.endswith("And for how much?")


def test_names_of_the_last_quotation_are_added() -> None:
    result = standalone(
        "When does it end?", ["What does the supplier run?"], "It runs the Harbour Line Depot."
    )
    assert "Harbour Line Depot" in result.context


def test_the_first_question_has_no_context() -> None:
    assert standalone("And it?", []).text == "And it?"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("And in the one after?", True),
        ("What about the year after that?", True),
        ("And the next?", True),
        ("那下一年呢？", True),
        ("What happens in the next year of the term if sales fall?", False),
        ("When is the next meeting held?", False),
    ],
)
def test_the_item_after_the_one_just_quoted_is_asked_for(question: str, expected: bool) -> None:
    assert asks_for_the_next(question) is expected
