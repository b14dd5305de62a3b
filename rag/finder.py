"""From a question in its conversation to passages and quotations, or to none.

It knows the library and the turns before. It does not know the language model.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rag import (
    agreement_date,
    hallmarks,
    honesty,
    main_terms,
    quotes,
    reference,
    rewrite,
    title,
)
from rag.answer_type import holds_expected
from rag.clause_topics import topic
from rag.concepts import expand
from rag.history import Message
from rag.library import Library
from rag.off_topic import off_topic
from rag.quote import Quote
from rag.rewrite import Standalone
from rag.types import Hit

_PARTIES = re.compile(r"\bparties\b", re.IGNORECASE)
# "When was the agreement signed?", "When does it take effect?": not when a warranty begins.
_OF_THE_WHOLE = re.compile(
    r"\b(agreement|contract|lease|licen[cs]e|document|addendum|deed|policy)\b"
    r"|^(and |so )?(since )?when (does|did|was|is|has) (it|this)\b|合同|协议",
    re.IGNORECASE,
)
_DATES = ((agreement_date.AGREEMENT,), (agreement_date.EFFECTIVE,))
_PASSAGES = 5
_BOTH_WAYS = 6  # passages of a follow-up, searched with its context and without
_RANKED = 8
_RANKED_FOR_NEXT = 24  # the item after the one just quoted may rank low
_POINTED = 2


@dataclass(frozen=True, slots=True)
class Asked:
    """A question in its conversation.

    Attributes:
        full: the question, with the context that it leans on.
        documents: those that are searched; empty is all. only: the one that is meant, or empty.
        shown: what the last answer quoted; empty if nothing.
    """

    full: Standalone
    documents: tuple[str, ...]
    only: str
    shown: str

    @property
    def goes_on(self) -> bool:
        """Whether the item after the one just quoted is asked for."""
        return bool(self.shown) and rewrite.asks_for_the_next(self.full.question)


def understand(
    question: str, past: Sequence[Message], documents: Sequence[str], known: Sequence[str]
) -> Asked:
    """A question after the turns `past`, about `documents` of those `known` or about all."""
    last = past[-1].answer.citations if past else ()
    shown = last[0].quote if last else ""
    full = rewrite.standalone(question, [message.question for message in past], shown)
    meant = documents or known
    return Asked(full, tuple(documents), meant[0] if len(meant) == 1 else "", shown)


class Finder:
    """Finds what the documents say."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def passages(self, asked: Asked) -> list[Hit]:
        """Passages, best first; a follow-up is searched with its context and without."""
        full, search = asked.full, self._library.search
        hits = search(full.text, asked.documents, k=_PASSAGES)
        if not full.dependent:
            return hits
        alone = search(full.question, asked.documents, k=_PASSAGES)
        merged: dict[int, Hit] = {}
        if asked.goes_on:  # the item after stands behind the one that was shown
            merged = {hit.chunk.id: hit for hit in search(asked.shown, asked.documents, k=1)}
        for pair in zip(hits, alone, strict=False):
            for hit in pair:
                merged.setdefault(hit.chunk.id, hit)
        return list(merged.values())[:_BOTH_WAYS]

    def quotations(self, asked: Asked, hits: Sequence[Hit]) -> list[Quote]:
        """Sentences of the passages, best first; none if the documents don't say."""
        ranked = self._followed(asked, hits, self._rank(asked, hits))
        if first := self._of_the_opening(asked):
            return [first, *ranked]
        if asked.goes_on and ranked and quotes.follows(ranked[0], asked.shown):
            return ranked
        full, later = asked.full, asked.full.dependent
        # What the questions before it asked for is no sign for this one.
        kind = full.question if expand(full.question).names else ""
        silent = all(
            honesty.silent(way, hits, ranked, follow_up=later, kind=kind)
            for way in {full.text, full.question}
        )
        return [] if silent or (later and off_topic(full.question, hits)) else ranked

    def _rank(self, asked: Asked, hits: Sequence[Hit]) -> list[Quote]:
        """Quotations for the question; a follow-up wants more than the last answer quoted."""
        ranked = quotes.rank(
            asked.full.question,
            hits,
            self._library.sentence_embedder,
            _RANKED_FOR_NEXT if asked.goes_on else _RANKED,
            asked.full.context,
        )
        if asked.full.dependent and asked.shown and not _holds_more(asked, ranked):
            ranked.sort(key=lambda quote: quote.text_on_page == asked.shown)
        if asked.goes_on:
            ranked.sort(key=lambda quote: not quotes.follows(quote, asked.shown))
        return ranked

    def _followed(self, asked: Asked, hits: Sequence[Hit], ranked: list[Quote]) -> list[Quote]:
        """With the clause that the best sentence points to, where that lacks what is asked for."""
        full = asked.full
        clause = reference.clause(full.question, ranked[0].text) if ranked else ""
        if not clause:
            return ranked
        there = self._library.search(f"{clause} {full.text}", asked.documents, k=_POINTED)
        known = {hit.chunk.id for hit in hits}
        more = [hit for hit in there if hit.chunk.id not in known]
        again = self._rank(asked, [*more, *hits])
        return again if reference.held(full.question, again[0].text) else ranked

    def _of_the_opening(self, asked: Asked) -> Quote | None:
        """The document's title, parties or date, if asked for and one document is meant."""
        question = asked.full.question
        kind = expand(question).names[:1] if asked.only else ()
        if kind == ("Title",):
            return title.find(self._library.chunks(asked.only))
        if kind == ("Parties",) and _PARTIES.search(question):
            chunks = self._library.chunks(asked.only)
            return main_terms.find(topic("Parties"), self._library, [asked.only], chunks)
        # What is signed is the agreement; what takes effect may be what was just spoken of.
        whole = kind == (agreement_date.AGREEMENT,) or not asked.full.dependent
        if kind in _DATES and whole and _OF_THE_WHOLE.search(question):
            return agreement_date.find(kind[0], self._library.chunks(asked.only))
        return None


def _holds_more(asked: Asked, ranked: Sequence[Quote]) -> bool:
    """Whether what the last answer quoted answers this question too, and better than the next.

    "What security must it give?" – "For how much?": the sentence has the amount, and no other is of
    that kind of clause.
    """
    first = ranked[0] if ranked else None
    if first is None or first.text_on_page != asked.shown:
        return False
    kinds = () if expand(asked.full.question).names else expand(asked.full.text).names
    others = [q for q in ranked if q.text_on_page != asked.shown][:1]
    return (
        holds_expected(asked.full.question, first.text) == 1.0
        and hallmarks.borne(kinds, first.text) is True
        and not any(hallmarks.borne(kinds, other.text) for other in others)
    )
