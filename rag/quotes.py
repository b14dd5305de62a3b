"""Ranks the sentences of the passages found, so that an answer can quote the right one.

It knows sentences and an embedder. It does not know the language model.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence, Set
from dataclasses import dataclass

import numpy as np

from rag import hallmarks, keywords, sentences
from rag.answer_type import holds_expected
from rag.captions import is_definition, is_form, is_heading
from rag.chinese import is_chinese
from rag.concepts import Expansion, expand
from rag.protocols import Embedder
from rag.quote import Quote
from rag.sentences import Sentence
from rag.types import Hit
from rag.vectors import Vectors


@dataclass(frozen=True, slots=True)
class _Signs:
    """How much meaning, usual wording and shared words count."""

    meaning: float
    worded: float
    shared: float


# Weights of `rank`, chosen on 49 hand-written questions, all of them: no half was held out. The
# default embedder was trained on English, so Chinese leans on words.
_ENGLISH = _Signs(1.0, 0.5, 0.4)
_CHINESE = _Signs(0.4, 0.2, 1.2)
_USUAL = 0.3  # a word that such clauses usually hold, beside one of the question
_EXPECTED = 0.4
_HALLMARK = 0.25  # of the kind of clause asked for
_PLACE = 0.2
_OPENS = 0.25  # where such text stands at the start of a document, and this one does
_OPENING = 4  # passages
_CONTEXT = 0.4  # of an earlier turn's words, beside the question's own
_NAMES = 0.6
_EMBEDDED = 24  # sentences that get a vector: they are the larger part of the time
_STEM = 6

_FORM = 0.2
_DEFINES = 0.3  # where no meaning is asked for, nor a figure that it holds
_NOT_ASKED = 0.5  # what `holds_expected` gives where no kind of thing is asked for
_ONE_CASE_ONLY = 0.2
_LENGTH = 0.1
_LEADING = re.compile(
    r"\d{1,3}\n|"
    r"\d{1,2}\.?\s+[A-Z][^\W\d]*(?:[ ,&/-]+[^\W\d]+){0,6}(?:\n|\s+(?=\d{1,2}\.\d))"
)
# A rule for one case only: "12.4 For damage to buildings …", "If the Supplier …".
_ONE_CASE = re.compile(
    r"(?:\(?[\w.]{1,6}[.)]\s*|[\d.]{1,6}\s+)?(?:For|If|When|Where|In (?:the )?(?:case|event)"
    r"|Unless|Except|To the extent|Notwithstanding)\b"
)
_ASKS_OF_A_CASE = re.compile(
    r"\b(if|in case|when|unless|except\w*|fail\w*|late|breach\w*|default)\b", re.IGNORECASE
)
_ASKS_A_MEANING = re.compile(
    r"\bmean(s|t|ing)?\b|\bdefin|\b(what|who)(['’]s| is| are| was| were| counts?)\b"
    r"|意思|定义|什么是|是什么|是谁",
    re.IGNORECASE,
)
_WHO = re.compile(
    r"(?:and |so )?who(?:'s| is| are| was| were) (?:the |an? )?(?P<term>[\w -]{3,40}?)s? ?\??$",
    re.IGNORECASE,
)
_WORD = re.compile(r"[a-z0-9]+(?:[.,]\d+)*|[\u4e00-\u9fff]")
_STOP = frozenset(
    "a an the of to in on at by for and or is are was were be been do does did has have had what "
    "which who whom whose when where how why must may can could shall should will would this that "
    "these those it its there any each as from with under into than their they".split()
)


_Found = tuple[Hit, int, Sentence]


def words(text: str) -> set[str]:
    """Content words of a text, lower case and cut to six letters; Chinese by character.

    The cut joins inflections (terminate, termination) without a stemmer for each language;
    "licence" is as good as "license".
    """
    return {
        w[:_STEM].replace("enc", "ens") if w.isalpha() else w
        for w in _WORD.findall(text.lower())
        if w not in _STOP
    }


def rank(
    question: str, hits: Sequence[Hit], embedder: Embedder, limit: int = 8, context: str = ""
) -> list[Quote]:
    """Sentences of the hits, best first.

    A sentence counts by its meaning (cosine), the share of the question's words that it holds (rare
    ones weigh more), the kind of thing it holds against the kind asked for, the hallmark of such a
    clause, and its passage's rank.

    Args:
        question: what is asked; its kind of thing is looked for.
        hits: passages, best first.
        embedder: compares meanings.
        limit: most quotations returned.
        context: words of earlier turns that a follow-up leans on.
    """
    found = [
        (hit, place, sentence)
        for place, hit in enumerate(hits)
        for sentence in _candidates(hit.chunk.text)
    ]
    if not found:
        return []
    expansion = expand(question, context)
    if context and not expansion.names:  # "For how much?" asks on about what was asked before
        expansion = expand(f"{context} {question}")
    found = _likely(found, question, context, expansion)
    near, meaning, usual = _meanings(found, question, context, expansion.wordings, embedder)
    signs, weight, said = _words_asked(found, question, context, expansion)
    special = 0.0 if _ASKS_OF_A_CASE.search(question) else _ONE_CASE_ONLY
    defines = 0.0 if _ASKS_A_MEANING.search(question) else _DEFINES
    named = _named(question)
    quotes = []
    for number, (hit, place, sentence) in enumerate(found):
        expected = holds_expected(question, sentence.text)
        shared = sum(w for word, w in weight.items() if word in said[number])
        score = (
            signs.meaning * float(near[number])
            + signs.worded * float(usual[number])
            + signs.shared * shared
            + _EXPECTED * expected
            + _HALLMARK * bool(hallmarks.borne(expansion.names, sentence.text))
            + _PLACE / (1 + place)
            - _LENGTH * min(1.0, len(sentence.text) / 800)
            - _FORM * is_form(sentence.text)
            - special * bool(_ONE_CASE.match(sentence.text))
            - defines * (expected <= _NOT_ASKED and is_definition(sentence.text))
            + _NAMES * bool(named and named.search(sentence.text))
            + _OPENS * (expansion.place == "start" and hit.chunk.ordinal < _OPENING)
        )
        place_in_chunk = (sentence.start, sentence.stop)
        cosines = (float(meaning[number]), float(usual[number]))
        quotes.append(Quote(sentence.text, hit.chunk, *place_in_chunk, score, *cosines))
    quotes.sort(key=lambda q: -q.score)
    return _without_twins(quotes)[:limit]


def follows(quote: Quote, earlier: str) -> bool:
    """Whether a quotation comes next after the text `earlier` in its passage."""
    between = quote.chunk.text[: quote.start].rpartition(earlier)
    return bool(between[1]) and not words(between[2])


def _meanings(
    found: Sequence[_Found],
    question: str,
    context: str,
    wordings: Sequence[str],
    embedder: Embedder,
) -> tuple[Vectors, Vectors, Vectors]:
    """Cosines of each sentence: to rank by, the better of with and without context, usual wording.

    Each has shape (len(found),).
    """
    full = f"{context} {question}".strip()
    vectors = embedder.embed([question, full, *wordings, *(s.text for _, _, s in found)])
    rows = vectors[2 + len(wordings) :]
    alone, whole = rows @ vectors[0], rows @ vectors[1]
    near = (1 - _CONTEXT) * alone + _CONTEXT * whole
    usual = (rows @ vectors[2 : 2 + len(wordings)].T).max(axis=1) if wordings else near
    return near, np.maximum(alone, whole), usual


def _words_asked(
    found: Sequence[_Found], question: str, context: str, expansion: Expansion
) -> tuple[_Signs, dict[str, float], list[set[str]]]:
    """How much the signs count, the weight of each word asked for, the words of each sentence."""
    if not is_chinese(question):
        said = [words(s.text) for _, _, s in found]
        return _ENGLISH, _weights(words(question), words(context), said), said
    said = [_pairs(s.text) for _, _, s in found]
    usual = _pairs(" ".join(expansion.terms))
    return _CHINESE, _weights(_pairs(question), _pairs(context), said, usual), said


def _candidates(text: str) -> list[Sentence]:
    """Sentences that can be quoted; a heading that runs into one belongs to it."""
    out: list[Sentence] = []
    title: Sentence | None = None
    for sentence in map(_headless, sentences.split(text)):
        if is_heading(sentence.text):
            title = sentence
        elif len(words(sentence.text)) >= 2:
            near = title is not None and "\n" not in text[title.start : sentence.start]
            start = title.start if title is not None and near else sentence.start
            out.append(Sentence(text[start : sentence.stop], start, sentence.stop))
            title = None
    return out


def _headless(sentence: Sentence) -> Sentence:
    """The sentence without the heading that runs into it: "9 Warranty 9.1 The Supplier …"."""
    match = _LEADING.match(sentence.text)
    if match is None or len(words(sentence.text[match.end() :])) < 2:
        return sentence
    text = sentence.text[match.end() :]
    return Sentence(text, sentence.start + match.end(), sentence.stop)


def _likely(found: list[_Found], question: str, context: str, expansion: Expansion) -> list[_Found]:
    """The sentences worth a vector, by their words alone; in their order."""
    if len(found) <= _EMBEDDED:
        return found
    asked = _pairs(" ".join([question, context, *expansion.terms]))

    def promise(one: _Found) -> float:
        _, place, sentence = one
        return (
            len(asked & _pairs(sentence.text)) / max(1, len(asked))
            + _EXPECTED * holds_expected(question, sentence.text)
            + _HALLMARK * bool(hallmarks.borne(expansion.names, sentence.text))
            + _PLACE / (1 + place)
        )

    best = sorted(range(len(found)), key=lambda n: -promise(found[n]))[:_EMBEDDED]
    return [found[n] for n in sorted(best)]


def _named(question: str) -> re.Pattern[str] | None:
    """How a contract says who "the borrower" is: “(the "Borrower")”, “"Borrower" means”, "as X"."""
    match = _WHO.match(" ".join(question.split()))
    if match is None:
        return None
    term = re.escape(match["term"])
    return re.compile(
        rf"\([^()]*[\"“”]{term}s?[\"“”,.]+[^()]*\)|[\"“]{term}s?[\"”]\s+(?:means|shall mean)|"
        rf"\bas (?:the )?{term}s?\b|^{term}s?\s*[:|]",
        re.IGNORECASE | re.MULTILINE,
    )


def _pairs(text: str) -> set[str]:
    """Chinese text by pairs of characters, and its words and numbers in letters."""
    return set(keywords.words(text))


def _weights(
    asked: set[str],
    context: set[str],
    said: Sequence[set[str]],
    usual: Set[str] = frozenset(),
) -> dict[str, float]:
    """Weight of each word asked for, in sum 1: the rarer among the sentences, the more.

    Words of the context count less than the question's own, and usual words of such clauses less
    still. With usual words, those that no sentence holds are left out.
    """
    known = set().union(*said) if usual else asked | context
    rarity = {
        word: (1.0 if word in asked else _CONTEXT if word in context else _USUAL)
        * (math.log((1 + len(said)) / (1 + sum(word in has for has in said))) + 0.1)
        for word in (asked | context | usual) & known
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
