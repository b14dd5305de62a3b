"""The sentence that states a main term of a contract: its parties, its price, how it ends.

Of the passages that the search finds for a topic, the sentences worded as such a rule commonly is
are ranked; where none is among them, the whole document is looked through. A topic without such a
sentence has none: a wrong sentence is worse. It knows the library, not the language model.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from rag import quotes, sentences
from rag.captions import is_form
from rag.clause_topics import Topic
from rag.library import Library
from rag.quote import Quote
from rag.types import Chunk, Hit

_RULE = 0.3
_LATE = 0.2  # a sentence on the last page, against one on the first
_OPENING = 8  # pages on which parties are named: a table of contents may stand before
_LOOKED_THROUGH = 8  # passages that hold such a sentence, where the search found none
_SHORT = 240  # characters up to which a sentence that ends in a colon is continued
# A clause's first paragraph says the rule, later ones exceptions: "9.1", "Section 2.01.", "(a)".
_FIRST = re.compile(
    r"(?:(?:section|clause|article)\s*)?(?:\d+\.)+0?1\b|\(a\)|第\S+条", re.IGNORECASE
)
_ASIDE = re.compile(
    r"\b(?:(?:do|does|shall|will) not apply|disput(?:e|es|ed) an?|except (?:as|that|with|for)|"
    r"unless otherwise|without prejudice|notwithstanding|not subject to)\b|除.{1,12}外",
    re.IGNORECASE,
)
_DEFINES = re.compile(r"[\"“][^\"”]{1,60}[\"”],? (?:means|shall mean|has the meaning)")
_FRAGMENT = re.compile(r"[a-z]|\(?\d+\) [a-z]")  # the rest of a sentence cut by a page
# The terms stand in the body; forms and schedules repeat or apply them.
_ANNEX = re.compile(r"\b(form|annex|appendix|exhibit|contents)\b|附件|附录|目录", re.IGNORECASE)


def find(
    topic: Topic,
    library: Library,
    documents: Sequence[str],
    chunks: Sequence[Chunk],
    chinese: bool = False,
) -> Quote | None:
    """The sentence that states a topic's rule best; None if none does.

    `chunks` are those of the documents, in order.
    """
    if topic.opens and (first := _opening(topic, chunks)) is not None:
        return _continued(first)
    queries = (topic.query_zh,) if chinese else (topic.query, topic.question)
    hits = [library.search(query, documents, k=6) for query in queries]
    ranked = _ranked(topic, queries, hits, library)
    if not ranked:
        holding = _looked_through(topic, chunks)
        ranked = _ranked(topic, queries, [holding] * len(queries), library)
    best = next((q for q in ranked if not _ANNEX.search(q.chunk.section)), None)
    best = best or next(iter(ranked), None)
    return _continued(best) if best else None


def _opening(topic: Topic, chunks: Sequence[Chunk]) -> Quote | None:
    """The first sentence on the first pages that states a topic."""
    for chunk in (c for c in chunks if c.page <= _OPENING):
        for sentence in sentences.split(chunk.text):
            text = sentence.text
            if _fits(text, topic) and not is_form(text):
                return Quote(text, chunk, sentence.start, sentence.stop, 1.0)
    return None


def _ranked(
    topic: Topic, queries: Sequence[str], hits: Sequence[Sequence[Hit]], library: Library
) -> list[Quote]:
    """Sentences that state the topic, by the mean of their scores for the queries.

    One that a query didn't find gets the query's lowest score.
    """
    lists = [
        quotes.rank(query, found, library.sentence_embedder, limit=24)
        for query, found in zip(queries, hits, strict=True)
    ]
    lists = [found for found in lists if found]
    scores: dict[tuple[int, int], list[float]] = {}
    known = {(q.chunk.id, q.start): q for found in lists for q in found if _states(q.text, topic)}
    for found in lists:
        own = {(q.chunk.id, q.start): q.score for q in found}
        for key in known:
            scores.setdefault(key, []).append(own.get(key, found[-1].score))
    ranked = [replace(q, score=sum(scores[key]) / len(lists)) for key, q in known.items()]
    last = max((q.page for q in ranked), default=1)
    return sorted(ranked, key=lambda q: _weight(q) - _LATE * q.page / last, reverse=True)


def _looked_through(topic: Topic, chunks: Sequence[Chunk]) -> list[Hit]:
    """The first passages of the body that hold a sentence which states the topic."""
    holding = [
        Hit(chunk, 0.0)
        for chunk in chunks
        if topic.rule.search(chunk.text)
        and not _ANNEX.search(chunk.section)
        and any(_states(sentence.text, topic) for sentence in sentences.split(chunk.text))
    ]
    return holding[:_LOOKED_THROUGH]


def _states(text: str, topic: Topic) -> bool:
    """Whether a sentence states the topic's rule."""
    return _fits(text, topic) and not _DEFINES.match(text) and _is_sentence(text)


def _fits(text: str, topic: Topic) -> bool:
    """Whether a text is worded as the topic's rule commonly is."""
    return bool(topic.rule.search(text)) and not topic.beside.search(text)


def _weight(quote: Quote) -> float:
    """A sentence's score, higher for the rule that a clause begins with than for an exception."""
    first, aside = _FIRST.match(quote.text), _ASIDE.search(quote.text)
    return quote.score + _RULE * bool(first) - _RULE * bool(aside)


def _is_sentence(text: str) -> bool:
    """False for a form, a line of contents, a row of a table and the rest of a cut sentence."""
    return (
        not is_form(text)
        and " | " not in text
        and not _FRAGMENT.match(text)
        and text.rstrip('"”)]').endswith((".", ";", ":", "。", "；", "："))
    )


def _continued(quote: Quote) -> Quote:
    """With the sentence that a colon announces: "made on 14 March between:"."""
    if not quote.text.rstrip().endswith((":", "：")) or len(quote.text) > _SHORT:
        return quote
    text = quote.chunk.text
    stop = next((s.stop for s in sentences.split(text) if s.stop > quote.stop), quote.stop)
    return replace(quote, text=text[quote.start : stop], stop=stop)
