"""The conversations by id: those in use, and through the tier those that are kept.

It knows whose conversation is whose and nothing of turns.
"""

from __future__ import annotations

import contextlib

from engine.backend import Backend
from engine.conversation import Conversation
from engine.device import Device
from engine.errors import InvalidRequest, NoFreeSequence, UnknownConversation
from engine.tier import Tier


class Register:
    """Finds conversations, and makes new ones."""

    def __init__(self, backend: Backend, device: Device, tier: Tier) -> None:
        self._backend, self._device, self._tier = backend, device, tier
        self._used: dict[str, Conversation] = {}  # the last used last

    def ids(self) -> list[str]:
        """Ids of all that have a turn, the last used first."""
        used = [one.id for one in self.used() if one.transcript.turns]
        return list(dict.fromkeys([*used, *self._tier.conversations()]))

    def used(self) -> list[Conversation]:
        """Those that are in main memory, the last used first."""
        return list(reversed(self._used.values()))

    def find(self, id: str) -> Conversation | None:  # noqa: A002
        """The conversation of that id, if there is one."""
        found = self._used.get(id)
        if found is None and id:
            kept = Conversation(id, self._backend)
            if self._tier.find(kept):
                found = self._used[id] = kept
        return found

    def get(self, id: str) -> Conversation:  # noqa: A002
        """The conversation of that id, or a new one. "" is new each time and not remembered."""
        found = self.find(id) or Conversation(id, self._backend)
        if id:
            self.add(found)
        return found

    def known(self, id: str) -> Conversation:  # noqa: A002
        """The conversation of that id. Raises UnknownConversation."""
        found = self.find(id)
        if found is None:
            raise UnknownConversation(f"There is no conversation {id!r}.")
        return found

    def idle(self, id: str) -> Conversation:  # noqa: A002
        """As `known`, and it doesn't run. Raises InvalidRequest if it does."""
        known = self.known(id)
        self.require_idle(known)
        return known

    def peek(self, id: str) -> Conversation | None:  # noqa: A002
        """The conversation of that id, to look at only: one that isn't in use stays so."""
        found = self._used.get(id)
        if found is None and id:
            kept = Conversation(id, self._backend)
            found = kept if self._tier.peek(kept) else None
        return found

    def fork(self, source: Conversation, id: str, turns: int | None) -> Conversation:  # noqa: A002
        """A new conversation that begins as `source` does, with its first `turns` turns or all.

        Cells are shared until they differ. Raises InvalidRequest if the id is taken or empty.
        """
        if not id or id in self.ids():
            raise InvalidRequest(f"There is already a conversation {id!r}; choose another id.")
        if id in self._used:  # rewound to nothing
            self.remove(self._used[id])
        copy = Conversation(id, self._backend)
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
        self.add(copy)
        return copy

    def require_idle(self, conversation: Conversation) -> None:
        """Raises InvalidRequest if the conversation runs."""
        if self._device.running(conversation):
            raise InvalidRequest("The conversation is still answering; stop it or wait.")

    def add(self, conversation: Conversation) -> None:
        """Remembers a conversation as the last used."""
        self._used.pop(conversation.id, None)
        self._used[conversation.id] = conversation

    def remove(self, conversation: Conversation) -> None:
        """Forgets a conversation and frees its cells."""
        self._used.pop(conversation.id, None)
        self._device.forget(conversation)
