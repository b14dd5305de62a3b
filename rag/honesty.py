"""Decides whether the documents are silent on a question.

It looks at how well the best sentence fits, with weights calibrated on questions whose answer is
known to be there or not. Whether the passages speak of the question at all, `off_topic` tells.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import astuple, dataclass

from rag import hallmarks
from rag.answer_type import holds_expected
from rag.concepts import expand
from rag.off_topic import unnamed
from rag.quote import Quote
from rag.quotes import words
from rag.types import Hit

# What only frames a question: no passage answers in these words.
_FRAME = words("long much many often soon last happen fall")
# Of a question with no other words and of a known kind, "How long does it last?": what is usual.
_SHARED = (0.7, 0.6)


@dataclass(frozen=True, slots=True)
class Signs:
    """What speaks for an answer being there; each in 0 … 1 or so.

    Attributes:
        meaning: cosine of question and best sentence. second: of the next best.
        shared: share of the question's content words in the best passage.
        sentence: share of them in the best sentence.
        expected: whether the best sentence holds the kind of thing asked for.
        worded: cosine of the best sentence and the usual wording of such a clause.
        terms: share of the usual words of such a clause in the best passage; 0.5 if unknown.
        hallmark: whether the best sentence bears the hallmark of such a clause; 0.5 if unknown,
            -1 where it is of the opposite kind.
    """

    meaning: float
    second: float
    shared: float
    sentence: float
    expected: float
    worded: float
    terms: float
    hallmark: float


def signs(question: str, hits: Sequence[Hit], ranked: Sequence[Quote], kind: str = "") -> Signs:
    """The signs for a question, its passages and their ranked sentences (at least one each).

    `kind` is the part of the question that tells the kind of clause, if not all of it does.
    """
    asked = words(question) - _FRAME
    expansion = expand(kind or question)
    shared = _SHARED if expansion.names else (0.0, 0.0)
    if asked:
        best = max(len(asked & words(h.chunk.text + " " + h.chunk.section)) for h in hits)
        own = max(len(asked & words(q.text)) for q in ranked[:3])
        shared = (best / len(asked), own / len(asked))
    meanings = sorted((q.meaning for q in ranked), reverse=True)
    return Signs(
        meanings[0],
        meanings[1] if len(meanings) > 1 else 0.0,
        *shared,
        max(holds_expected(question, q.text) for q in ranked[:3]),
        max(q.worded for q in ranked),
        _usual(expansion.terms, hits),
        _hallmark(expansion.names, ranked[0].text),
    )


def _usual(terms: Sequence[str], hits: Sequence[Hit]) -> float:
    usual = words(" ".join(terms))
    if not usual:
        return 0.5
    return max(len(usual & words(h.chunk.text)) for h in hits) / len(usual)


def _hallmark(names: Sequence[str], text: str) -> float:
    if hallmarks.denied(names, text):
        return -1.0
    return _HALLMARK[hallmarks.borne(names, text)]


# Logistic regression over the open questions; see tests/evaluation/calibrate.py.
_WEIGHTS = (1.5, 0.86, 2.45, 0.88, 1.11, 0.66, 1.68, 2.16)
_BIAS = -5.91
# The bias puts 0.5 where a tenth of the answerable is refused. At 0.4 it is a fifteenth, and of the
# unanswerable only one in seventy more gets an answer.
THRESHOLD = 0.4
# A follow-up asks about something that was just found, and the words of earlier turns that it leans
# on water down its signs. Chosen by reading answers; no set of unanswerable follow-ups is open.
FOLLOW_UP = 0.25
# A question about no known kind of clause, where two signs say nothing. No open question without an
# answer is one, so this is chosen by reading answers too.
UNKNOWN_KIND = 0.37
# "Which airline …" where no passage speaks of an airline: more must speak for an answer.
UNNAMED = 0.15
# "How many hours …" where the best sentences hold no such figure.
UNCOUNTED = 0.25
_COUNTED = re.compile(r"\bhow (many|much|long|often|soon|fast|quickly)\b|多少|多久|多长", re.I)
_HALLMARK = {True: 1.0, False: 0.0, None: 0.5}


def likelihood(found: Signs) -> float:
    """How likely the documents hold the answer, 0 … 1."""
    z = _BIAS + sum(w * v for w, v in zip(_WEIGHTS, astuple(found), strict=True))
    return 1 / (1 + math.exp(-z))


def silent(
    question: str,
    hits: Sequence[Hit],
    ranked: Sequence[Quote],
    *,
    follow_up: bool = False,
    kind: str = "",
) -> bool:
    """True if the documents don't say; `kind` as in `signs`."""
    if not hits or not ranked:
        return True
    names = expand(kind or question).names
    if hallmarks.dated(names) and not any(hallmarks.borne(names, q.text) for q in ranked[:3]):
        return True  # a sentence without a date is no answer
    usual = THRESHOLD if expand(question).names else UNKNOWN_KIND
    found = signs(question, hits, ranked, kind)
    if follow_up:
        return likelihood(found) < FOLLOW_UP
    uncounted = found.expected == 0 and bool(_COUNTED.search(question))
    least = usual + UNNAMED * unnamed(question, hits) + UNCOUNTED * uncounted
    return likelihood(found) < least
