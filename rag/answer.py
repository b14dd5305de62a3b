"""From a question to a checked answer: retrieval, the new turn, the model's words, citations.

The program finds and quotes, the model phrases, and the program checks the phrase against the
quotation: the quotation is there at once, the phrase is a draft until it is checked. It knows the
library and a generator. It does not know models, token ids or the screen.
"""

from __future__ import annotations

from collections.abc import Generator as Events
from collections.abc import Iterator, Sequence

from rag import (
    citations,
    evidence,
    finder,
    phrase,
    prompt,
    survey_text,
    whole_document,
)
from rag.chinese import is_chinese
from rag.errors import InvalidQuestion
from rag.evidence import Evidence
from rag.finder import Finder
from rag.history import History, Message
from rag.library import Library
from rag.opening import opening
from rag.protocols import Generated, Generator, Request
from rag.quote import Quote
from rag.types import (
    Answer,
    AnswerDelta,
    AnswerDraft,
    AnswerEvent,
    AnswerNotice,
    Citation,
    EvidenceFound,
    Hit,
    Reading,
)
from rag.whole_document import Findings, Survey

NOT_FOUND = "The documents do not say."
NOT_FOUND_ZH = "文件中没有说明。"
_ANSWER_TOKENS = 72
_RESERVE = 48
_CITED = 3
_RELATED = 0.7


