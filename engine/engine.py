"""The engine: one model, many conversations, nothing read twice.

It is used from one thread, except `stop`, which may be called from any; calls that only look may
come between two events of an answer. It owns its backend.
"""

from __future__ import annotations

import functools
import threading
from collections import deque
from collections.abc import Iterator, Sequence

from engine.answering import Answering, Request
from engine.backend import Backend
from engine.catch_up import CatchUp
from engine.chat_template import ChatTemplate
from engine.constraint import constraint_for
from engine.conversation import Conversation
from engine.device import Device
from engine.errors import InvalidRequest
from engine.governor import Governor
from engine.housekeeping import Housekeeping
from engine.idle import IdleTime
from engine.reader import Reader
from engine.register import Register
from engine.reports import Reports
from engine.scoring import Scorer
from engine.speculation import Lookahead
from engine.tier import NoTier, Tier
from engine.types import (
    CacheReport,
    ConversationInfo,
    EngineOptions,
    Event,
    ModelInfo,
    Notice,
    RestoredFrom,
    SamplingOptions,
    Turn,
)
from engine.vocabulary import Vocabulary

GREEDY = SamplingOptions()


class Engine:
    """Conversations with one model.

    Args:
        backend: the model; the engine closes it.
        options: window, budgets and folders.
        tier: keeps conversations that leave the device; None keeps them in the device only.
        governor: says what window memory allows; None always allows the whole.
        idle_time: says when idle work may run; None never allows it.
        notices: lines for the user, which the next answer brings.
    """

    def __init__(
        self,
        backend: Backend,
        options: EngineOptions,
        tier: Tier | None = None,
        *,
        governor: Governor | None = None,
        idle_time: IdleTime | None = None,
        notices: deque[str] | None = None,
    ) -> None:
        self.info: ModelInfo = backend.info
        self.notices: deque[str] = deque() if notices is None else notices
        self._backend = backend
        self._tier = tier or NoTier()
        self._device = Device(backend, self._tier.leave, self._tier.order)
        self.house = Housekeeping(
            self._device, self._tier, options.window, governor, idle_time, self.notices
        )
        # Texts of the model's BOS and EOS tokens, for templates that write them.
        marks = getattr(backend.tokenizer, "marks", ("", ""))
        template = ChatTemplate(backend.chat_template, *marks)
        self._reader = Reader(self._device, template, lambda: self.house.window)
        self._lookahead = Lookahead(backend, options.lookahead)
        self._tier.bind(self._reader)
        self._catch_up = CatchUp(self._reader, self._bring_back, self._tier.sync)
        if options.idle_work:
            self.house.catch_up = self._catch_up
        self._register = Register(backend, self._device, self._tier)
        self._reports = Reports(self._register, self._tier, self._reader, options)
        self._stops: dict[str, list[threading.Event]] = {}
        self._closed = False

    @property
    def window(self) -> int:
        """Most tokens of a conversation in view, as memory allows at present."""
        return self.house.window

    # Asking.

    def ask(
        self,
        conversation: str,
        turn: Turn,
        sampling: SamplingOptions = GREEDY,
        *,
        use_cache: bool = True,
    ) -> Iterator[Event]:
        """Adds a turn and streams its answer.

        Args:
            conversation: its id; a new one is made, and "" is a scratch one of which nothing is
                kept.
            turn: what is asked.
            sampling: how the answer is chosen.
            use_cache: False reads everything again, without touching what is cached.

        Returns:
            Events, `Finished` last. Closing the iterator ends the answer within one batch; what
            was written is part of the conversation.

        Raises:
            InvalidRequest: the question is empty, or the conversation is still answering.
            ContextTooLong: the turn doesn't fit into the window (at the first event).
        """
        if not turn.user.strip():
            raise InvalidRequest("The question is empty; type one.")
        self.house.busy()
        target = self._register.get(conversation)
        self._register.require_idle(target)
        constrained = turn.choices or turn.spans
        constraint = constraint_for(turn, self._vocabulary) if constrained else None
        work = target if use_cache else target.shadow()
        request = Request(target, work, turn, sampling, constraint, threading.Event())
        return self._events(request)

    def stop(self, conversation: str) -> None:
        """Ends what runs in a conversation within one batch; may be called from any thread."""
        for event in list(self._stops.get(conversation, ())):
            event.set()

    def score(self, conversation: str, turn: Turn, answers: Sequence[str]) -> list[float]:
        """Mean log-likelihood per token of each answer to `turn`; nothing is kept.

        Raises:
            InvalidRequest: the question or an answer is empty.
            ContextTooLong: the turn doesn't fit into the window.
        """
        if not turn.user.strip() or not all(answers):
            raise InvalidRequest("A question or an answer to compare is empty.")
        self.house.busy()
        base = self._register.get(conversation)
        with self._device.pinned(base):
            self._bring_back(base)
            try:
                return Scorer(self._reader).score(base, turn, answers)
            finally:
                if not base.transcript.turns:
                    self._register.remove(base)

    def count_tokens(self, text: str) -> int:
        """Tokens of a text."""
        self.house.touch()
        return len(self._backend.tokenizer.encode(text))

    def prefill_speed(self) -> float:
        """Tokens read in a second, as measured lately."""
        return self._reader.speed.value

    # Conversations.

    def conversations(self) -> list[str]:
        """Ids of all, kept ones included."""
        return self._register.ids()

    def conversation(self, id: str) -> ConversationInfo:  # noqa: A002
        """A conversation's size and place. Raises UnknownConversation."""
        self.house.touch()
        return self._reports.conversation(id)

    def open(self, id: str) -> None:  # noqa: A002
        """Gets a conversation ready for its next turn. Raises UnknownConversation."""
        self.house.busy()
        known = self._register.known(id)
        if not known.held:
            self._tier.open(known)
        self._catch_up.want(known)

    def rewind(self, id: str, turns: int) -> None:  # noqa: A002
        """Keeps the first `turns` turns, to edit or regenerate what came after.

        Raises:
            UnknownConversation: there is none of that id.
            InvalidRequest: it runs, or `turns` is negative.
        """
        self.house.busy()
        known = self._register.idle(id)
        if turns < 0:
            raise InvalidRequest(f"A conversation can't be rewound to {turns} turns.")
        if turns < len(known.transcript.turns):
            known.transcript.rewind(turns)
            known.truncate(known.transcript.committed)
            self._tier.rewound(known)

    def fork(self, id: str, new_id: str, turns: int | None = None) -> None:  # noqa: A002
        """Makes a conversation that begins as this one does; cells are shared until they differ.

        Raises:
            UnknownConversation: there is none of that id.
            InvalidRequest: it runs, or `new_id` is taken or empty.
        """
        self.house.busy()
        source = self._register.idle(id)
        copy = self._register.fork(source, new_id, turns)
        self._tier.forked(source, copy)

    def delete(self, id: str) -> None:  # noqa: A002
        """Removes a conversation and all that is kept of it. Raises UnknownConversation."""
        self.house.busy()
        known = self._register.idle(id)
        self._catch_up.forget(known)
        self._register.remove(known)
        self._tier.delete(id)

    def adopt_partial(self, conversation: str, turn: Turn, text: str, turns: int) -> None:
        """Adds a turn whose answer broke off when an earlier engine died.

        Args:
            conversation: its id.
            turn: what was asked. text: the answer so far.
            turns: how many turns the conversation had; if it has more, the turn is there already.
        """
        self.house.busy()
        target = self._register.get(conversation)
        if len(target.transcript.turns) == turns:
            self._tier.begin(target)
            self._reader.retell(target, turn, text)
            self._tier.commit(target)
            self._tier.end(target)

    # Housekeeping.

    def idle_step(self) -> bool:
        """One small step of idle work, a batch at most; False when nothing is left or allowed."""
        return self.house.idle_step()

    def cache_report(self) -> CacheReport:
        """What is kept where."""
        return self._reports.all()

    def close(self) -> None:
        """Keeps what is to be kept and frees the model."""
        if not self._closed:
            self._closed = True
            self._catch_up.pause()
            self._tier.close()
            self._backend.close()

    # Inside.

    def _events(self, request: Request) -> Iterator[Event]:
        target, work = request.target, request.work
        stops = self._stops.setdefault(target.id, [])
        stops.append(request.stop)
        answering = Answering(
            self._reader, request, self._bring_back, self._commit, self._lookahead
        )
        try:
            stays = work is target
            with self._device.pinned(target, stays=stays), self._device.pinned(work):
                if target.id:
                    self._tier.begin(target)
                self.house.watch()
                for event in answering.events():
                    self.house.watch()
                    while self.notices:
                        yield Notice(self.notices.popleft())
                    yield event
        finally:
            stops.remove(request.stop)
            self._end(target)
            self.house.touch()

    def _end(self, target: Conversation) -> None:
        if target.id:
            self._tier.end(target)
        if not target.id or not target.transcript.turns:
            self._register.remove(target)

    def _commit(self, target: Conversation) -> None:
        if target.id:
            self._tier.commit(target)

    def _bring_back(self, conversation: Conversation) -> RestoredFrom:
        """Puts a conversation on the device, with what is kept of its keys and values."""
        self._device.place(conversation)
        if conversation.held:
            return ""
        if conversation.id:
            source = self._device.attempt(lambda: self._tier.restore(conversation))
            if source:
                return source
        return "prefill" if conversation.transcript.turns and not conversation.held else ""

    @functools.cached_property
    def _vocabulary(self) -> Vocabulary:
        return Vocabulary(self._backend.tokenizer, self.info.vocabulary)
