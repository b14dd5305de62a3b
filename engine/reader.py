"""Reads turns: renders and encodes the new words, makes room for them, and prefills.

It knows one conversation at a time and writes no answer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from engine.backend import Logits
from engine.chat_template import ChatTemplate, Piece, TurnParts, encode_pieces
from engine.conversation import Conversation
from engine.device import Device
from engine.errors import ContextTooLong
from engine.transcript import Segment
from engine.types import TokenId, Turn

_USUAL_SPEED = 200.0
_WEIGHT = 512
_ANSWER_SHARE = 8
_BETWEEN = "\n\n"  # a document and what is asked about it


@dataclass(frozen=True, slots=True)
class Read:
    """A batch was read: how many tokens, and the logits (V,) after the last."""

    tokens: int
    logits: Logits


class Speed:
    """Tokens a second, the last few hundred counting most."""

    def __init__(self) -> None:
        self._tokens = self._seconds = 0.0

    def note(self, tokens: int, seconds: float) -> None:
        """Adds a measurement."""
        fade = 0.5 ** (tokens / _WEIGHT)
        self._tokens = self._tokens * fade + tokens
        self._seconds = self._seconds * fade + seconds

    @property
    def value(self) -> float:
        """What was measured, or a usual value before anything was."""
        return self._tokens / self._seconds if self._seconds > 0 else _USUAL_SPEED


class Reader:
    """Adds turns to conversations, up to the point where an answer begins.

    Args:
        device: where conversations are read.
        template: how turns are written.
        limit: most tokens that a conversation may have in view now.
    """

    def __init__(self, device: Device, template: ChatTemplate, limit: Callable[[], int]) -> None:
        self.device, self.template, self.speed = device, template, Speed()
        self._limit = limit
        self._tokenizer = device.backend.tokenizer

    @property
    def limit(self) -> int:
        """Most tokens in view: no more than the model was trained for."""
        trained = self.device.backend.info.trained_context
        return min(self._limit(), trained) if trained else self._limit()

    def begin(self, conversation: Conversation, turn: Turn, max_tokens: int) -> int:
        """Appends a turn, its answer's prefix included, and makes room for it.

        Returns:
            Tokens that were trimmed.

        Raises:
            ContextTooLong: the turn doesn't fit; the conversation is as it was.
        """
        first = not conversation.transcript.turns
        parts = self.template.turn(turn.user, turn.system, first=first)
        segments = self._segments(parts, turn, first=first)
        prefix = self._tokenizer.encode(turn.prefix)
        count = sum(len(segment.ids) for segment in segments) + len(prefix)
        room = count + min(max_tokens, self.limit // _ANSWER_SHARE)
        try:
            trimmed = conversation.make_room(room, self.limit)
        except ContextTooLong:
            room = count + 1
            trimmed = conversation.make_room(room, self.limit)
        trained = self.device.backend.info.trained_context
        if trained and conversation.window.next_position + room > trained:
            conversation.renumber()
        conversation.transcript.begin(segments)
        for token in prefix:
            conversation.transcript.append(token)
        conversation.catch_up()
        return trimmed

    def read(self, conversation: Conversation, most: int = 0) -> Iterator[Read]:
        """Reads what is pending, a batch of `most` tokens a step (0: the backend's own size).

        Raises OutOfCells.
        """
        sequence = self.device.place(conversation)
        for batch in conversation.batches(most):
            started = time.perf_counter()
            logits = self.device.forward(sequence, batch.tokens, batch.start)
            if not most:
                self.speed.note(len(batch.tokens), time.perf_counter() - started)
            conversation.mark_read(len(batch.tokens))
            yield Read(len(batch.tokens), logits)

    def closing(self, last: TokenId | None) -> list[TokenId]:
        """What ends an answer whose last token is `last`."""
        parts = self.template.turn("", first=False)
        ids = encode_pieces(self._tokenizer, parts.assistant_close, first=False)
        ends = self._tokenizer.end_tokens
        return ids[1:] if last in ends and ids and ids[0] in ends else ids

    def retell(self, conversation: Conversation, turn: Turn, answer: str) -> None:
        """Appends a finished turn by its texts, without making room or reading it."""
        first = not conversation.transcript.turns
        parts = self.template.turn(turn.user, turn.system, first=first)
        conversation.transcript.begin(self._segments(parts, turn, first=first))
        for token in self._tokenizer.encode(answer):
            conversation.transcript.append(token)
        conversation.transcript.commit(answer, self.closing(None), dict(turn.record))
        conversation.catch_up()

    def _segments(self, parts: TurnParts, turn: Turn, *, first: bool) -> list[Segment]:
        """The turn's segments before the answer; what others may share stands first."""
        segments: list[Segment] = []
        if parts.system:
            ids = encode_pieces(self._tokenizer, parts.system, first=True)
            segments.append(Segment("system", turn.system, tuple(ids), shared=True))
        pieces = parts.user
        if turn.document.strip():
            text = next(n for n, piece in enumerate(pieces) if not piece.special)
            lead = (*pieces[:text], Piece(turn.document.strip() + _BETWEEN))
            ids = encode_pieces(self._tokenizer, lead, first=first and not segments)
            segments.append(Segment("user", turn.document, tuple(ids), shared=True))
            pieces = pieces[text:]
        pieces += parts.assistant_open
        ids = encode_pieces(self._tokenizer, pieces, first=first and not segments)
        segments.append(Segment("user", turn.user, tuple(ids)))
        return segments
