"""Chooses what a turn sends to the model: few sentences, none that it has read already.

With a cache a turn costs the reading of its new words, so the budget follows the machine: what it
reads in the wanted time to first token. It knows quotations and token counts, not the model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rag.protocols import PastTurn
from rag.quote import Quote

WANTED_SECONDS = 2.0
_LEAST, _MOST = 120, 1200
_PER_SENTENCE = 12
MOST = 2
_CLOSE = 0.55

Key = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a turn sends and what it leans on.

    Attributes:
        new: quotations to send, best first. known: those in the model's window already.
    """

    new: tuple[Quote, ...]
    known: tuple[Quote, ...]

    @property
    def record(self) -> list[list[int]]:
        """The keys of what is sent, to be kept with the turn."""
        return [list(key(quote)) for quote in self.new]


def key(quote: Quote) -> Key:
    """Identifies a quotation: chunk and characters."""
    return quote.chunk.id, quote.start, quote.stop


def budget(tokens_per_second: float, tokens_left: int) -> int:
    """Tokens of passages a turn may send: what is read in the wanted time, and what has room."""
    wanted = int(tokens_per_second * WANTED_SECONDS)
    return max(0, min(max(_LEAST, min(wanted, _MOST)), tokens_left))


def choose(
    ranked: Sequence[Quote],
    turns: Sequence[PastTurn],
    room: int,
    count: Callable[[str], int],
    most: int = MOST,
) -> Evidence:
    """The best quotations that fit into `room` tokens, `most` of them.

    Two are enough for a phrase that is checked against the best: with four, a follow-up over 26
    turns read 188 tokens in place of 123 and no answer more was right (tests/evaluation/turns.py).

    The best one is always among them, cut by nothing: a turn without it would be blind. One far
    below the best adds words, not facts, and stays out.
    """
    seen = sent(turns)
    new: list[Quote] = []
    known: list[Quote] = []
    for quote in ranked[:most]:
        if quote.score < _CLOSE * ranked[0].score:
            break
        if key(quote) in seen:
            known.append(quote)
            continue
        cost = count(quote.text) + _PER_SENTENCE
        if cost > room and (new or known):
            continue
        room -= cost
        new.append(quote)
    return Evidence(tuple(new), tuple(known))


def sent(turns: Sequence[PastTurn]) -> set[Key]:
    """Keys of the quotations that the model can still see."""
    out: set[Key] = set()
    for turn in turns:
        value = turn.record.get("sent")
        if turn.in_window and isinstance(value, list):
            out.update((int(c), int(a), int(b)) for c, a, b in value)
    return out
