"""Questions about a document as a whole: its main terms, every obligation, every mention.

Every chunk is read by the program, so such an answer can say truly how many pages were read.
It knows the library, not the language model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from rag import quotes, sentences
from rag.clause_topics import MAIN_TERMS, Topic
from rag.library import Library
from rag.quotes import Quote
from rag.types import Chunk, Reading

MOST_LISTED = 40

_TERMS = re.compile(
    r"\b(main|key|principal|essential|most important|basic|core)\s+"
    r"(terms|points|provisions|clauses|conditions|facts)\b|\b(summari[sz]e|summary|overview|outline|review)\b.*|"
    r"\bwhat is (this|the) (document|contract|agreement|file) about\b|"
    r"主要(条款|内容|条件)|概括|总结|摘要|概述",
    re.IGNORECASE,
)
_DUTIES = re.compile(
    r"\b(list|all|every|which|what are)\b.*\b(obligations?|duties|responsibilities)\b"
    r"(?:.*?\b(?:of|for)\s+(?:the\s+)?(?P<party>[\w -]+?))?\s*[?.]*$",
    re.IGNORECASE,
)
_DUTIES_ZH = re.compile(
    r"(?P<party>[甲乙买卖]方|供应商|承包人|发包人)?的?(全部|所有|主要)?(义务|责任)有?哪些"
)
_MENTIONS = re.compile(
    r"\b(?:which|what|list|show|find)\b.*\b(?:clauses?|sections?|articles?|passages?|places?|pages?|"
    r"paragraphs?|provisions?)\b.*?\b(?:mentions?|refers? to|deals? with|talks? about|contains?|"
    r"mentioning|about)\s+(?:the\s+)?[\"“']?(?P<term>.+?)[\"”']?\s*[?.]*$|"
    r"\bevery (?:mention|occurrence) of\s+[\"“']?(?P<term2>.+?)[\"”']?\s*[?.]*$",
    re.IGNORECASE,
)
_MENTIONS_ZH = re.compile(
    r"(哪些|哪几)(条款|条|地方).*?(提到|涉及|包含|提及)了?[“\"]?(?P<term>.+?)[”\"]?[？?。]*$"
)
_DUTY = re.compile(
    r"\b(shall|must|undertakes?|agrees? to|is (required|obliged|obligated) to|"
    r"are (required|obliged) to|will)\b|应当|应|须|必须|负责",
    re.IGNORECASE,
)


# A clause's first paragraph says the rule, later ones exceptions: "9.1", "Section 2.01.", "(a)".
_FIRST = re.compile(
    r"(?:(?:section|clause|article)\s*)?(?:\d+\.)+0?1\b|\(a\)|第\S+条", re.IGNORECASE
)
_ASIDE = re.compile(
    r"\b(?:(?:do|does|shall|will) not apply|disput(?:e|es|ed) an?|except (?:as|that)|"
    r"unless otherwise|without prejudice|notwithstanding|not subject to)\b|除.{1,12}外",
    re.IGNORECASE,
)
_DEFINES = re.compile(r"[\"“][^\"”]{1,60}[\"”],? (?:means|shall mean|has the meaning)")
_RULE = 0.3
_OPENING = 8  # pages on which parties are named: a table of contents may stand before
# The terms stand in the body; forms and schedules repeat or apply them.
_ANNEX = re.compile(r"\b(form|annex|appendix|exhibit|contents)\b|附件|附录|目录", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Survey:
    """A question about the whole document.

    `subject` is the party whose duties are asked for, or the term to look for; it can be empty.
    """

    kind: Literal["terms", "duties", "mentions"]
    subject: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """A line of the answer: its heading and the sentence that it rests on."""

    heading: str
    quote: Quote


@dataclass(frozen=True, slots=True)
class Findings:
    """All that a survey found: at most MOST_LISTED of `total`, from `pages` pages read."""

    found: tuple[Finding, ...]
    total: int
    pages: int


def recognise(question: str) -> Survey | None:
    """The survey that a question asks for, or None for a question about a passage."""
    if match := _MENTIONS.search(question) or _MENTIONS_ZH.search(question):
        groups = match.groupdict()
        return Survey("mentions", (groups.get("term") or groups.get("term2") or "").strip())
    if match := _DUTIES.search(question) or _DUTIES_ZH.search(question):
        return Survey("duties", (match.group("party") or "").strip())
    if _TERMS.search(question):
        return Survey("terms")
    return None


def survey(
    asked: Survey, library: Library, documents: Sequence[str], chinese: bool
) -> Iterator[Reading | Findings]:
    """Reads every page of the documents; the last record is the `Findings`."""
    chunks = [chunk for name in documents for chunk in library.chunks(name)]
    pages = sum(d.pages for d in library.documents() if d.name in set(documents))
    if asked.kind == "terms":
        found: list[Finding] = []
        for done, topic in enumerate(MAIN_TERMS):
            yield Reading(pages * done // len(MAIN_TERMS), pages, "pages")
            finding = _topic(topic, library, documents, chinese)
            if finding and all(f.quote.text != finding.quote.text for f in found):
                found.append(finding)
        yield Findings(tuple(found), len(found), pages)
        return
    every: list[Finding] = []
    for done, chunk in enumerate(chunks):
        if done % 50 == 0:
            yield Reading(pages * done // max(1, len(chunks)), pages, "pages")
        every.extend(_scan(asked, chunk))
    yield Findings(tuple(every[:MOST_LISTED]), len(every), pages)


def _topic(
    topic: Topic, library: Library, documents: Sequence[str], chinese: bool
) -> Finding | None:
    """The best sentence of a topic, if any sentence found speaks of it."""
    name = topic.name_zh if chinese else topic.name
    if topic.opens and (first := _opening(topic, library, documents)) is not None:
        return Finding(name, first)
    queries = (topic.query_zh,) if chinese else (topic.query, topic.question)
    fitting = [
        quote
        for quote in _ranked(queries, library, documents)
        if topic.pattern.search(quote.text) and _says(quote.text)
    ]
    fitting.sort(key=_weight, reverse=True)
    best = next((q for q in fitting if not _ANNEX.search(q.chunk.section)), None)
    best = best or next(iter(fitting), None)
    return Finding(name, best) if best else None


def _opening(topic: Topic, library: Library, documents: Sequence[str]) -> Quote | None:
    """The first sentence of a topic on the first pages."""
    for chunk in (c for name in documents for c in library.chunks(name) if c.page <= _OPENING):
        for sentence in sentences.split(chunk.text):
            if topic.pattern.search(sentence.text) and not quotes.is_form(sentence.text):
                return Quote(sentence.text, chunk, sentence.start, sentence.stop, 1.0)
    return None


def _ranked(queries: Sequence[str], library: Library, documents: Sequence[str]) -> list[Quote]:
    """Sentences by the mean of their scores; one that a query didn't find gets its lowest."""
    lists = []
    for query in queries:
        hits = library.search(query, documents, k=6)
        lists.append(quotes.rank(query, hits, library.sentence_embedder, limit=24))
    lists = [found for found in lists if found]
    scores: dict[tuple[int, int], list[float]] = {}
    known = {(q.chunk.id, q.start): q for found in lists for q in found}
    for found in lists:
        own = {(q.chunk.id, q.start): q.score for q in found}
        for key in known:
            scores.setdefault(key, []).append(own.get(key, found[-1].score))
    ranked = [replace(q, score=sum(scores[key]) / len(lists)) for key, q in known.items()]
    return sorted(ranked, key=lambda q: -q.score)


