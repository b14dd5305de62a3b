"""The open conversation and the answer being written: what is asked of the worker, and what came.

One answer is written at a time; another conversation can be looked at meanwhile. It draws nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from PySide6.QtCore import QObject, Signal

from desktop_app import records
from desktop_app.window.jobs import Jobs
from desktop_app.window.wording import title_of
from rag.types import Answer, Citation, Hit


@dataclass(slots=True, eq=False)
class Run:
    """An answer on its way, with everything that has arrived so far."""

    question: str
    documents: tuple[str, ...] = ()
    conversation: str = ""
    turn: int | None = None  # the turn that is replaced
    job: int = 0
    hits: tuple[Hit, ...] = ()
    reading: records.Reading | None = None
    text: str = ""
    citations: tuple[Citation, ...] = ()
    draft: str = ""
    notices: list[str] = field(default_factory=list)
    stopping: bool = False
    again: bool = False
    view: int = 0  # which opening of a conversation it was asked in


class Session(QObject):
    """Opens conversations and asks questions.

    Signals:
        opened: ConversationEntry or None, and its messages.
        started, evidence, reading, noticed, ended: the Run they are about, and what came.
    """

    opened = Signal(object, object)
    entered = Signal(object)  # the ConversationEntry a first question made
    started = Signal(object)
    evidence = Signal(object)
    reading = Signal(object)
    text = Signal(object)
    cited = Signal(object)  # the Run, when a piece of its answer brings citations
    noticed = Signal(object, str)
    answered = Signal(object, object)  # Run, Answered
    failed = Signal(object, object)  # Run, Failed
    trouble = Signal(object)  # Failed, of something that isn't an answer
    running_changed = Signal(str)  # conversation that is being answered, "" for none

    def __init__(self, jobs: Jobs) -> None:
        super().__init__()
        self._jobs = jobs
        self.current: records.ConversationEntry | None = None
        self.run: Run | None = None
        self._opening = 0
        self._view = 0

    # conversations

    def new(self) -> None:
        """An empty conversation; the worker hears of it with the first question."""
        self._jobs.forget(self._opening)
        self._view += 1
        self.current = None
        self.opened.emit(None, ())

    def open(self, conversation: str, *, quietly: bool = False) -> None:
        """Shows a conversation; a later call makes this one void.

        If it can't be opened, `trouble` says so unless it was to be tried `quietly`.
        """
        self._jobs.forget(self._opening)
        self._opening = self._jobs.submit(
            records.OpenConversation,
            lambda reply: self._on_opened(reply, quietly=quietly),
            conversation=conversation,
        )

    def fork(self, conversation: str, turns: int | None = None) -> None:
        """Opens a copy of a conversation's first turns."""
        self._jobs.forget(self._opening)
        self._opening = self._jobs.submit(
            records.ForkConversation, self._on_opened, conversation=conversation, turns=turns
        )

    def rename(self, conversation: str, title: str) -> None:
        self._jobs.submit(
            records.RenameConversation, self._on_other, conversation=conversation, title=title
        )

    def delete(self, conversation: str) -> None:
        """Deletes a conversation, stopping its answer first."""
        if self.run is not None and self.run.conversation == conversation:
            self._jobs.stop(self.run.job)
            self._jobs.forget(self.run.job)
            self._end_run()
        self._jobs.submit(records.DeleteConversation, self._on_other, conversation=conversation)
        if self.current is not None and self.current.id == conversation:
            self.new()

    # answers

    def ask(self, question: str, documents: tuple[str, ...]) -> None:
        """Asks in the open conversation, or in a new one."""
        run = self._begin(Run(question, documents))
        if self.current is not None:
            run.conversation = self.current.id
            self._send(run)
        else:
            run.job = self._jobs.submit(
                records.NewConversation,
                lambda reply: self._on_created(run, reply),
                title=title_of(question),
            )

    def edit(self, turn: int, question: str, documents: tuple[str, ...]) -> None:
        """Replaces the question of a turn; later turns go."""
        if self.current is not None:
            run = self._begin(Run(question, documents, self.current.id, turn))
            self._send(run)

    def regenerate(self, turn: int, question: str, documents: tuple[str, ...]) -> None:
        """Asks the question of a turn once more."""
        if self.current is not None:
            run = self._begin(Run(question, documents, self.current.id, turn, again=True))
            self._send(run)

    def stop(self) -> None:
        """Ends the answer early; what was written stays."""
        if self.run is not None:
            self.run.stopping = True
            self._jobs.stop(self.run.job)

    def _begin(self, run: Run) -> Run:
        if self.run is not None:
            raise RuntimeError("an answer is being written")
        run.view = self._view
        self.run = run
        self.started.emit(run)
        return run

    def _send(self, run: Run) -> None:
        fields: dict[str, Any] = {"conversation": run.conversation, "documents": run.documents}
        kind: type = records.Ask
        if run.turn is None:
            fields["question"] = run.question
        elif run.again:
            kind = records.Regenerate
            fields["turn"] = run.turn
        else:
            kind = records.Edit
            fields |= {"turn": run.turn, "question": run.question}
        self.running_changed.emit(run.conversation)
        run.job = self._jobs.submit(kind, lambda reply: self._on_run(run, reply), **fields)

    def _on_created(self, run: Run, reply: records.Reply) -> None:
        if isinstance(reply, records.ConversationOpened):
            run.conversation = reply.conversation.id
            if self.run is run and run.view == self._view:
                self.current = reply.conversation
                self.entered.emit(reply.conversation)
        elif isinstance(reply, records.Failed):
            self._on_run(run, reply)
        elif isinstance(reply, records.Finished) and self.run is run:
            if run.stopping or not run.conversation:
                self._on_run(run, records.Failed(run.job, "Stopped before anything was read."))
            else:
                self._jobs.submit(records.ListConversations)
                self._send(run)

    def _on_run(self, run: Run, reply: records.Reply) -> None:
        if isinstance(reply, records.Evidence):
            run.hits = reply.hits
            self.evidence.emit(run)
        elif isinstance(reply, records.Reading):
            run.reading = reply
            self.reading.emit(run)
        elif isinstance(reply, records.Delta):
            run.text += reply.text
            run.citations += reply.citations
            run.draft = ""
            self.text.emit(run)
            if reply.citations:
                self.cited.emit(run)
        elif isinstance(reply, records.Draft):
            run.draft = reply.text
            self.text.emit(run)
        elif isinstance(reply, records.Notice):
            run.notices.append(reply.text)
            self.noticed.emit(run, reply.text)
        elif isinstance(reply, records.Answered):
            self._end_run()
            self.answered.emit(run, reply)
        elif isinstance(reply, records.Failed):
            if self.run is run:
                self._end_run()
                self.failed.emit(run, reply)
        elif isinstance(reply, records.Finished):
            if self.run is run:
                self._end_run()
                self.answered.emit(run, _cut_short(run))
            self._jobs.submit(records.ListConversations)  # the turn is written down by now

    def _end_run(self) -> None:
        self.run = None
        self.running_changed.emit("")

    def _on_opened(self, reply: records.Reply, *, quietly: bool = False) -> None:
        if isinstance(reply, records.ConversationOpened):
            self._view += 1
            self.current = reply.conversation
            self.opened.emit(reply.conversation, reply.messages)
        elif isinstance(reply, records.Failed) and not quietly:
            self.trouble.emit(reply)
        elif isinstance(reply, records.Finished):
            self._jobs.submit(records.ListConversations)

    def _on_other(self, reply: records.Reply) -> None:
        if isinstance(reply, records.Failed):
            self.trouble.emit(reply)


def _cut_short(run: Run) -> records.Answered:
    """The end of a job that was stopped before it had an answer."""
    answer = Answer(run.text, found=True, citations=run.citations, stopped=True)
    return records.Answered(run.job, run.conversation, -1, answer)
