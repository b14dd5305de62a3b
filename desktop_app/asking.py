"""One question from start to end: asked, perhaps stopped, and kept in the history.

The command line and the worker ask through this. It knows nothing of how answers are made or
shown. The model's transcript and the history are kept in step: each message notes how many turns
the transcript had after it, since not every answer needs the model's own conversation.
"""

from __future__ import annotations

import dataclasses
import logging
import secrets
import threading
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from desktop_app.composition import Composition
from desktop_app.errors import AppError, explain
from engine.errors import ContextTooLong, EngineError, UnknownConversation
from rag.history import Conversation, History, Message
from rag.types import Answer, AnswerDelta, AnswerEvent, AnswerNotice, Citation

if TYPE_CHECKING:
    from desktop_app.generator import EngineGenerator

logger = logging.getLogger(__name__)

TRANSCRIPT_TURNS = "transcript_turns"
_TITLE = 60


def new_conversation_id() -> str:
    """An id that no conversation has; ids sort by time."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"


def title_of(question: str) -> str:
    """A conversation's title until the user gives it another: its first question, shortened."""
    line = " ".join(question.split())
    return line if len(line) <= _TITLE else line[: _TITLE - 1].rstrip() + "…"


class Asker:
    """Asks questions on the thread that made it; `stop` may come from any thread."""

    def __init__(self, composition: Composition) -> None:
        self._composition = composition
        self._reader = composition.reader()
        self._lock = threading.Lock()
        self._running: tuple[EngineGenerator, str] | None = None
        self._halted = False
        self.turn = -1  # of the last answer in the history

    @property
    def history(self) -> History:
        """The conversations of the library."""
        return History(self._reader.library.connection)

    def new_conversation(self) -> str:
        """An id that no conversation has."""
        return new_conversation_id()

    def begin(self) -> None:
        """A `stop` from now on concerns the next question, even if it hasn't begun."""
        self._halted = False

    def ask(
        self,
        question: str,
        *,
        conversation: str = "",
        documents: Sequence[str] = (),
        use_cache: bool = True,
    ) -> Iterator[AnswerEvent]:
        """Yields the events of `rag.answer.Answerer.ask`, the `Answer` last.

        With a conversation the turn is added to its history. If the answer fails when some of it
        was written, that part is kept as a stopped answer before the error goes on its way.
        """
        generator = self._composition.generator(use_cache=use_cache)
        self._check_length(question, conversation, generator)
        answerer = self._composition.answerer(self._reader.library, generator)
        with self._lock:
            self._running = generator, conversation
            if self._halted:
                generator.stop(conversation)
        self.turn = -1
        written = ""
        cited: tuple[Citation, ...] = ()
        events = answerer.ask(question, conversation=conversation, documents=documents)
        try:
            for event in events:
                if isinstance(event, AnswerDelta):
                    written += event.text
                    cited += event.citations
                if isinstance(event, Answer):
                    yield from self._keep(conversation, question, event)
                yield event
        except Exception:
            if written:
                part = Answer(written, True, cited, stopped=True)
                yield from self._keep(conversation, question, part)
            raise
        finally:
            with self._lock:
                self._running = None

    def again(
        self,
        conversation: str,
        turn: int,
        question: str = "",
        *,
        documents: Sequence[str] = (),
    ) -> Iterator[AnswerEvent]:
        """Asks turn `turn` (from 0) again, or another question in its place; later turns go.

        Raises:
            AppError: the conversation has no such turn.
        """
        messages = self.history.messages(conversation)
        if not 0 <= turn < len(messages):
            raise AppError(f"The conversation has no question number {turn + 1}.", "Open it again.")
        question = question or messages[turn].question
        self._rewind(conversation, transcript_turns(messages[:turn]))
        self.history.keep(conversation, turn)
        yield from self.ask(question, conversation=conversation, documents=documents)

    def fork(self, conversation: str, turns: int | None = None) -> Conversation:
        """Copies a conversation's first `turns` turns (None: all), transcript and cache too."""
        messages = self.history.messages(conversation)[:turns]
        entry = self.history.fork(conversation, new_conversation_id(), turns)
        kept = None if turns is None else transcript_turns(messages)
        try:
            self._composition.engine.fork(conversation, entry.id, kept)
        except UnknownConversation:
            logger.info("the engine has no transcript to fork")
        except Exception:
            self.history.delete(entry.id)
            raise
        return entry

    def stop(self) -> None:
        """Ends the running question within one batch; what was written stays."""
        with self._lock:
            self._halted = True
            running = self._running
        if running is not None:
            generator, conversation = running
            generator.stop(conversation)

    def close(self) -> None:
        """Closes the library."""
        self._reader.close()

    def _keep(self, conversation: str, question: str, answer: Answer) -> Iterator[AnswerEvent]:
        """Adds the turn to the history; what prevents it is told, and the answer still arrives."""
        if not conversation:
            return
        turns = self._turns(conversation)
        stats = answer.stats if turns is None else answer.stats | {TRANSCRIPT_TURNS: turns}
        try:
            self.history.begin(conversation, title_of(question))
            kept = dataclasses.replace(answer, stats=stats)
            self.turn = self.history.add(conversation, question, kept)
        except Exception as error:
            logger.exception("a turn could not be kept")
            yield AnswerNotice(" ".join(part for part in explain(error) if part))

    def _check_length(self, question: str, conversation: str, generator: EngineGenerator) -> None:
        """Raises ContextTooLong for a question that no window can hold.

        A token has at least one byte, so only a long question is counted, and only that may start
        the engine.
        """
        if len(question.encode("utf8", "replace")) <= self._composition.settings.window // 2:
            return
        tokens, room = generator.count_tokens(question), generator.tokens_left(conversation)
        if tokens > room:
            raise ContextTooLong(tokens, room)

    def _turns(self, conversation: str) -> int | None:
        """Turns of the transcript; None if that can't be known."""
        if not self._composition.engine_started:
            return None
        try:
            return len(self._composition.engine.conversation(conversation).turns)
        except UnknownConversation:
            return 0
        except EngineError:
            logger.exception("the transcript's turns could not be counted")
            return None

    def _rewind(self, conversation: str, turns: int) -> None:
        try:
            self._composition.engine.rewind(conversation, turns)
        except UnknownConversation:
            logger.info("the engine has no transcript to rewind")


def transcript_turns(messages: Sequence[Message]) -> int:
    """How many turns the transcript had after the last of these messages."""
    value = messages[-1].answer.stats.get(TRANSCRIPT_TURNS) if messages else 0
    return value if isinstance(value, int) else len(messages)
