"""Decides whether the documents are silent on a question.

It looks at how well the best sentence fits, with weights calibrated on questions whose answer is
known to be there or not. It knows numbers only.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass

from rag import hallmarks
from rag.answer_type import holds_expected
from rag.chinese import is_chinese
from rag.concepts import expand
from rag.quotes import Quote, words
from rag.types import Hit


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
        hallmark: whether the best sentence bears the hallmark of such a clause; 0.5 if unknown.
    """

    meaning: float
    second: float
    shared: float
    sentence: float
    expected: float
    worded: float
    terms: float
    hallmark: float


def signs(question: str, hits: Sequence[Hit], ranked: Sequence[Quote]) -> Signs:
    """The signs for a question, its passages and their ranked sentences (at least one each)."""
    asked = words(question)
    expansion = expand(question)
    best = max(len(asked & words(h.chunk.text + " " + h.chunk.section)) for h in hits)
    own = max(len(asked & words(q.text)) for q in ranked[:3])
    total = max(1, len(asked))
    meanings = sorted((q.meaning for q in ranked), reverse=True)
    return Signs(
        meanings[0],
        meanings[1] if len(meanings) > 1 else 0.0,
        best / total,
        own / total,
        max(holds_expected(question, q.text) for q in ranked[:3]),
        max(q.worded for q in ranked),
        _usual(expansion.terms, hits),
        _HALLMARK[hallmarks.borne(expansion.names, ranked[0].text)],
    )


_HALLMARK = {True: 1.0, False: 0.0, None: 0.5}


def _usual(terms: Sequence[str], hits: Sequence[Hit]) -> float:
    usual = words(" ".join(terms))
    if not usual:
        return 0.5
    return max(len(usual & words(h.chunk.text)) for h in hits) / len(usual)


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
_KIND = re.compile(r"^(?:and |so )?(?:which|what) (?P<kind>[a-z-]{4,})\b", re.IGNORECASE)
# Kinds that clauses hold without naming them, or that a question only begins with.
_PLAIN = words(
    "party parties date dates amount percentage percent rate kind kinds type types period time "
    "does must shall will would happens happen company state country city place area were person "
    "people entity many much long exactly else sort hours days number code licence license"
)
_BOTH = 2
# Words that a follow-up asks with and that say nothing of what it asks for.
_LEANING = words(
    "and but or so then also about there here one ones same other happens happened if not no yes "
    "more less most least big large small high low new old often far soon late give given get got "
    "say said mean means tell know go goes apply applies exactly case instead otherwise whether "
    "still before after during until within without both either neither between two three first "
    "second last next previous way can could he she they we you your our us me my him her"
)


def _unnamed(question: str, hits: Sequence[Hit]) -> bool:
    """Whether the kind of thing asked for by name stands in none of the passages."""
    match = _KIND.match(question.strip())
    kind = words(match["kind"]) if match else set()
    return bool(kind - _PLAIN) and not any(
        kind & words(f"{hit.chunk.text} {hit.chunk.section}") for hit in hits
    )


def off_topic(question: str, hits: Sequence[Hit]) -> bool:
    """Whether a follow-up asks for something that no passage speaks of.

    "What about the weather there?" leans on the question before, whose signs may be good. Its own
    words must stand in a passage, both of two and a third of more, unless they name a known kind of
    clause.
    """
    if is_chinese(question) or expand(question).names:
        return False
    own = _bare(word for word in words(question) - _PLAIN - _LEANING if len(word) > 1)
    if not own:
        return False
    said = (_bare(words(f"{hit.chunk.text} {hit.chunk.section}")) for hit in hits)
    shared = max((len(own & have) for have in said), default=0)
    return shared < (len(own) if len(own) <= _BOTH else len(own) / 3)


def _bare(inflected: Iterable[str]) -> set[str]:
    """Words without the s of a plural or a verb: "ends" as "end"."""
    return {word.rstrip("s") for word in inflected}


def likelihood(found: Signs) -> float:
    """How likely the documents hold the answer, 0 … 1."""
    z = _BIAS + sum(w * v for w, v in zip(_WEIGHTS, astuple(found), strict=True))
    return 1 / (1 + math.exp(-z))


def silent(
    question: str, hits: Sequence[Hit], ranked: Sequence[Quote], *, follow_up: bool = False
) -> bool:
    """True if the documents don't say."""
    if not hits or not ranked:
        return True
    usual = THRESHOLD if expand(question).names else UNKNOWN_KIND
    least = FOLLOW_UP if follow_up else usual + UNNAMED * _unnamed(question, hits)
    return likelihood(signs(question, hits, ranked)) < least
