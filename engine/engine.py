"""The engine: one model, many conversations, nothing read twice.

It is used from one thread, except `stop`, which may be called from any; calls that only look may
come between two events of an answer. It owns its backend.
"""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Iterator, Sequence

from engine.answering import Answering, Request
from engine.backend import Backend
from engine.chat_template import ChatTemplate
from engine.constraint import constraint_for
from engine.conversation import Conversation
from engine.device import Device
from engine.errors import InvalidRequest, NoFreeSequence
from engine.reader import Reader
from engine.register import Register
from engine.scoring import Scorer
from engine.tier import NoTier, Tier
from engine.types import (
    CacheReport,
    ConversationInfo,
    EngineOptions,
    Event,
    Finished,
    ModelInfo,
    Notice,
    RestoredFrom,
    SamplingOptions,
    TierName,
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
    """

    def __init__(self, backend: Backend, options: EngineOptions, tier: Tier | None = None) -> None:
        self.info: ModelInfo = backend.info
        self.window = options.window
        self.notices: deque[str] = deque()
        self._backend, self._options = backend, options
        self._tier = tier or NoTier()
        self._device = Device(backend, self._tier.leave)
        template = ChatTemplate(backend.chat_template, *_marks(backend))
        self._reader = Reader(self._device, template, lambda: self.window)
        self._register = Register(backend, self._device, self._tier)
        self._stops: dict[str, list[threading.Event]] = {}
        self._pieces: Vocabulary | None = None
        self._closed = False

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
        target = self._register.get(conversation)
        self._register.require_idle(target)
        constraint = constraint_for(turn, self._vocabulary()) if _constrained(turn) else None
        work = target
        if not use_cache:
            work = Conversation("", self._backend)
            work.transcript = target.transcript
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
        known = self._register.known(id)
        memory, disk = self._tier.nbytes(id)
        place: TierName = "memory" if memory else "disk" if disk else "none"
        if known.held:
            place = "device"
        return ConversationInfo(
            id=id,
            tokens=len(known.transcript.ids),
            window_tokens=len(known.window),
            window=self._reader.limit,
            tier=place,
            cache_bytes=known.nbytes if known.held else memory or disk,
            disk_bytes=disk,
            turns=known.turn_infos(),
        )

    def open(self, id: str) -> None:  # noqa: A002
        """Gets a conversation ready for its next turn. Raises UnknownConversation."""
        known = self._register.known(id)
        if not known.held:
            self._tier.open(known)

    def rewind(self, id: str, turns: int) -> None:  # noqa: A002
        """Keeps the first `turns` turns, to edit or regenerate what came after.

        Raises:
            UnknownConversation: there is none of that id.
            InvalidRequest: it runs, or `turns` is negative.
        """
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
        source = self._register.idle(id)
        if not new_id or new_id in self.conversations():
            raise InvalidRequest(f"There is already a conversation {new_id!r}; choose another id.")
        copy = Conversation(new_id, self._backend)
        copy.transcript = source.transcript.copy()
        copy.window, copy.decoded = source.window.copy(), set(source.decoded)
        if source.sequence is not None:
            with self._device.pinned(source), contextlib.suppress(NoFreeSequence):
                copy.sequence = self._device.fork(source.sequence)
                copy.held = source.held
                self._device.place(copy)
        if turns is not None:
            copy.transcript.rewind(turns)
            copy.truncate(copy.transcript.committed)
        self._register.add(copy)
        self._tier.forked(source, copy)

    def delete(self, id: str) -> None:  # noqa: A002
        """Removes a conversation and all that is kept of it. Raises UnknownConversation."""
        known = self._register.idle(id)
        self._register.remove(known)
        self._tier.delete(id)

    def adopt_partial(self, conversation: str, turn: Turn, text: str, turns: int) -> None:
        """Adds a turn whose answer broke off when an earlier engine died.

        Args:
            conversation: its id.
            turn: what was asked. text: the answer so far.
            turns: how many turns the conversation had; if it has more, the turn is there already.
        """
        target = self._register.get(conversation)
        if len(target.transcript.turns) != turns:
            return
        answered = Turn(turn.user, turn.system, prefix=text)
        self._reader.begin(target, answered, 0)
        target.transcript.commit(text, self._reader.closing(None), dict(turn.record))
        target.catch_up()
        self._commit(target)

    # Housekeeping.

    def idle_step(self) -> bool:
        """One small step of idle work; False when nothing is left."""
        return False

    def cache_report(self) -> CacheReport:
        """What is kept where."""
        infos = tuple(self.conversation(id) for id in self.conversations())  # noqa: A001
        return CacheReport(
            window=self._reader.limit,
            free_cells=self._backend.free_cells,
            device_bytes=sum(one.cache_bytes for one in infos if one.tier == "device"),
            memory_bytes=sum(self._tier.nbytes(one.id)[0] for one in infos),
            disk_bytes=sum(one.disk_bytes for one in infos),
            memory_budget=self._options.memory_budget,
            disk_budget=self._options.disk_budget,
            conversations=infos,
        )

    def close(self) -> None:
        """Keeps what is to be kept and frees the model."""
        if not self._closed:
            self._closed = True
            for conversation in self._device.resident:
                self._device.evict(conversation)
            self._tier.close()
            self._backend.close()

    # Inside.

    def _events(self, request: Request) -> Iterator[Event]:
        target, work = request.target, request.work
        stops = self._stops.setdefault(target.id, [])
        stops.append(request.stop)
        answering = Answering(self._reader, request, self._bring_back, self._commit)
        try:
            with self._device.pinned(target), self._device.pinned(work):
                if target.id:
                    self._tier.begin(target)
                yield from self._notices()
                for event in answering.events():
                    if isinstance(event, Finished):
                        yield from self._notices()
                    yield event
        finally:
            stops.remove(request.stop)
            self._end(target)

    def _end(self, target: Conversation) -> None:
        if target.id:
            self._tier.end(target)
        if not target.id or not target.transcript.turns:
            self._register.remove(target)

    def _commit(self, target: Conversation) -> None:
        if target.id:
            self._tier.commit(target)

    def _notices(self) -> Iterator[Event]:
        while self.notices:
            yield Notice(self.notices.popleft())

    def _bring_back(self, conversation: Conversation) -> RestoredFrom:
        """Puts a conversation on the device, with what is kept of its keys and values."""
        self._device.place(conversation)
        if conversation.held or not conversation.transcript.turns:
            return ""
        if conversation.id:
            source = self._device.attempt(lambda: self._tier.restore(conversation))
            if source:
                return source
        return "prefill"

    def _vocabulary(self) -> Vocabulary:
        if self._pieces is None:
            self._pieces = Vocabulary(self._backend.tokenizer, self.info.vocabulary)
        return self._pieces


def _constrained(turn: Turn) -> bool:
    return bool(turn.choices or turn.spans)


def _marks(backend: Backend) -> tuple[str, str]:
    """Texts of the model's BOS and EOS tokens, for templates that write them."""
    return getattr(backend.tokenizer, "marks", ("", ""))
