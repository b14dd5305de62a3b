"""Which conversations are on the device; idle ones make room for those that run.

It moves conversations as wholes, the least recently used first, and knows nothing of turns.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from engine.backend import Backend, Logits, SavedState
from engine.conversation import Conversation
from engine.errors import NoFreeSequence, OutOfCells
from engine.types import SequenceId, TokenId

T = TypeVar("T")
Leave = Callable[[Conversation], None]
Order = Callable[[list[Conversation]], list[Conversation]]


class Device:
    """The backend's sequences and who has them.

    Args:
        backend: whose device.
        leave: is told of a conversation that leaves, before its cells are freed.
        order: sorts idle conversations, given the least recently used first, by who leaves first.
    """

    def __init__(
        self,
        backend: Backend,
        leave: Leave = lambda conversation: None,
        order: Order = lambda conversations: conversations,
    ) -> None:
        self.backend = backend
        self._leave, self._order = leave, order
        self._resident: dict[str, Conversation] = {}  # the least recently used first
        self._running: list[tuple[Conversation, bool]] = []

    @property
    def resident(self) -> list[Conversation]:
        """Conversations that may be evicted or are pinned, the least recently used first."""
        return list(self._resident.values())

    @contextlib.contextmanager
    def pinned(self, conversation: Conversation, *, stays: bool = True) -> Iterator[None]:
        """Marks a conversation as running, and keeps it on the device if it `stays`."""
        entry = (conversation, stays)
        self._running.append(entry)
        try:
            yield
        finally:
            self._running.remove(entry)

    def running(self, conversation: Conversation) -> bool:
        """Whether it is pinned."""
        return any(one is conversation for one, _ in self._running)

    def _may_leave(self, conversation: Conversation, using: SequenceId | None) -> bool:
        if using is not None and conversation.sequence == using:
            return False
        return not any(one is conversation and stays for one, stays in self._running)

    def place(self, conversation: Conversation) -> SequenceId:
        """Gives a conversation a sequence if it has none. Raises NoFreeSequence."""
        if conversation.sequence is None:
            conversation.sequence = self.attempt(self.backend.new_sequence)
        if conversation.id:
            self._resident.pop(conversation.id, None)
            self._resident[conversation.id] = conversation
        return conversation.sequence

    def fork(self, sequence: SequenceId) -> SequenceId:
        """As `Backend.fork`, making room. Raises NoFreeSequence."""
        return self.attempt(lambda: self.backend.fork(sequence), sequence)

    def forward(
        self, sequence: SequenceId, tokens: Sequence[TokenId], start: int, *, every: bool = False
    ) -> Logits:
        """As `Backend.forward`, making room. Raises OutOfCells if no idle conversation is left."""
        return self.attempt(
            lambda: self.backend.forward(sequence, tokens, start, every=every), sequence
        )

    def load(self, sequence: SequenceId, state: SavedState) -> None:
        """As `Backend.load`, making room. Raises RestoreError, OutOfCells."""
        self.attempt(lambda: self.backend.load(sequence, state), sequence)

    def attempt(self, action: Callable[[], T], using: SequenceId | None = None) -> T:
        """Does what may run out of cells or sequences, evicting until it doesn't.

        Whoever has the sequence `using` stays.
        """
        while True:
            try:
                return action()
            except (OutOfCells, NoFreeSequence):
                if not self.evict_one(using):
                    raise

    def evict_one(self, using: SequenceId | None = None) -> bool:
        """Makes the idle conversation that matters least leave; False if there is none.

        Whoever has the sequence `using` stays.
        """
        idle = [one for one in self.resident if self._may_leave(one, using)]
        for conversation in self._order(idle)[:1]:
            self.evict(conversation)
        return bool(idle)

    def evict(self, conversation: Conversation) -> None:
        """Makes a conversation leave."""
        if conversation.sequence is not None:
            self._leave(conversation)
        self.forget(conversation)

    def forget(self, conversation: Conversation) -> None:
        """Frees a conversation's cells without asking anybody to keep them."""
        self._resident.pop(conversation.id, None)
        conversation.leave_device()
