"""Prompt lookup: where an answer repeats the prompt, its next tokens are guessed and read at once.

The tokens after the last place where the newest few tokens stood are a good guess while the model
quotes (Saxena 2023, "Prompt lookup decoding"). They are read in one batch with the token that was
chosen; each further choice that agrees with the guess needs no forward of its own. The caller
samples from the logits exactly as without it, so any sampler and constraint will do, and what
comes out is what the model says: a guess that is wrong is removed again.

How much to guess is decided from what it costs and brings on this machine, measured as it goes.
It knows a backend and token ids, and nothing of text.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from engine.backend import Backend, Logits
from engine.errors import OutOfCells
from engine.types import SequenceId, TokenId

MOST = 8
_LONGEST, _SHORTEST = 4, 2
_WORTH = 1.05
_MEMORY = 0.9
# The usual price of one more token in a batch, of a single one's, until it is measured.
_EXTRA = 0.3


class PromptLookup:
    """Guesses the next tokens from what stands before; holds the tokens the model can see."""

    def __init__(self, tokens: Iterable[TokenId]) -> None:
        self._tokens: list[TokenId] = []
        self._after: dict[tuple[TokenId, ...], int] = {}  # where an n-gram's last copy ended
        self._pending: list[tuple[tuple[TokenId, ...], int]] = []
        for token in tokens:
            self.append(token)

    def append(self, token: TokenId) -> None:
        """Adds the newest token."""
        # The newest n-grams are entered late, so that none finds itself.
        for gram, end in self._pending:
            self._after[gram] = end
        self._tokens.append(token)
        end = len(self._tokens)
        longest = min(_LONGEST, end)
        self._pending = [
            (tuple(self._tokens[end - n :]), end) for n in range(_SHORTEST, longest + 1)
        ]

    def guess(self, most: int) -> list[TokenId]:
        """Up to `most` tokens that may come next; empty if nothing like it stood before."""
        for gram, _ in reversed(self._pending):
            place = self._after.get(gram)
            if place is not None:
                return self._tokens[place : place + most]
        return []


class Pace:
    """Decides how many tokens to guess, from what guesses have cost and brought."""

    def __init__(self) -> None:
        self._hits, self._tries = 0.0, 0.0
        self._single: float | None = None
        self._extra: float | None = None

    @property
    def acceptance(self) -> float:
        """The chance that one more guessed token is right."""
        return (self._hits + 1) / (self._tries + 2)

    def length(self, most: int) -> int:
        """Number of guessed tokens (0 to `most`) at which a token costs least time."""
        if not self._single:
            return 0
        extra = _EXTRA if self._extra is None else self._extra / self._single
        best, length, chance, tokens = _WORTH, 0, 1.0, 1.0
        for guessed in range(1, most + 1):
            chance *= self.acceptance
            tokens += chance
            gain = tokens / (1 + extra * guessed)
            if gain > best:
                best, length = gain, guessed
        if not length:  # times change: what is known fades, and it will be tried again
            self._hits, self._tries = self._hits * _MEMORY, self._tries * _MEMORY
        return length

    def read(self, tokens: int, seconds: float) -> None:
        """Notes the time of a forward."""
        if tokens == 1:
            self._single = _blend(self._single, seconds)
        elif self._single:
            self._extra = _blend(self._extra, max(0.0, seconds - self._single) / (tokens - 1))

    def judged(self, guessed: int, right: int) -> None:
        """Notes how many tokens of a guess were right before the first wrong one."""
        tries = min(guessed, right + 1)
        self._hits = self._hits * _MEMORY**tries + right
        self._tries = self._tries * _MEMORY**tries + tries


class Stepper:
    """Reads an answer's tokens one by one, and further ahead where that pays.

    It stands for `backend.forward(sequence, [token], position)` in a decode loop. Call `settle`
    when the loop is over: until then guessed tokens may stand behind `position`.

    Args:
        backend: what reads.
        sequence: where.
        position: of the first token that will be read.
        lookup: knows the tokens before; None reads token by token.
        pace: may be shared by all answers of an engine, to go on with what it has learned.
    """

    def __init__(
        self,
        backend: Backend,
        sequence: SequenceId,
        position: int,
        lookup: PromptLookup | None = None,
        pace: Pace | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.position = position
        self.guessed = 0
        self.accepted = 0
        self._backend, self._sequence, self._clock = backend, sequence, clock
        self._lookup = lookup if backend.info.can_trim else None
        self._pace = pace or Pace()
        self._guess: list[TokenId] = []  # read ahead, at `position` and on
        self._rows: list[Logits] = []  # logits (V,) after each of them
        self._length = self._right = 0

    def step(self, token: TokenId) -> Logits:
        """Logits (V,) after `token`, which is the next of the answer. Raises OutOfCells."""
        if self._lookup is not None:
            self._lookup.append(token)
        if self._guess and self._guess[0] == token:
            self._guess.pop(0)
            self._right += 1
            self.accepted += 1
            self.position += 1
            return self._rows.pop(0)
        self.settle()
        return self._read(token)

    def settle(self) -> None:
        """Removes what was read ahead and not used."""
        if self._guess:
            stop = self.position + len(self._guess)
            self._backend.remove(self._sequence, self.position, stop)
        if self._length:
            self._pace.judged(self._length, self._right)
        self._guess, self._rows, self._length, self._right = [], [], 0, 0

    def _read(self, token: TokenId) -> Logits:
        guess = self._guesses()
        started = self._clock()
        try:
            rows = self._forward([token, *guess])
        except OutOfCells:
            if not guess:
                raise
            guess = []
            rows = self._forward([token])
        self._pace.read(1 + len(guess), self._clock() - started)
        self._guess, self._rows = guess, rows[1:]
        self._length = len(guess)
        self.guessed += len(guess)
        self.position += 1
        return rows[0]

    def _guesses(self) -> list[TokenId]:
        if self._lookup is None:
            return []
        guess = self._lookup.guess(min(MOST, self._backend.batch - 1))
        return guess[: self._pace.length(len(guess))] if guess else []

    def _forward(self, tokens: list[TokenId]) -> list[Logits]:
        if len(tokens) == 1:
            return [self._backend.forward(self._sequence, tokens, self.position)]
        return list(self._backend.forward(self._sequence, tokens, self.position, every=True))


def _blend(old: float | None, new: float) -> float:
    return new if old is None else 0.9 * old + 0.1 * new