def _weight(quote: Quote) -> float:
    """A sentence's score, higher for the rule that a clause begins with than for an exception."""
    return (
        quote.score
        + _RULE * bool(_FIRST.match(quote.text))
        - _RULE * bool(_ASIDE.search(quote.text) or _DEFINES.match(quote.text))
    )


def _says(text: str) -> bool:
    """True for a sentence; false for a form, a line of contents and a row of a table."""
    return (
        not quotes.is_form(text)
        and " | " not in text
        and text.rstrip('"”)]').endswith((".", ";", ":", "。", "；", "："))
    )


def _scan(asked: Survey, chunk: Chunk) -> Iterator[Finding]:
    wanted = _term(asked.subject) if asked.subject else None
    for sentence in sentences.split(chunk.text):
        if wanted and not wanted.search(sentence.text):
            continue
        if asked.kind == "duties" and not _is_duty(sentence.text, wanted):
            continue
        quote = Quote(sentence.text, chunk, sentence.start, sentence.stop, 1.0)
        yield Finding(chunk.section or f"p. {chunk.page}", quote)


def _is_duty(text: str, wanted: re.Pattern[str] | None) -> bool:
    """True if a word of duty follows the party within a few words."""
    if wanted is None:
        return bool(_DUTY.search(text))
    return any(_DUTY.search(text, m.end(), m.end() + 30) for m in wanted.finditer(text))


def _term(term: str) -> re.Pattern[str]:
    """A pattern for a term and its inflections: terminate, terminated, termination."""
    if re.search(r"[\u4e00-\u9fff]", term):
        return re.compile(re.escape(term))
    stems = [
        re.escape(re.sub(r"(ations?|ions?|ing|ed|es|s|e|y|ies)$", "", w)) for w in term.split()
    ]
    return re.compile(r"\b" + r"\w*\s+".join(stems) + r"\w*", re.IGNORECASE)
