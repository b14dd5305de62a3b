"""Questions about a document as a whole: its main terms, every obligation, every mention.

Every chunk is read by the program, so such an answer can say truly how many pages were read.
It knows the library, not the language model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from rag import main_terms, sentences
from rag.clause_topics import MAIN_TERMS
from rag.library import Library
from rag.quote import Quote
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
_WHOSE = re.compile(
    r"\b(?P<party>[a-z-]+)['’]s? (?:[a-z]+ )?(?:obligations?|duties|responsibilities)\b",
    re.IGNORECASE,
)
_EVERYBODY = {"party", "parties", "agreement", "contract", "document"}
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
    """All that a survey found: at most MOST_LISTED of `total`, from `pages` pages read.

    `missing` names the main terms that no sentence was found for.
    """

    found: tuple[Finding, ...]
    total: int
    pages: int
    missing: tuple[str, ...] = ()


def recognise(question: str) -> Survey | None:
    """The survey that a question asks for, or None for a question about a passage."""
    if match := _MENTIONS.search(question) or _MENTIONS_ZH.search(question):
        groups = match.groupdict()
        return Survey("mentions", (groups.get("term") or groups.get("term2") or "").strip())
    if match := _DUTIES.search(question) or _DUTIES_ZH.search(question):
        whose = match if match.group("party") else _WHOSE.search(question)
        party = whose["party"].strip() if whose else ""
        return Survey("duties", "" if party.lower() in _EVERYBODY else party)
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
        yield from _terms(library, documents, chunks, pages, chinese)
        return
    every: list[Finding] = []
    for done, chunk in enumerate(chunks):
        if done % 50 == 0:
            yield Reading(pages * done // max(1, len(chunks)), pages, "pages")
        every.extend(_scan(asked, chunk))
    yield Findings(tuple(every[:MOST_LISTED]), len(every), pages)


def _terms(
    library: Library,
    documents: Sequence[str],
    chunks: Sequence[Chunk],
    pages: int,
    chinese: bool,
) -> Iterator[Reading | Findings]:
    found: list[Finding] = []
    missing: list[str] = []
    for done, topic in enumerate(MAIN_TERMS):
        yield Reading(pages * done // len(MAIN_TERMS), pages, "pages")
        name = topic.name_zh if chinese else topic.name
        quote = main_terms.find(topic, library, documents, chunks, chinese)
        if quote is None:
            missing.append(name)
        elif all(f.quote.text != quote.text for f in found):
            found.append(Finding(name, quote))
    yield Findings(tuple(found), len(found), pages, tuple(missing))


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
