"""What was said in a conversation, as token ids that are only ever appended to.

Turn N's ids are a strict prefix of turn N+1's. Ids that a model wrote are kept as it wrote them
and never tokenised again; a turn's other segments are tokenised one by one and begin and end at
special tokens, so that no merge can cross them. It knows no backend and no window.

A place is an index into `ids`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, cast

from engine.errors import InvalidRequest
from engine.types import TokenId

Role = Literal["system", "user", "assistant"]
ROLES: tuple[Role, ...] = ("system", "user", "assistant")
SINKS = 4


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a turn.

    Attributes:
        text: what it says, without the template's marks.
        ids: its tokens with the marks around it; an answer's are the prefix that was given to the
            model, what the model wrote, and what closes the answer.
        generated: whether a model wrote it.
        shared: whether other conversations may begin with the same, on purpose.
    """

    role: Role
    text: str
    ids: tuple[TokenId, ...]
    generated: bool = False
    shared: bool = False

    def to_record(self) -> dict[str, object]:
        """As JSON."""
        return {
            "role": self.role,
            "text": self.text,
            "ids": list(self.ids),
            "generated": self.generated,
            "shared": self.shared,
        }


@dataclass(frozen=True, slots=True)
class CommittedTurn:
    """A finished turn: places start ≤ p < stop."""

    start: int
    stop: int
    segments: tuple[Segment, ...]
    record: dict[str, object] = field(default_factory=dict)

    def to_record(self) -> dict[str, object]:
        """As JSON."""
        segments = [segment.to_record() for segment in self.segments]
        return {"segments": segments, "record": self.record}


class Transcript:
    """Turns, and at most one that is open: begun and not yet committed."""

    def __init__(self) -> None:
        self.ids: list[TokenId] = []
        self.turns: list[CommittedTurn] = []
        self._open: list[Segment] | None = None

    @property
    def committed(self) -> int:
        """Places of the committed turns."""
        return self.turns[-1].stop if self.turns else 0

    @property
    def settled(self) -> int:
        """Places that stay: all, but for those of the turn that is open."""
        return len(self.ids) if self._open is None else self.committed

    @property
    def protected(self) -> int:
        """Places from the start that are never trimmed: the system prompt and the first tokens.

        A model attends to its first tokens whatever they say (Xiao et al. 2023, "Efficient
        Streaming Language Models with Attention Sinks").
        """
        first = self.turns[0].segments if self.turns else tuple(self._open or ())
        system = sum(len(s.ids) for s in first if s.role == "system")
        return min(max(system, SINKS), len(self.ids))

    @property
    def shareable(self) -> list[int]:
        """Lengths in places of the beginnings that others may share, the longest first."""
        first = self.turns[0].segments if self.turns else tuple(self._open or ())
        lengths: list[int] = []
        for segment in first:
            if not segment.shared:
                break
            lengths.insert(0, len(segment.ids) + (lengths[0] if lengths else 0))
        return lengths

    def begin(self, segments: Sequence[Segment]) -> None:
        """Appends a turn's segments before the answer. Raises InvalidRequest if one is open."""
        if self._open is not None:
            raise InvalidRequest("The conversation is still answering; stop it or wait.")
        self._open = list(segments)
        for segment in segments:
            self.ids += segment.ids

    def append(self, token: TokenId) -> None:
        """Adds a token of the answer to the open turn."""
        self.ids.append(token)

    def commit(
        self, text: str, closing: Iterable[TokenId] = (), record: dict[str, object] | None = None
    ) -> CommittedTurn:
        """Ends the open turn.

        Args:
            text: of the answer.
            closing: tokens that end it, appended as they are.
            record: what the caller keeps with it.
        """
        assert self._open is not None
        start = self.committed
        written = start + sum(len(segment.ids) for segment in self._open)
        self.ids += closing
        answer = Segment("assistant", text, tuple(self.ids[written:]), generated=True)
        turn = CommittedTurn(start, len(self.ids), (*self._open, answer), record or {})
        self.turns.append(turn)
        self._open = None
        return turn

    def abandon(self) -> None:
        """Takes the open turn back."""
        self._open = None
        del self.ids[self.committed :]

    def rewind(self, turns: int) -> None:
        """Keeps the first `turns` turns."""
        del self.turns[turns:]
        self.abandon()

    def copy(self, turns: int | None = None) -> Transcript:
        """A transcript with the first `turns` committed turns, or all."""
        copy = Transcript()
        copy.turns = self.turns[:turns]
        copy.ids = self.ids[: copy.committed]
        return copy

    def add(self, record: dict[str, object]) -> CommittedTurn:
        """Appends a turn as `CommittedTurn.to_record` wrote it. Raises ValueError."""
        try:
            segments = tuple(_segment(one) for one in cast(list[object], record["segments"]))
            kept = dict(cast(dict[str, object], record["record"]))
        except (KeyError, TypeError) as error:
            raise ValueError(f"this is not a turn: {error!r}") from error
        start = len(self.ids)
        for segment in segments:
            self.ids += segment.ids
        turn = CommittedTurn(start, len(self.ids), segments, kept)
        self.turns.append(turn)
        return turn


def common_prefix(left: Sequence[TokenId], right: Sequence[TokenId]) -> int:
    """Length of the longest prefix that both have."""
    most = min(len(left), len(right))
    for place in range(most):
        if left[place] != right[place]:
            return place
    return most


def _segment(record: object) -> Segment:
    fields = cast(dict[str, object], record)
    role, text = fields["role"], fields["text"]
    ids = tuple(cast(list[TokenId], fields["ids"]))
    if role not in ROLES or not isinstance(text, str):
        raise ValueError(f"this is not a segment: {role!r}")
    if not all(isinstance(token, int) and token >= 0 for token in ids):
        raise ValueError("a segment's ids must be whole numbers")
    return Segment(role, text, ids, bool(fields["generated"]), bool(fields.get("shared")))
