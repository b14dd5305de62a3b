"""Quotations that can only be verbatim: an automaton over the bytes of given texts.

Outside quotation marks an answer is free. From an opening mark ("…" or “…”) to its closing mark
every byte must go on along some place of the texts, so the quotation is a span of one of them
whatever the model would rather say. A quotation begins and ends between words.

It knows bytes and tokens; not where the texts come from.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.sampling import Allowed
from engine.types import TokenId
from engine.vocabulary import Vocabulary

_MARKS = {'"': '"', "“": "”"}
_OPEN = tuple(mark.encode() for mark in _MARKS)
_CLOSE = tuple(mark.encode() for mark in _MARKS.values())
_CURLY = _OPEN[1]
_ALL_MARKS = "".join(_MARKS) + "".join(_MARKS.values())
_BETWEEN = b"\xff"  # stands between the texts; no UTF-8 text holds it
_FIRST_IDEOGRAPH = 0x2E80


def quotations(text: str) -> list[str]:
    """What stands in quotation marks, read from left to right; the last may be unclosed.

    A quotation ends at the first mark that closes its own kind; marks of the other kind within
    belong to it. This is the reading that `Spans` guarantees.
    """
    found, closing, begin = [], "", 0
    for at, character in enumerate(text):
        if closing and character == closing:
            found.append(text[begin:at])
            closing = ""
        elif not closing and character in _MARKS:
            closing, begin = _MARKS[character], at + 1
    return [*found, text[begin:]] if closing else found


@dataclass(frozen=True, slots=True)
class _Outside:
    """Free text; `seen` bytes of “ have been read."""

    seen: int = 0


@dataclass(frozen=True, slots=True)
class _Inside:
    """In a quotation of kind 0 ("…") or 1 (“…”).

    Attributes:
        places: where in the texts the next byte may stand; None right after the opening mark.
        closing: bytes of the closing mark that have been read.
    """

    kind: int
    places: tuple[int, ...] | None = None
    closing: int = 0


_State = _Outside | _Inside


class Spans:
    """Keeps quotations verbatim. A `Constraint`.

    Args:
        texts: what may be quoted.
        vocabulary: of the model.
        said: the answer's beginning, as far as it is given; an open quotation in it goes on.
    """

    def __init__(self, texts: Iterable[str], vocabulary: Vocabulary, said: str = "") -> None:
        self._vocabulary = vocabulary
        self._source = _Source([text.strip() for text in texts if text.strip()])
        self._state: _State = _Outside()
        self.follow(said.encode())
        self._masks: dict[int, NDArray[np.bool_]] = {}
        self._closers: dict[int, dict[bytes, list[TokenId]]] = {}
        self._openings: dict[int, NDArray[np.int64]] = {}

    @property
    def finished(self) -> bool:
        return False

    def forced(self) -> str:
        return ""

    def advance(self, token: TokenId) -> None:
        self.follow(self._vocabulary.pieces[token])

    def follow(self, said: bytes) -> None:
        """Goes on past bytes that were not chosen under this constraint."""
        self._state = self._source.run(self._state, said) or _Outside()

    def allowed(self) -> Allowed:
        state = self._state
        if isinstance(state, _Outside):
            if state.seen not in self._masks:
                self._masks[state.seen] = self._outside(state)
            return self._masks[state.seen]
        if state.places is not None:
            return self._inside(state, state.places)
        if state.kind not in self._openings:
            self._openings[state.kind] = self._inside(state, self._source.starts(state.kind))
        return self._openings[state.kind]

    def _outside(self, state: _Outside) -> NDArray[np.bool_]:
        """Mask (V,) of tokens that open no impossible quotation."""
        mask = np.ones(len(self._vocabulary), dtype=np.bool_)
        risky = {*self._vocabulary.containing(_OPEN[0]), *self._vocabulary.containing(_CURLY)}
        if state.seen:
            risky.update(self._vocabulary.beginning_with(_CURLY[state.seen :]))
        for token in risky:
            if self._source.run(state, self._vocabulary.pieces[token]) is None:
                mask[token] = False
        return mask

    def _inside(self, state: _Inside, places: Sequence[int]) -> NDArray[np.int64]:
        """Ids (n,) of tokens that go on along the texts or close the quotation."""
        source, ids = self._source, set[TokenId]()
        closers = self._closing_tokens(state.kind)
        longest = max(map(len, closers), default=0)
        for place in places:
            limit = source.limit(state.kind, place)
            ids.update(self._vocabulary.beginnings(source.bytes, place, limit))
            first = place + (state.places is None)  # an empty quotation is none
            for end in range(first, min(limit, place + longest) + 1):
                if source.ends[end]:
                    ids.update(closers.get(source.bytes[place:end], ()))
        if state.closing:
            ids.update(self._half_closed(state))
        if not ids:  # no token spells what must come: better to end than to misquote
            ids.update(self._vocabulary.end_tokens)
        return np.array(sorted(ids), dtype=np.int64)

    def _closing_tokens(self, kind: int) -> dict[bytes, list[TokenId]]:
        """Tokens that close a quotation, or begin to, by the quoted bytes before the mark."""
        if kind not in self._closers:
            closers: dict[bytes, list[TokenId]] = {}
            mark, pieces = _CLOSE[kind], self._vocabulary.pieces
            for token in self._vocabulary.containing(mark):
                head, _, tail = pieces[token].partition(mark)
                if self._source.run(_Outside(), tail) is not None:
                    closers.setdefault(head, []).append(token)
            for part in range(1, len(mark)):
                for token in self._vocabulary.ending_with(mark[:part]):
                    if mark not in pieces[token]:
                        closers.setdefault(pieces[token][:-part], []).append(token)
            self._closers[kind] = closers
        return self._closers[kind]

    def _half_closed(self, state: _Inside) -> list[TokenId]:
        """Tokens that go on with a closing mark of which some bytes have been read."""
        rest, vocabulary = _CLOSE[state.kind][state.closing :], self._vocabulary
        parts = [token for n in range(1, len(rest)) for token in vocabulary.spelled_by(rest[:n])]
        whole = [
            token
            for token in vocabulary.beginning_with(rest)
            if self._source.run(state, vocabulary.pieces[token]) is not None
        ]
        return parts + whole


class _Source:
    """The texts as one string of bytes, and the automaton's moves in it.

    Attributes:
        bytes: the texts' bytes, each followed by a byte that is no text.
        ends: for each place, whether a quotation may end before it.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self.bytes = b"".join(text.encode() + _BETWEEN for text in texts)
        self.ends = bytearray(len(self.bytes) + 1)
        starts: list[int] = []
        place = 0
        for text in texts:
            before = ""
            for character in text:
                if not (_joins(before) and _joins(character)):
                    # Not after a space, unless the next mark would leave no other way out.
                    self.ends[place] = not before.isspace() or character in _ALL_MARKS
                    if not character.isspace():
                        starts.append(place)
                before = character
                place += len(character.encode())
            self.ends[place] = 1
            place += 1
        self._barriers = [_places(self.bytes, mark) for mark in _CLOSE]
        self._starts = [[s for s in starts if self.limit(kind, s) > s] for kind in (0, 1)]
        self._by_byte = [_by_first_byte(self.bytes, starts) for starts in self._starts]

    def starts(self, kind: int) -> list[int]:
        """Places where a quotation may begin."""
        return self._starts[kind]

    def limit(self, kind: int, place: int) -> int:
        """Where a quotation that has come to `place` must have ended."""
        barriers = self._barriers[kind]
        return barriers[bisect_left(barriers, place)]

    def run(self, state: _State, piece: bytes) -> _State | None:
        """The state after `piece`; None if a quotation in it is not in the texts."""
        now: _State | None = state
        for byte in piece:
            now = self._read(now, byte) if isinstance(now, _Inside) else self._free(now, byte)
            if now is None:
                return None
        return now

    def _free(self, state: _Outside | None, byte: int) -> _State | None:
        seen = state.seen if state else 0
        if byte == _CURLY[seen]:
            return _Outside(seen + 1) if seen + 1 < len(_CURLY) else self._open(1)
        if byte == _OPEN[0][0]:
            return self._open(0)
        return _Outside(int(byte == _CURLY[0]))

    def _open(self, kind: int) -> _Inside | None:
        return _Inside(kind) if self._starts[kind] else None

    def _read(self, state: _Inside, byte: int) -> _State | None:
        mark, kind = _CLOSE[state.kind], state.kind
        if state.places is None:
            places = self._by_byte[kind].get(byte, ())
        else:
            places = tuple(
                p for p in state.places if self.bytes[p] == byte and p < self.limit(kind, p)
            )
        closing = 0
        if byte == mark[state.closing] and (state.closing or self._may_close(state)):
            closing = state.closing + 1
            if closing == len(mark):
                return _Outside()
        elif byte == mark[0] and self._may_close(state):
            closing = 1
        if not places and not closing:
            return None
        return _Inside(kind, tuple(p + 1 for p in places), closing)

    def _may_close(self, state: _Inside) -> bool:
        return state.places is not None and any(self.ends[place] for place in state.places)


def _joins(character: str) -> bool:
    """Whether it makes one word with a neighbour of its kind; ideographs stand alone."""
    return character.isalnum() and ord(character) < _FIRST_IDEOGRAPH


def _places(text: bytes, mark: bytes) -> list[int]:
    """Where `mark` and the ends of texts stand, in order."""
    found = [at for at in range(len(text)) if text.startswith((mark, _BETWEEN), at)]
    return [*found, len(text)]


def _by_first_byte(text: bytes, starts: Sequence[int]) -> dict[int, tuple[int, ...]]:
    found: dict[int, list[int]] = {}
    for start in starts:
        found.setdefault(text[start], []).append(start)
    return {byte: tuple(places) for byte, places in found.items()}
