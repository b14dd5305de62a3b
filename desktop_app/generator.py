"""Fits the engine to `rag.protocols.Generator`: the one place where the two packages meet.

It translates records and keeps no state but whether the cache may be used and the counts of texts
it was asked about. It knows no documents and no tensors.
"""

from __future__ import annotations

import contextlib
import dataclasses
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Protocol

from engine import types as engine_types
from engine.errors import UnknownConversation
from engine.types import ConversationInfo, Event, ModelInfo, SamplingOptions, Turn
from rag.protocols import Generated, PastTurn, Request

# Tokens of a turn that the chat template adds around the text, at most.
_TEMPLATE_TOKENS = 32


class EngineLike(Protocol):
    """The part of Engine and EngineClient that answering needs."""

    @property
    def info(self) -> ModelInfo: ...

    def ask(
        self,
        conversation: str,
        turn: Turn,
        sampling: SamplingOptions = ...,
        *,
        use_cache: bool = True,
    ) -> Iterator[Event]: ...

    def stop(self, conversation: str) -> None: ...

    def score(self, conversation: str, turn: Turn, answers: Sequence[str]) -> list[float]: ...

    def count_tokens(self, text: str) -> int: ...

    def prefill_speed(self) -> float: ...

    def conversation(self, id: str) -> ConversationInfo: ...  # noqa: A002


class EngineGenerator:
    """Implements `rag.protocols.Generator` over an engine.

    Args:
        engine: called for the engine when it is first needed, so that a question that needs no
            model starts none.
        started: whether the engine was started; a stop doesn't start one.
        window: tokens a conversation may hold, for conversations the engine doesn't know yet.
        max_tokens: most tokens of an answer, whatever the request says.
        use_cache: False reads everything again; for comparison.
    """

    def __init__(
        self,
        engine: Callable[[], EngineLike],
        *,
        started: Callable[[], bool] = lambda: True,
        window: int = 4096,
        max_tokens: int = 512,
        use_cache: bool = True,
    ) -> None:
        self._engine = engine
        self._started = started
        self._halted = False
        self._window = window
        self._max_tokens = max_tokens
        self._use_cache = use_cache
        self._count = lru_cache(maxsize=4096)(lambda text: engine().count_tokens(text))

    def count_tokens(self, text: str) -> int:
        return self._count(text)

    def tokens_left(self, conversation: str) -> int:
        """Most tokens a new turn may add: older turns give way, the system prompt does not."""
        info = self._info(conversation)
        if info is not None:
            window = info.window
        else:
            window = min(self._window, self._engine().info.trained_context or self._window)
        return max(0, window - _TEMPLATE_TOKENS)

    def prefill_speed(self) -> float:
        return self._engine().prefill_speed()

    def turns(self, conversation: str) -> Sequence[PastTurn]:
        info = self._info(conversation)
        return [PastTurn(t.record, t.in_window) for t in info.turns] if info else []

    def prepare(self, conversation: str) -> None:
        """Looking at the conversation ends the engine's idle work while passages are searched."""
        if conversation and self._started():
            threading.Thread(
                target=self._look, args=(conversation,), name="prepare", daemon=True
            ).start()

    def _look(self, conversation: str) -> None:
        with contextlib.suppress(Exception):  # the question itself says what is wrong
            self._engine().conversation(conversation)

    def begin(self) -> None:
        """A new question: what was stopped before it doesn't concern it."""
        self._halted = False

    def ask(self, conversation: str, request: Request) -> Iterator[Generated]:
        """As the Protocol says; after a stop each further `ask` of the same question ends at once.

        A question can take several: one in a scratch conversation to understand it, one a section
        of a whole document. A stop means the question, whichever of them it meets.
        """
        if self._halted:
            yield Generated("end", reason="stopped")
            return
        sampling = SamplingOptions(
            max_tokens=min(request.max_tokens, self._max_tokens), stop=request.stop
        )
        events = self._engine().ask(
            conversation, _turn(request), sampling, use_cache=self._use_cache
        )
        try:
            for event in events:
                if self._halted:  # the stop may have come before the engine knew of the request
                    self._engine().stop(conversation)
                yield _generated(event)
        finally:
            close = getattr(events, "close", None)
            if close is not None:
                close()

    def score(self, conversation: str, request: Request, answers: Sequence[str]) -> list[float]:
        return list(self._engine().score(conversation, _turn(request), answers))

    def stop(self, conversation: str) -> None:
        """Ends the running question within one batch; may be called from another thread."""
        self._halted = True
        if self._started():
            for name in dict.fromkeys((conversation, "")):
                self._engine().stop(name)

    def _info(self, conversation: str) -> ConversationInfo | None:
        if not conversation:
            return None
        try:
            return self._engine().conversation(conversation)
        except UnknownConversation:
            return None


def _turn(request: Request) -> Turn:
    return Turn(
        user=request.user,
        system=request.system,
        prefix=request.prefix,
        choices=request.choices,
        spans=request.spans,
        stop_after_choice=request.stop_after_choice,
        record=request.record,
    )


def _generated(event: Event) -> Generated:
    if isinstance(event, engine_types.Prefilling):
        return Generated("reading", done=event.done, total=event.total)
    if isinstance(event, engine_types.TextDelta):
        return Generated("text", text=event.text)
    if isinstance(event, engine_types.Notice):
        return Generated("notice", text=event.text)
    return Generated(
        "end", text=event.text, reason=event.reason, stats=dataclasses.asdict(event.stats)
    )
