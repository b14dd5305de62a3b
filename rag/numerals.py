"""The numbers of a text, in digits or spelled in English, in one form that can be compared.

"$1,500.00", "1500" and "fifteen hundred" are the same number. Knows no dates and no units.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

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
_BETWEEN = re.compile(r"[\s-]+(?:and\s+)?")


def numbers_of(text: str) -> set[str]:
    """Each number in digits, without separators and zeros after the point."""
    return {_plain(found) for found in _DIGITS.findall(text)} | set(_spelled(text.lower()))


def _plain(digits: str) -> str:
    whole, point, rest = digits.replace(",", "").rstrip(".").partition(".")
    rest = rest.rstrip("0")
    return f"{whole}{point}{rest}" if rest else whole


def _spelled(text: str) -> Iterator[str]:
    """Numbers of runs such as "seven hundred and ninety-nine"."""
    run: list[str] = []
    end = 0
    for match in _WORD.finditer(text):
        word = match.group()
        known = word in _UNITS or (run and (word == "hundred" or word in _SCALES))
        if run and not (known and _BETWEEN.fullmatch(text, end, match.start())):
            if word == "and" and text[end : match.start()].isspace():
                continue  # decided by what follows it
            yield str(_value(run))
            run = []
            known = word in _UNITS
        if known:
            run.append(word)
            end = match.end()
    if run:
        yield str(_value(run))


def _value(run: list[str]) -> int:
    total = part = 0
    for word in run:
        if word == "hundred":
            part *= 100
        elif word in _SCALES:
            total, part = total + part * _SCALES[word], 0
        else:
            part += _UNITS[word]
    return total + part
