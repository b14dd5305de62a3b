"""Ranks the sentences of the passages found, so that an answer can quote the right one.

It knows sentences and an embedder. It does not know the language model.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from rag import sentences
from rag.answer_type import holds_expected
from rag.concepts import expand
from rag.protocols import Embedder
from rag.sentences import Sentence
from rag.types import Chunk, Hit, Span

# Weights of `rank`, chosen on 49 hand-written questions, all of them: no half was held out.
_SHARED = 0.4
_WORDED = 0.5
_EXPECTED = 0.4
_PLACE = 0.2
_STEM = 6

_FORM = 0.2
_LENGTH = 0.1
# "17 Invoicing and payment": names a clause, says nothing.
_HEADING = re.compile(
    r"(?:(?:article|section|part|schedule|annex|exhibit|appendix)\b[^:]{0,40}|[\d.]{0,8})\s*"
    r"[A-Z][^\W\d]*(?:[ ,&/-]+[^\W\d]+){0,7}:?|"
    r"第[一二三四五六七八九十百]+[条章节][^，。；：]{0,14}",
    re.IGNORECASE,
)
# "C. The Distributor's Objectives.": every word but the small ones has a capital.
_TITLE = re.compile(
    r"(?:\(?[A-Z0-9]{1,3}[.)]\s*)?[A-Z][\w'’-]*"
    r"(?:,? (?:of|the|and|or|for|to|in|on|[A-Z][\w'’-]*)){0,7}\."
)
_LEADING = re.compile(
    r"\d{1,3}\n|"
    r"\d{1,2}\.?\s+[A-Z][^\W\d]*(?:[ ,&/-]+[^\W\d]+){0,6}(?:\n|\s+(?=\d{1,2}\.\d))"
)
# A form to be filled in: "[party]", "[ ]", "____".
_BLANK = re.compile(r"\[[^\]\d]{0,40}\]|_{3,}|\.{6,}")

_WORD = re.compile(r"[a-z0-9]+(?:[.,]\d+)*|[\u4e00-\u9fff]")
_STOP = frozenset(
    "a an the of to in on at by for and or is are was were be been do does did has have had what "
    "which who whom whose when where how why must may can could shall should will would this that "
    "these those it its there any each as from with under into than their they".split()
)


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence of a passage, verbatim, with its place; a higher score is better.

    `meaning` is the cosine of the question and the sentence; `worded` that of the sentence and
    the usual wording of the kind of clause asked for (of `meaning`'s value if there is none).
    """

    text: str
    chunk: Chunk
    start: int
    stop: int
    score: float
    meaning: float = 0.0
    worded: float = 0.0

    @property
    def spans(self) -> tuple[Span, ...]:
        return locate(self.chunk, self.start, self.stop)

    @property
    def page(self) -> int:
        """The page on which it begins."""
        spans = self.spans
        return spans[0].page if spans else self.chunk.page

    @property
    def text_on_page(self) -> str:
        """The part of `text` that stands on `page`: footers lie between it and the rest."""
        offset, parts = 0, []
        for span in self.chunk.spans:
            length = span.stop - span.start
            a, b = max(self.start, offset), min(self.stop, offset + length)
            if a < b and span.page == self.page:
                parts.append(self.chunk.text[a:b].strip())
            offset += length + 1
        return "\n".join(parts) or self.text


def words(text: str) -> set[str]:
    """Content words of a text, lower case and cut to six letters; Chinese by character.

    The cut joins inflections (terminate, termination) without a stemmer for each language.
    """
    return {w[:_STEM] if w.isalpha() else w for w in _WORD.findall(text.lower()) if w not in _STOP}


def rank(
    question: str, hits: Sequence[Hit], embedder: Embedder, limit: int = 8, context: str = ""
) -> list[Quote]:
    """Sentences of the hits, best first.

    A sentence counts by its meaning (cosine), the share of the question's words that it holds (rare
    ones weigh more), the kind of thing it holds against the kind asked for, and its passage's rank.

    Args:
        question: what is asked; its kind of thing is looked for.
        hits: passages, best first.
        embedder: compares meanings.
        limit: most quotations returned.
        context: words of earlier turns that a follow-up leans on.
    """
    full = f"{context} {question}".strip()
    found = [
        (hit, place, sentence)
        for place, hit in enumerate(hits)
        for sentence in map(_headless, sentences.split(hit.chunk.text))
        if len(words(sentence.text)) >= 2 and not _is_heading(sentence.text)
    ]
    if not found:
        return []
    wordings = expand(question, context).wordings
    vectors = embedder.embed([full, *wordings, *(s.text for _, _, s in found)])
    rows = vectors[1 + len(wordings) :]
    similar = rows @ vectors[0]
    usual = (rows @ vectors[1 : 1 + len(wordings)].T).max(axis=1) if wordings else similar
    said = [words(s.text) for _, _, s in found]
    weight = _weights(words(full), said)
    quotes = []
    for (hit, place, sentence), meaning, worded, has in zip(
        found, similar, usual, said, strict=True
    ):
        shared = sum(w for word, w in weight.items() if word in has)
        score = (
            float(meaning)
            + _WORDED * float(worded)
            + _SHARED * shared
            + _EXPECTED * holds_expected(question, sentence.text)
            + _PLACE / (1 + place)
            - _LENGTH * min(1.0, len(sentence.text) / 800)
            - _FORM * is_form(sentence.text)
        )
        quotes.append(
            Quote(sentence.text, hit.chunk, sentence.start, sentence.stop, score, float(meaning))
        )
    quotes.sort(key=lambda q: -q.score)
    return _without_twins(quotes)[:limit]


def is_form(text: str) -> bool:
    """True for a form to be filled in and for a line of a table of contents."""
    return bool(_BLANK.search(text))


def _is_heading(text: str) -> bool:
    return bool(_HEADING.fullmatch(text) or _TITLE.fullmatch(text))


def _headless(sentence: Sentence) -> Sentence:
    """The sentence without the heading that runs into it: "9 Warranty 9.1 The Supplier …"."""
    match = _LEADING.match(sentence.text)
    if match is None or len(words(sentence.text[match.end() :])) < 2:
        return sentence
    text = sentence.text[match.end() :]
    return Sentence(text, sentence.start + match.end(), sentence.stop)


def _weights(asked: set[str], said: Sequence[set[str]]) -> dict[str, float]:
    """Weight of each word of the question, in sum 1: the rarer among the sentences, the more."""
    rarity = {
        word: math.log((1 + len(said)) / (1 + sum(word in has for has in said))) + 0.1
        for word in asked
    }
    total = sum(rarity.values()) or 1.0
    return {word: value / total for word, value in rarity.items()}


def _without_twins(quotes: Sequence[Quote]) -> list[Quote]:
    seen: set[str] = set()
    out = []
    for quote in quotes:
        key = "".join(c for c in quote.text.lower() if c.isalnum())
        if key not in seen:
            seen.add(key)
            out.append(quote)
    return out


def locate(chunk: Chunk, start: int, stop: int) -> tuple[Span, ...]:
    """Page spans of the characters start ≤ c < stop of a chunk's text."""
    out = []
    offset = 0
    for span in chunk.spans:
        length = span.stop - span.start
        a, b = max(start, offset), min(stop, offset + length)
        if a < b:
            out.append(Span(span.page, span.start + a - offset, span.start + b - offset))
        offset += length + 1
    return tuple(out)
