"""The worker's jobs that use the model: questions, asked anew, edited or forked; its caches."""

from __future__ import annotations

from collections.abc import Iterator

from desktop_app import cache_clearing, records
from desktop_app.asking import Asker
from desktop_app.composition import Composition
from desktop_app.jobs_lookup import cache_figures, opened
from rag.types import (
    Answer,
    AnswerDelta,
    AnswerDraft,
    AnswerEvent,
    AnswerNotice,
    EvidenceFound,
)

Asking = records.Ask | records.Regenerate | records.Edit
Answering = Asking | records.ForkConversation | records.ClearCache


class AnsweringJobs:
    """Runs on one thread; `stop` may come from any."""

    def __init__(self, composition: Composition) -> None:
        self._composition = composition
        self._asker = Asker(composition)

    def handle(self, request: Answering) -> Iterator[records.Reply]:
        """The replies to a request, the last one excepted."""
        if isinstance(request, records.ForkConversation):
            entry = self._asker.fork(request.conversation, request.turns)
            yield opened(request.job, self._asker.history, entry.id)
            return
        if isinstance(request, records.ClearCache):
            cache_clearing.clear(self._composition, request.conversation)
            yield cache_figures(request.job, self._composition)
            return
        for event in self._events(request):
            yield self._reply(request.job, request.conversation, event)

    def begin(self) -> None:
        """A job begins."""
        self._asker.begin()

    def stop(self) -> None:
        """Ends the running answer within one batch."""
        self._asker.stop()

    def close(self) -> None:
        """Closes the library."""
        self._asker.close()

    def _events(self, request: Asking) -> Iterator[AnswerEvent]:
        if isinstance(request, records.Ask):
            return self._asker.ask(
                request.question,
                conversation=request.conversation,
                documents=request.documents,
                use_cache=request.use_cache,
            )
        question = request.question if isinstance(request, records.Edit) else ""
        return self._asker.again(
            request.conversation, request.turn, question, documents=request.documents
        )

    def _reply(self, job: int, conversation: str, event: AnswerEvent) -> records.Reply:
        if isinstance(event, EvidenceFound):
            return records.Evidence(job, event.question, event.hits)
        if isinstance(event, AnswerDelta):
            return records.Delta(job, event.text, event.citations)
        if isinstance(event, AnswerDraft):
            return records.Draft(job, event.text)
        if isinstance(event, AnswerNotice):
            return records.Notice(job, event.text)
        if isinstance(event, Answer):
            return records.Answered(job, conversation, self._asker.turn, event)
        return records.Reading(job, event.done, event.total, event.unit)
