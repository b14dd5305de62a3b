"""What an engine asks of the tiers below the device: memory and disk.

`NoTier` keeps nothing. An engine calls each method at the moment its docstring names, from the
thread that runs the engine; none of them raises because a disk is full or a file is damaged.
"""

from __future__ import annotations

from typing import Literal, Protocol

from engine.conversation import Conversation
from engine.reader import Reader

Source = Literal["", "memory", "disk"]


class Tier(Protocol):
    """Keeps conversations while they aren't on the device."""

    def bind(self, reader: Reader) -> None:
        """Called once, before anything else: the device and the words of this engine."""

    def conversations(self) -> list[str]:
        """Ids of those that are kept, the last used first."""

    def find(self, conversation: Conversation) -> bool:
        """Fills a new conversation's transcript and window with what is kept of it, if any is.

        Raises:
            EngineError: it is kept but can't be used now (another program has it).
        """

    def peek(self, conversation: Conversation) -> bool:
        """As `find`, but only to look at it: nothing is taken, repaired or remembered."""

    def open(self, conversation: Conversation) -> None:
        """The user opened it: it may be wanted soon."""

    def begin(self, conversation: Conversation) -> None:
        """A turn begins; until `end` the conversation is running."""

    def restore(self, conversation: Conversation) -> Source:
        """Loads as many of the first visible tokens as are kept into its empty sequence.

        Sets `held` and `decoded`; `conversation.sequence` is given, and may be exchanged for
        another. Where they came from. A new conversation can have a shared beginning.

        Raises:
            OutOfCells: no room on the device; the sequence is left empty, and it is tried again.
        """

    def commit(self, conversation: Conversation) -> None:
        """A turn was added: its words are kept for good, its keys and values soon."""

    def sync(self, conversation: Conversation) -> None:
        """The device holds more of it than before, or more exactly."""

    def end(self, conversation: Conversation) -> None:
        """The turn that `begin` named is over, committed or not."""

    def order(self, conversations: list[Conversation]) -> list[Conversation]:
        """The order in which idle conversations should leave the device; a part is enough."""

    def expired(self) -> set[str]:
        """Lets what was idle for long leave memory; ids that should leave the device too."""

    def release_one(self) -> bool:
        """Memory is short: lets one idle conversation leave it; False if there is none."""

    def leave(self, conversation: Conversation) -> None:
        """It leaves the device now; `sequence` and `held` are still good."""

    def rewound(self, conversation: Conversation) -> None:
        """Its last turns were taken away."""

    def forked(self, source: Conversation, copy: Conversation) -> None:
        """`copy` was made of `source`, with as many turns as its transcript has."""

    def delete(self, id: str) -> None:  # noqa: A002
        """Removes everything that is kept of it."""

    def nbytes(self, id: str) -> tuple[int, int]:  # noqa: A002
        """Bytes in memory and on disk."""

    def close(self) -> None:
        """Writes what is to be written."""


class NoTier:
    """Keeps nothing: what leaves the device is read again."""

    def bind(self, reader: Reader) -> None:
        pass

    def conversations(self) -> list[str]:
        return []

    def find(self, conversation: Conversation) -> bool:
        return False

    def peek(self, conversation: Conversation) -> bool:
        return False

    def open(self, conversation: Conversation) -> None:
        pass

    def begin(self, conversation: Conversation) -> None:
        pass

    def restore(self, conversation: Conversation) -> Source:
        return ""

    def commit(self, conversation: Conversation) -> None:
        pass

    def sync(self, conversation: Conversation) -> None:
        pass

    def end(self, conversation: Conversation) -> None:
        pass

    def order(self, conversations: list[Conversation]) -> list[Conversation]:
        return conversations

    def expired(self) -> set[str]:
        return set()

    def release_one(self) -> bool:
        return False

    def leave(self, conversation: Conversation) -> None:
        pass

    def rewound(self, conversation: Conversation) -> None:
        pass

    def forked(self, source: Conversation, copy: Conversation) -> None:
        pass

    def delete(self, id: str) -> None:  # noqa: A002
        pass

    def nbytes(self, id: str) -> tuple[int, int]:  # noqa: A002
        return 0, 0

    def close(self) -> None:
        pass
