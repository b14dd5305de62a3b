"""The handle to an engine in a process of its own: `Engine`'s methods, and a life after a crash.

A process that dies takes no conversation with it. While it was still reading, the question is
asked again in a fresh process. While it wrote, the answer ends with what there is, as if the user
had stopped it, after one line of notice; the fresh process adds the turn with that text to the
transcript before it does anything else. So the next question follows on what the user saw.

It knows calls, events and processes; not tokens.
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from engine import wire
from engine.errors import EngineDied, EngineError
from engine.host import FACTORY, LOOKING
from engine.host_process import HostProcess
from engine.types import (
    CacheReport,
    ConversationInfo,
    EngineOptions,
    Event,
    Finished,
    ModelInfo,
    Notice,
    SamplingOptions,
    TextDelta,
    Turn,
    TurnStats,
)

logger = logging.getLogger(__name__)

RESTARTED = "The engine stopped unexpectedly and was started again; the conversation goes on."
CUT_SHORT = (
    "The engine stopped unexpectedly, so the answer ends here; ask again or go on, "
    "the conversation is kept."
)
_RESTARTS_A_MINUTE = 3
_HARMLESS = LOOKING | {"score", "open"}  # may run twice
GREEDY = SamplingOptions()


@dataclass(frozen=True, slots=True)
class _Partial:
    """An answer that died with its process."""

    conversation: str
    turn: Turn
    text: str
    turns: int


@dataclass(slots=True)
class _Answer:
    """What has come of a running `ask` so far."""

    conversation: str
    turns: int = 0
    text: str = ""
    stopped: bool = False


class EngineClient:
    """An engine in a process of its own; thread-safe. The process starts with the first call.

    Args:
        options: for the engine.
        on_notice: gets one line for the user when the process died while nothing was asked; may
            come from any thread.
        factory: "module:function" that makes the engine from the options, in the process.
        log: file for the process's log; beside it, with the ending .crash, tracebacks of crashes
            in C code.
    """

    def __init__(
        self,
        options: EngineOptions,
        on_notice: Callable[[str], None] | None = None,
        *,
        factory: str = FACTORY,
        log: Path | None = None,
    ) -> None:
        self._options, self._factory, self._log = options, factory, log
        self._on_notice = on_notice
        self._lock = threading.RLock()
        self._host: HostProcess | None = None
        self._partials: list[_Partial] = []
        self._answers: list[_Answer] = []
        self._deaths: deque[float] = deque(maxlen=_RESTARTS_A_MINUTE + 1)
        self._closed = False
        atexit.register(_close, weakref.ref(self))

    @property
    def info(self) -> ModelInfo:
        """The model; starts the process if there is none."""
        return self._ready().info

    @property
    def pid(self) -> int | None:
        """The id of the engine's process; None while there is none."""
        host = self._host
        return host.pid if host is not None and host.alive else None

    def start(self) -> None:
        """Loads the model now instead of with the first call.

        Raises:
            ModelError, BackendUnavailable: it can't be loaded; the message says why.
        """
        self._ready()

    def ask(
        self,
        conversation: str,
        turn: Turn,
        sampling: SamplingOptions = GREEDY,
        *,
        use_cache: bool = True,
    ) -> Iterator[Event]:
        """As `Engine.ask`. Closing the iterator stops the answer within one batch."""
        answer = _Answer(conversation)
        self._answers.append(answer)
        try:
            for again in (False, True):
                try:
                    yield from self._events(answer, turn, sampling, use_cache)
                    return
                except EngineDied:
                    if self._closed or (again and not answer.text):
                        raise
                if answer.text:
                    break
                yield Notice(RESTARTED)
        finally:
            self._answers.remove(answer)
        yield from self._cut_short(answer, turn)

    def stop(self, conversation: str) -> None:
        """Ends within one batch what is asked of a conversation; returns at once."""
        for answer in list(self._answers):
            if answer.conversation == conversation:
                answer.stopped = True
        host = self._host
        if host is not None and host.alive:
            host.stop(conversation)

    def score(self, conversation: str, turn: Turn, answers: Sequence[str]) -> list[float]:
        """As `Engine.score`."""
        return cast(list[float], self._call("score", conversation, turn, list(answers)))

    def count_tokens(self, text: str) -> int:
        """As `Engine.count_tokens`."""
        return cast(int, self._call("count_tokens", text))

    def prefill_speed(self) -> float:
        """As `Engine.prefill_speed`."""
        return cast(float, self._call("prefill_speed"))

    def conversation(self, id: str) -> ConversationInfo:  # noqa: A002
        """As `Engine.conversation`."""
        return cast(ConversationInfo, self._call("conversation", id))

    def conversations(self) -> list[str]:
        """As `Engine.conversations`."""
        return cast(list[str], self._call("conversations"))

    def open(self, id: str) -> None:  # noqa: A002
        """As `Engine.open`."""
        self._call("open", id)

    def rewind(self, id: str, turns: int) -> None:  # noqa: A002
        """As `Engine.rewind`."""
        self._call("rewind", id, turns)

    def fork(self, id: str, new_id: str, turns: int | None = None) -> None:  # noqa: A002
        """As `Engine.fork`."""
        self._call("fork", id, new_id, turns)

    def delete(self, id: str) -> None:  # noqa: A002
        """As `Engine.delete`."""
        self._call("delete", id)

    def cache_report(self) -> CacheReport:
        """As `Engine.cache_report`."""
        return cast(CacheReport, self._call("cache_report"))

    def close(self) -> None:
        """Lets the engine finish its writing and ends its process."""
        self._closed = True
        host = self._host
        if host is not None:
            host.close()

    def _events(
        self, answer: _Answer, turn: Turn, sampling: SamplingOptions, use_cache: bool
    ) -> Iterator[Event]:
        """Asks the process that runs now, and notes in `answer` what comes."""
        host = self._ready()
        if answer.stopped:  # while the process was starting
            yield Finished("", "stopped", _no_stats())
            return
        replies = host.stream("ask", answer.conversation, turn, sampling, use_cache)
        with contextlib.closing(replies):
            for reply in replies:
                if isinstance(reply, wire.Begun):
                    answer.turns = reply.turns
                elif isinstance(reply, wire.Item):
                    event = cast(Event, reply.event)
                    if isinstance(event, TextDelta):
                        answer.text += event.text
                    yield event

    def _cut_short(self, answer: _Answer, turn: Turn) -> Iterator[Event]:
        """The end of an answer whose process died while it was written."""
        text = answer.text if answer.text.startswith(turn.prefix) else turn.prefix + answer.text
        if answer.conversation:
            self._partials.append(_Partial(answer.conversation, turn, text, answer.turns))
            self._restart()
        yield Notice(CUT_SHORT)
        yield Finished(text, "stopped", _no_stats())

    def _call(self, method: str, *args: object) -> object:
        try:
            return self._ready().call(method, *args)
        except EngineDied:
            if self._closed or method not in _HARMLESS:
                raise
        return self._ready().call(method, *args)

    def _ready(self) -> HostProcess:
        """The running process; a fresh one if need be, told of the answers that were cut short."""
        with self._lock:
            if self._closed:
                raise EngineDied("The engine is closed; start the program again to use it.")
            if self._host is None or not self._host.alive:
                self._host = None
                self._host = HostProcess(self._options, self._factory, self._log)
                self._host.watch(self._on_death)
            host = self._host
            while self._partials:
                part = self._partials.pop(0)
                try:
                    host.call("adopt_partial", part.conversation, part.turn, part.text, part.turns)
                except EngineError:
                    logger.exception("an answer that was cut short could not be kept")
            return host

    def _on_death(self, host: HostProcess) -> None:
        """Runs on the process's reader thread, before its calls are told."""
        if host.closing or self._closed:
            return
        logger.error("the engine's process ended")
        if not self._answers and self._on_notice is not None:
            self._on_notice(RESTARTED)
        now = time.monotonic()
        self._deaths.append(now)
        if sum(now - death < 60 for death in self._deaths) <= _RESTARTS_A_MINUTE:
            self._restart()

    def _restart(self) -> None:
        """Gets a process ready in the background, so that the next question needn't wait."""
        threading.Thread(target=self._try_ready, name="engine-restart", daemon=True).start()

    def _try_ready(self) -> None:
        try:
            self._ready()
        except EngineError as error:
            logger.warning("the engine could not be started again: %s", error)


def _no_stats() -> TurnStats:
    return TurnStats("", "", 0, 0, 0, 0, 0.0, 0.0)


def _close(reference: weakref.ref[EngineClient]) -> None:
    client = reference()
    if client is not None:
        client.close()
