"""The numbers of a text, in digits or spelled in English, in one form that can be compared.

"$1,500.00", "1500" and "fifteen hundred" are the same number. Knows no dates and no units.
"""

from __future__ import annotations

import re

_DIGITS = re.compile(r"\d[\d,.]*\d|\d")
_WORD = re.compile(r"[a-z]+")
_UNITS = {
    word: number
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        "fifteen sixteen seventeen eighteen nineteen".split()
    )
} | {
    word: 10 * number
    for number, word in enumerate(
        "twenty thirty forty fifty sixty seventy eighty ninety".split(), 2
    )
}
_SCALES = {"thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_UNIT, _ANY = "|".join(_UNITS), "|".join([*_UNITS, "hundred", *_SCALES])
_SPELLED = re.compile(
    rf"(?<![a-z])(?:{_UNIT})(?![a-z])(?:(?:[\s-]+|\s+and\s+)(?:{_ANY})(?![a-z]))*"
)


def numbers_of(text: str) -> set[str]:
    """Each number in digits, without separators and zeros after the point."""
    runs = (_WORD.findall(run) for run in _SPELLED.findall(text.lower()))
    return {_plain(found) for found in _DIGITS.findall(text)} | {str(_value(run)) for run in runs}


def _plain(digits: str) -> str:
    whole, point, rest = digits.replace(",", "").rstrip(".").partition(".")
    rest = rest.rstrip("0")
    return f"{whole}{point}{rest}" if rest else whole


def _value(run: list[str]) -> int:
    """Of a run such as "seven hundred and ninety-nine"."""
    total = part = 0
    for word in run:
        if word == "hundred":
            part *= 100
        elif word in _SCALES:
            total, part = total + part * _SCALES[word], 0
        elif word != "and":
            part += _UNITS[word]
    return total + part
