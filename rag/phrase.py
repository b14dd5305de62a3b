"""The model's own words about a quotation, and whether they may be shown.

A small model phrases well and remembers badly: an amount, a date or a number in its words that
stands in no passage was made up, so the sentence that holds it is withdrawn.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from rag import denial, sentences
from rag.answer_type import holds_expected
from rag.chinese import is_chinese
from rag.numerals import numbers_of
from rag.quotes import words

_OWN_WORDS = 0.8
_FEW = 3  # of so many words one may be the model's own
_SAME = 0.8
_SHORT = 9
_SCRAP = 4  # words
_RUN, _TIMES = 4, 3
_OWN_CHINESE = 0.9
_LEAD = re.compile(r"^(so,? )?the (correct )?answer is:?\s*", re.IGNORECASE)


def checked(phrase: str, evidence: Sequence[str], question: str, *, cut: bool = False) -> str:
    """The sentences of `phrase` that one of the evidence bears out; empty if there are none.

    Withdrawn are sentences with a number that neither the evidence nor the question holds, with
    mostly words that neither holds, that deny where the evidence doesn't or the other way round,
    without the kind of thing asked for, repeated ones and those that go round in circles. A phrase
    that only says the quotation again is withdrawn whole: the quotation itself is shown. With
    `cut` the phrase is unfinished, and so is its last sentence.
    """
    kept: list[str] = []
    said = sentences.split(_LEAD.sub("", phrase.strip()))
    for sentence in said[:-1] if cut else said:
        if (
            sentence.text in kept
            or _circles(sentence.text)
            or not any(_borne_out(sentence.text, text, question) for text in evidence)
        ):
            break
        kept.append(sentence.text)
    text = " ".join(kept)
    if not text or holds_expected(question, text) == 0.0 or _scrap(text):
        return ""
    if any(_repeats(text, quotation) for quotation in evidence):
        return ""
    return text[0].upper() + text[1:]


def _borne_out(sentence: str, text: str, question: str) -> bool:
    source = f"{text} {question}"
    said, known = words(sentence), words(source)
    if not said - words(question) - denial.WORDS or numbers_of(sentence) - numbers_of(source):
        return False
    if denial.contradicts(sentence, text):
        return False
    enough = _OWN_CHINESE if is_chinese(sentence) else _OWN_WORDS
    own = len(said - known)
    return own <= (1 - enough) * len(said) or (own == 1 and len(said) == _FEW)


def _scrap(text: str) -> bool:
    """Whether it is too little to say anything: "The Royalty Fees."."""
    return not is_chinese(text) and len(text.split()) < _SCRAP and not numbers_of(text)


def _circles(sentence: str) -> bool:
    """Whether some words in a row come three times."""
    row = sentence.lower().split()
    runs = Counter(tuple(row[n : n + _RUN]) for n in range(len(row) - _RUN + 1))
    return max(runs.values(), default=0) >= _TIMES


def _repeats(text: str, quotation: str) -> bool:
    said, quoted = words(text), words(quotation)
    return len(quoted) > _SHORT and len(said & quoted) >= _SAME * len(said | quoted)
