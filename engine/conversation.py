"""One conversation: its transcript, what of it can be seen, and what of that is on the device.

The device always holds the first `held` visible tokens, at their positions, and nothing else. All
that happens to a conversation (a new turn, an answer, an edit, a trim, a stop, an eviction) is a
change of the transcript and the window, after which `held` says how much is still good.

It knows a backend and no other conversation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from engine.backend import Backend
from engine.cache_plan import Span
from engine.errors import ContextTooLong
from engine.transcript import Transcript
from engine.types import SequenceId, TokenId, TurnInfo
from engine.window import Window

_FAR = 1 << 30


@dataclass(frozen=True, slots=True)
class Batch:
    """Tokens to read next, at positions start, start+1, …."""

    tokens: list[TokenId]
    start: int


class Conversation:
    """A transcript with its keys and values.

    Attributes:
        sequence: the backend's sequence, None while nothing is on the device.
        held: visible tokens that are on the device.
        decoded: places whose keys and values were written token by token; they can differ in the
            last bits from what reading them at once would give.
    """

    def __init__(self, id: str, backend: Backend) -> None:  # noqa: A002
        self.id = id
        self.transcript = Transcript()
        self.window = Window()
        self.sequence: SequenceId | None = None
        self.held = 0
        self.decoded: set[int] = set()
        self._backend = backend

    def shadow(self) -> Conversation:
        """A scratch conversation that shares the transcript and has nothing on the device."""
        shadow = Conversation("", self._backend)
        shadow.transcript, shadow.window = self.transcript, self.window.copy()
        return shadow

    @property
    def pending(self) -> int:
        """Visible tokens that the device has yet to read."""
        return len(self.window) - self.held

    @property
    def nbytes(self) -> int:
        """Bytes on the device."""
        return self._backend.nbytes(self.sequence) if self.sequence is not None else 0

    def turn_infos(self) -> tuple[TurnInfo, ...]:
        """The committed turns, and whether each can be seen whole."""
        return tuple(
            TurnInfo(
                number,
                turn.stop - turn.start,
                self.window.visible(turn.start, turn.stop),
                turn.record,
            )
            for number, turn in enumerate(self.transcript.turns)
        )

    def visible_ids(self) -> list[TokenId]:
        """The tokens that can be seen, in order."""
        ids = self.transcript.ids
        return [token for run in self.window.runs for token in ids[run.start : run.stop]]

    # Growing.

    def catch_up(self) -> None:
        """Makes what was appended to the transcript visible."""
        self.window.extend(len(self.transcript.ids) - self.window.end)

    def batches(self, most: int = 0) -> Iterator[Batch]:
        """What is to be read, a batch at a time; count each with `mark_read` before the next.

        A batch has `most` tokens, or as many as the backend reads at once. One that isn't the last
        stops where a block of the backend does, if it reaches so far.

        Unread tokens follow the read ones at once, whatever was dropped between them. No batch
        but an only one has a single token: backends read a single one in another way, which
        gives other last bits.
        """
        while self.pending:
            self.window.close_gap(self.held)
            start = self.window.at(self.held)[1]
            size = min(most or self._backend.batch, self._backend.batch, self.pending)
            beyond = (start + size) % self._backend.block
            if beyond < size < self.pending:
                size -= beyond
            if self.pending - size == 1 and size > 2:
                size -= 1
            ids = self.transcript.ids
            parts = self.window.parts(self.held, self.held + size)
            tokens = [token for part in parts for token in ids[part.start : part.stop]]
            yield Batch(tokens, start)

    def mark_read(self, count: int) -> None:
        """Notes that the next `count` visible tokens are on the device now."""
        for part in self.window.parts(self.held, self.held + count):
            self.decoded.difference_update(range(part.start, part.stop))
        self.held += count

    def mark_decoded(self) -> None:
        """Notes that the next visible token was read by itself, as it was written."""
        self.decoded.add(self.window.at(self.held)[0])
        self.held += 1

    def spans(self) -> list[Span]:
        """What the device holds, by position."""
        spans: list[Span] = []
        ids = self.transcript.ids
        for run in self.window.parts(0, self.held):
            begin = run.start
            for place in range(run.start + 1, run.stop + 1):
                exact = begin not in self.decoded
                if place == run.stop or (place not in self.decoded) != exact:
                    position = run.position + begin - run.start
                    spans.append(Span(position, begin, tuple(ids[begin:place]), exact))
                    begin = place
        return spans

    # Shrinking.

    def keep(self, held: int) -> None:
        """Leaves at most the first `held` visible tokens on the device."""
        if held >= self.held:
            return
        if self.sequence is not None:
            start = self.window.at(held)[1]
            if held and not self._backend.info.can_trim:
                held = start = 0
            self._backend.remove(self.sequence, start, _FAR)
        self.held = held

    def truncate(self, places: int) -> None:
        """Forgets everything from place `places` on, as after a rewind.

        If the last place that is left was dropped from the window, there would be a gap before
        the next word, so everything left is made visible again.
        """
        self.keep(self.window.index_of(places))
        if not self.window.visible(max(places - 1, 0), places):
            first = self.window.runs[0] if self.window.runs else None
            self.keep(len(first) if first and first.start == first.position == 0 else 0)
            self.window = Window(places)
        self.window.truncate(places)
        del self.transcript.ids[places:]
        self.decoded = {place for place in self.decoded if place < places}

    def drop(self, start: int, stop: int) -> int:
        """Hides places start ≤ p < stop from the model; how many could be seen."""
        first, last = self.window.index_of(start), self.window.index_of(stop)
        if first == last:
            return 0
        if self.held > first and not self._backend.info.can_trim:
            self.keep(0)
        gone = self.window.drop(start, stop)
        lost = max(0, min(last, self.held) - first)
        if lost and self.sequence is not None:
            for low, high in gone:
                self._backend.remove(self.sequence, low, high)
        self.held -= lost
        return last - first

    def renumber(self) -> None:
        """Gives the visible tokens positions from 0 on; they have to be read again."""
        self.keep(0)
        self.window.close_gap(0)

    def leave_device(self) -> None:
        """Gives the sequence back."""
        if self.sequence is not None:
            self._backend.free_sequence(self.sequence)
        self.sequence, self.held = None, 0

    def make_room(self, room: int, limit: int) -> int:
        """Trims whole turns, the oldest first, until `room` more tokens fit into `limit`.

        When it trims at all it drops a quarter of the window, so that the next turns needn't.
        The system prompt, the first tokens and the open turn stay.

        Returns:
            Tokens that can't be seen any more.

        Raises:
            ContextTooLong: what must stay doesn't fit; nothing was changed.
        """
        excess = len(self.window) + room - limit
        if excess <= 0:
            return 0
        turns = self._droppable()
        most = sum(count for _, _, count in turns)
        if most < excess:
            raise ContextTooLong(len(self.window) + room - most, limit)
        dropped = 0
        for number, (start, stop, _) in enumerate(turns, start=1):
            enough = limit // 4 if number < len(turns) else 0
            if dropped >= max(excess, enough):
                break
            dropped += self.drop(start, stop)
        return dropped

    def _droppable(self) -> list[tuple[int, int, int]]:
        """Places start, stop and visible tokens of the turns that may be dropped."""
        first = self.transcript.protected
        found: list[tuple[int, int, int]] = []
        for turn in self.transcript.turns:
            start = max(turn.start, first)
            count = self.window.index_of(turn.stop) - self.window.index_of(start)
            if count > 0:
                found.append((start, turn.stop, count))
        return found