class Answerer:
    """Answers questions about the documents of a library."""

    def __init__(self, library: Library, generator: Generator) -> None:
        self._library = library
        self._generator = generator
        self._finder = Finder(library)

    def ask(
        self, question: str, *, conversation: str = "", documents: Sequence[str] = ()
    ) -> Iterator[AnswerEvent]:
        """Yields the evidence and the quotation first, then drafts, then the whole `Answer`.

        Raises:
            InvalidQuestion: the question is empty, or the library is.
            UnknownDocument: one of `documents` isn't in the library.
        """
        question = question.strip()
        if not question:
            raise InvalidQuestion("The question is empty; type a question about your documents.")
        known = [document.name for document in self._library.documents()]
        if not known:
            raise InvalidQuestion("There is no document yet; add a PDF first, then ask.")
        self._generator.prepare(conversation)
        whole = whole_document.recognise(question)
        if whole is not None:
            yield from self._survey(whole, question, conversation, documents or known)
            return
        asked = finder.understand(question, self._past(conversation), documents, known)
        hits = self._finder.passages(asked)
        yield EvidenceFound(asked.full.text, tuple(hits))
        ranked = self._finder.quotations(asked, hits)
        if not ranked:
            yield from _nothing(question)
            return
        yield from self._write(question, conversation, ranked, len(known) > 1 and not documents)

    def _past(self, conversation: str) -> list[Message]:
        if not conversation:
            return []
        return History(self._library.connection).messages(conversation)

    def _write(
        self, question: str, conversation: str, ranked: Sequence[Quote], several: bool
    ) -> Iterator[AnswerEvent]:
        """The best quotation, and the model's phrase if that bears it out."""
        citing = self._cite(_close(ranked))
        quotation = citations.block(ranked[0], citing[0], 1, several)
        yield AnswerDelta(quotation, citing)
        chosen = self._choose(question, conversation, ranked)
        request = Request(
            user=prompt.user_turn(question, chosen.new, chosen.known),
            system=prompt.SYSTEM,
            prefix=opening(question),
            max_tokens=_ANSWER_TOKENS,
            stop=("\n",),
            record={"question": question, "sent": chosen.record},
        )
        end = yield from self._generate(conversation, request)
        said = phrase.checked(end.text, [ranked[0].text], question, cut=end.reason == "length")
        if is_chinese(question) and not is_chinese(said):
            said = ""
        rest = _rest(said, citing, chinese=is_chinese(question))
        if rest:
            yield AnswerDelta(rest)
        stopped = end.reason == "stopped"
        yield Answer(quotation + rest, True, citing, dict(end.stats), stopped)

    def _cite(self, quotes: Sequence[Quote]) -> tuple[Citation, ...]:
        page = self._library.page
        return tuple(citations.citation(q, page(q.chunk.document, q.page)) for q in quotes)

    def _choose(
        self,
        question: str,
        conversation: str,
        ranked: Sequence[Quote],
        most: int = evidence.MOST,
    ) -> Evidence:
        generator = self._generator
        left = generator.tokens_left(conversation) - _ANSWER_TOKENS - _RESERVE
        left -= generator.count_tokens(prompt.SYSTEM) + generator.count_tokens(question)
        room = evidence.budget(generator.prefill_speed(), left)
        turns = generator.turns(conversation) if conversation else ()
        return evidence.choose(ranked, turns, room, generator.count_tokens, most)

    def _generate(
        self, conversation: str, request: Request
    ) -> Events[Reading | AnswerDraft | AnswerNotice, None, Generated]:
        """Runs a turn; returns its last event."""
        end, written = Generated("end"), ""
        events = self._generator.ask(conversation, request)
        for event in events:
            if event.kind == "reading":
                yield Reading(event.done, event.total)
            elif event.kind == "text":
                written += event.text
                yield AnswerDraft(written)
            elif event.kind == "notice":
                yield AnswerNotice(event.text)
            elif event.kind == "end":
                end = event
        return end

    def _survey(
        self, asked: Survey, question: str, conversation: str, documents: Sequence[str]
    ) -> Iterator[AnswerEvent]:
        """Answers a question about whole documents; the model keeps the gist in its transcript."""
        found = Findings((), 0, 0)
        chinese = is_chinese(question)
        for event in whole_document.survey(asked, self._library, documents, chinese):
            if isinstance(event, Reading):
                yield event
            else:
                found = event
        if not found.found:
            yield from _nothing(question)
            return
        hits = tuple(Hit(f.quote.chunk, f.quote.score) for f in found.found)
        yield EvidenceFound(question, hits)
        closing = survey_text.closing(found, chinese)
        text = "\n".join([*survey_text.lines(found, len(documents) > 1), "", closing])
        cited = self._cite([f.quote for f in found.found])
        yield AnswerDelta(text, cited)
        request = self._gist([f.quote for f in found.found], question, conversation)
        end = yield from self._generate(conversation, request)
        yield Answer(text, True, cited, dict(end.stats), end.reason == "stopped")

    def _gist(self, found: Sequence[Quote], question: str, conversation: str) -> Request:
        """What the model keeps of a survey: the passages that it has time to read, as a turn.

        The list itself stays out of the transcript: a small model would go on writing lists, as it
        goes on with whatever an answer looks like. So its answer there is a plain sentence.
        """
        chosen = self._choose(question, conversation, found, most=len(found))
        new = sorted(chosen.new, key=lambda q: -q.page)
        return Request(
            user=prompt.user_turn(question, new, chosen.known),
            system=prompt.SYSTEM,
            choices=(prompt.gist(chosen.new or chosen.known),),
            stop_after_choice=True,
            max_tokens=_ANSWER_TOKENS,
            record={"question": question, "sent": chosen.record},
        )


def _nothing(question: str) -> Iterator[AnswerEvent]:
    text = NOT_FOUND_ZH if is_chinese(question) else NOT_FOUND
    yield AnswerDelta(text)
    yield Answer(text, found=False, citations=())


def _close(ranked: Sequence[Quote]) -> list[Quote]:
    """The quotations that an answer cites: the best, and those nearly as good."""
    best = ranked[0]
    return [best, *(q for q in ranked[1:_CITED] if q.score >= _RELATED * best.score)]


def _rest(said: str, cited: Sequence[Citation], *, chinese: bool) -> str:
    """What stands below the quotation: the checked phrase, and where else to look."""
    parts = [f"{said} [1]"] if said else []
    places = list(enumerate(cited[1:], start=2))
    if places and chinese:
        parts.append(f"另见{'、'.join(f'第 {c.page} 页 [{n}]' for n, c in places)}。")
    elif places:
        parts.append(f"See also {', '.join(f'{c.place} [{n}]' for n, c in places)}.")
    return "".join(f"\n\n{part}" for part in parts)
