"""Numbers in digits and in words come to one form."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.numerals import numbers_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$1,500.00 a month, 7% a year, and 2.50.", {"1500", "7", "2.5"}),
        ("thirty (30) days", {"30"}),
        ("Seven Hundred and No/100 Dollars ($700.00)", {"700", "100"}),
        ("seven hundred and ninety-nine dollars", {"799"}),
        ("Four Hundred Ninety-Five dollars", {"495"}),
        ("two million five hundred thousand and three", {"2500003"}),
        ("fifteen hundred", {"1500"}),
        ("one or two years; three\nmonths", {"1", "2", "3"}),
        ("hundreds of thousands", set()),
        ("a hundred and more", set()),
        ("five and a half", {"5"}),
        ("", set()),
    ],
)
def test_numbers(text: str, expected: set[str]) -> None:
    assert numbers_of(text) == expected


def _words(number: int) -> str:
    small = (
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        "fifteen sixteen seventeen eighteen nineteen"
    ).split()
    tens = "twenty thirty forty fifty sixty seventy eighty ninety".split()
    for size, name in ((1000, "thousand"), (100, "hundred")):
        if number >= size:
            rest = f" {_words(number % size)}" if number % size else ""
            return f"{_words(number // size)} {name}{rest}"
    if number < 20:
        return small[number]
    return tens[number // 10 - 2] + (f"-{small[number % 10]}" if number % 10 else "")


@given(st.integers(0, 999_999))
def test_a_spelled_number_is_its_digits(number: int) -> None:
    assert numbers_of(f"It is {_words(number)} days.") == {str(number)}
    assert numbers_of(f"It is {number:,} days.") == {str(number)}
