"""From a question to a checked answer: retrieval, the new turn, the model's words, citations.

It knows the library and a generator. It does not know models, token ids or the screen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rag import citations, prompt, quotes
from rag.errors import InvalidQuestion
from rag.library import Library
from rag.protocols import Generated, Generator, Request
from rag.types import (
    Answer,
    AnswerDelta,
    AnswerEvent,
    AnswerNotice,
    EvidenceFound,
    Hit,
    Reading,
)

NOT_FOUND = "The documents do not say."
_ANSWER_TOKENS = 160


class Answerer:
    """Answers questions about the documents of a library."""

    def __init__(self, library: Library, generator: Generator) -> None:
        self._library = library
        self._generator = generator

    def ask(
        self, question: str, *, conversation: str = "", documents: Sequence[str] = ()
    ) -> Iterator[AnswerEvent]:
        """Yields the evidence first, then the answer as it is written, then the whole `Answer`.

        Raises:
            InvalidQuestion: the question is empty, or the library is.
            UnknownDocument: one of `documents` isn't in the library.
        """
        question = question.strip()
        if not question:
            raise InvalidQuestion("The question is empty; type a question about your documents.")
        if not self._library.documents():
            raise InvalidQuestion("There is no document yet; add a PDF first, then ask.")
        hits = self._library.search(question, documents, k=5)
        yield EvidenceFound(question, tuple(hits))
        if not hits:
            yield AnswerDelta(NOT_FOUND)
            yield Answer(NOT_FOUND, found=False, citations=())
            return
        ranked = quotes.rank(question, hits, self._library.embedder)
        request = self._request(question, conversation, hits)
        yield from self._generate(conversation, request, ranked)

    def _request(self, question: str, conversation: str, hits: Sequence[Hit]) -> Request:
        """The new turn: passages not yet in the window, within what the window can take."""
        seen = {
            chunk_id
            for turn in self._generator.turns(conversation)
            if turn.in_window
            for chunk_id in _ids(turn.record)
        }
        left = self._generator.tokens_left(conversation) - _ANSWER_TOKENS
        room = max(0, left - self._generator.count_tokens(prompt.SYSTEM + question) - 64)
        new, known, ids = [], [], []
        for hit in hits[:3]:
            if hit.chunk.id in seen:
                known.append(prompt.reference(hit.chunk))
                continue
            text = prompt.passage(hit.chunk)
            cost = self._generator.count_tokens(text)
            if cost > room:
                break
            room -= cost
            new.append(text)
            ids.append(hit.chunk.id)
        return Request(
            user=prompt.user_turn(question, new, known),
            system=prompt.SYSTEM,
            max_tokens=_ANSWER_TOKENS,
            record={"question": question, "chunks": ids},
        )

    def _generate(
        self, conversation: str, request: Request, ranked: Sequence[quotes.Quote]
    ) -> Iterator[AnswerEvent]:
        end = Generated("end")
        for event in self._generator.ask(conversation, request):
            if event.kind == "reading":
                yield Reading(event.done, event.total)
            elif event.kind == "text":
                yield AnswerDelta(event.text)
            elif event.kind == "notice":
                yield AnswerNotice(event.text)
            else:
                end = event
        support = citations.supporting(end.text, ranked) or list(ranked[:1])
        cited = tuple(citations.citation(q) for q in support)
        marks = "".join(f" [{n}]" for n in range(1, len(cited) + 1))
        if marks:
            yield AnswerDelta(marks)
        yield Answer(end.text + marks, True, cited, dict(end.stats), end.reason == "stopped")


def _ids(record: dict[str, object]) -> list[int]:
    value = record.get("chunks")
    return [i for i in value if isinstance(i, int)] if isinstance(value, list) else []
