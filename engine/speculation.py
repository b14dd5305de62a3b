"""Prompt lookup: where an answer repeats the prompt, its next tokens are guessed and read at once.

The tokens after the last place where the newest few tokens stood are a good guess while the model
quotes (Saxena 2023, "Prompt lookup decoding"). They are read in one batch with the token that was
chosen; each further choice that agrees with the guess needs no forward of its own. The caller
samples from the logits exactly as without it, so any sampler and constraint will do, and what
comes out is what the model says: a guess that is wrong is removed again.

That a batch gives the logits of single tokens to the last bit is not a matter of course. Measured
with SmolLM2-135M Q4_1 on a CPU under llama.cpp: with keys and values in 8 bits (flash attention)
it holds; in 16 bits without flash attention up to 1.1 of difference in a logit, because attention
is summed up in another order and the activations are then rounded to 8 bits.

How much to guess is decided from what it costs and brings on this machine, measured as it goes.
It knows a backend and token ids, and nothing of text.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable
from statistics import median

import numpy as np

from engine.backend import Backend, Logits
from engine.errors import NoFreeSequence, OutOfCells
from engine.types import LookaheadMode, SequenceId, TokenId

Read = Callable[[SequenceId, list[TokenId], int], Logits]
MOST = 8
_LONGEST, _SHORTEST = 4, 2
_WORTH = 1.05
_MEMORY = 0.9
# The usual price of one more token in a batch, of a single one's, until it is measured.
_EXTRA = 0.3
_LEAST = 0.5
_RECENT = 9
_PATIENCE = 8


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
        # Medians of recent times: a machine with other work now and then takes ten times as long.
        self._single = deque[float](maxlen=_RECENT)
        self._batches = deque[tuple[int, float]](maxlen=_RECENT)
        self._declined = 0

    @property
    def acceptance(self) -> float:
        """The chance that one more guessed token is right."""
        return (self._hits + 1) / (self._tries + 2)

    @property
    def extra(self) -> float:
        """What one more token in a batch costs, measured in single tokens."""
        if not self._batches:
            return _EXTRA
        single = median(self._single)
        return median((seconds / single - 1) / (count - 1) for count, seconds in self._batches)

    def length(self, most: int) -> int:
        """Number of guessed tokens (0 to `most`) at which a token costs least time."""
        if not self._single:
            return 0
        best, length, chance, tokens = _WORTH, 0, 1.0, 1.0
        for guessed in range(1, most + 1):
            chance *= self.acceptance
            tokens += chance
            gain = tokens / max(1 + self.extra * guessed, _LEAST)
            if gain > best:
                best, length = gain, guessed
        if not length:
            self._fade()
        return length

    def read(self, tokens: int, seconds: float) -> None:
        """Notes the time of a forward."""
        if tokens == 1:
            self._single.append(seconds)
        elif self._single:
            self._batches.append((tokens, seconds))

    def judged(self, guessed: int, right: int) -> None:
        """Notes how many tokens of a guess were right before the first wrong one."""
        tries = min(guessed, right + 1)
        self._hits = self._hits * _MEMORY**tries + right
        self._tries = self._tries * _MEMORY**tries + tries

    def _fade(self) -> None:
        """Forgets a little where a guess wasn't worth it: times change, it will be tried again."""
        self._hits, self._tries = self._hits * _MEMORY, self._tries * _MEMORY
        self._declined += 1
        if self._batches and self._declined % _PATIENCE == 0:
            self._batches.popleft()


class Lookahead:
    """Whether and how far one engine's answers read ahead; shared by all of them.

    Args:
        backend: what reads.
        mode: "auto" reads ahead where a forward of several tokens gives, bit for bit, the logits
            of as many single ones, so that no answer changes; "always" wherever it is faster
            (near a tie the answer can be another one); "off" never.
    """

    def __init__(
        self,
        backend: Backend,
        mode: LookaheadMode = "auto",
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.pace = Pace()
        self._backend, self._mode, self._clock = backend, mode, clock
        self._most: int | None = None

    @property
    def most(self) -> int:
        """Most tokens to guess at a time; 0 if answers are read token by token."""
        if self._most is None:
            self._most = self._find_most()
        return self._most

    def stepper(self, read: Read, tokens: Callable[[], Iterable[TokenId]]) -> Stepper:
        """What reads an answer that begins after `tokens`."""
        lookup = PromptLookup(tokens()) if self.most else None
        return Stepper(self._backend, read, lookup, self.pace, self.most, self._clock)

    def _find_most(self) -> int:
        backend = self._backend
        if self._mode == "off" or not backend.info.can_trim:
            return 0
        most = min(MOST, backend.batch - 1)
        if self._mode == "always":
            return most
        declared = getattr(backend, "rows_alike", 1) - 1
        return min(most, declared, rows_alike(backend, most + 1) - 1) if declared > 0 else 0


def rows_alike(backend: Backend, count: int) -> int:
    """Of `count` tokens read at once, how many give the logits of tokens read one by one.

    This is tried out with the model, on a sequence of its own. What a backend declares as
    `rows_alike` must hold besides: a short trial can't show what happens in a long conversation.
    """
    try:
        sequence = backend.new_sequence()
    except NoFreeSequence:
        return 1
    tokens = [(7 * n + 3) % backend.info.vocabulary for n in range(2 * count)]
    head, tail = tokens[:count], tokens[count:]
    try:
        backend.forward(sequence, head, 0)
        single = [backend.forward(sequence, [t], count + n) for n, t in enumerate(tail)]
        backend.remove(sequence, count, 2 * count)
        at_once = backend.forward(sequence, tail, count, every=True)
    except OutOfCells:
        return 1
    finally:
        backend.free_sequence(sequence)
    pairs = enumerate(zip(single, at_once, strict=True))
    return next((n for n, (one, other) in pairs if not np.array_equal(one, other)), count)


class Stepper:
    """Reads an answer's tokens one by one, and further ahead where that pays.

    `step` stands for a forward of a single token in a decode loop. Between two calls guessed
    tokens may stand behind the last one: `settle` removes them, before anything else is done to
    the sequence.

    Args:
        backend: what reads.
        read: reads one token; (sequence, tokens, position) -> logits (V,). May make room.
        lookup: knows the tokens before; None reads token by token.
        pace: decides how far.
        most: most tokens to guess at a time.
    """

    def __init__(
        self,
        backend: Backend,
        read: Read,
        lookup: PromptLookup | None,
        pace: Pace,
        most: int = MOST,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.guessed = 0
        self.accepted = 0
        self._backend, self._read, self._clock = backend, read, clock
        self._lookup, self._pace, self._most = lookup, pace, most
        self._sequence: SequenceId | None = None
        self._position = 0  # of the first guessed token
        self._guess: list[TokenId] = []
        self._rows: list[Logits] = []  # logits (V,) after each of them
        self._length = self._right = 0

    def step(self, sequence: SequenceId, token: TokenId, position: int) -> Logits:
        """Logits (V,) after `token`, the next of the answer. Raises OutOfCells."""
        if self._lookup is not None:
            self._lookup.append(token)
        if self._guess and self._guess[0] == token and self._position == position:
            self._guess.pop(0)
            self._right += 1
            self.accepted += 1
            self._position += 1
            return self._rows.pop(0)
        self.settle()
        self._sequence, self._position = sequence, position + 1
        return self._forward(sequence, token, position)

    def settle(self) -> None:
        """Removes what was read ahead and not used."""
        if self._guess and self._sequence is not None:
            stop = self._position + len(self._guess)
            self._backend.remove(self._sequence, self._position, stop)
        if self._length:
            self._pace.judged(self._length, self._right)
        self._guess, self._rows, self._length, self._right = [], [], 0, 0

    def _forward(self, sequence: SequenceId, token: TokenId, position: int) -> Logits:
        logits: Logits
        guess = self._guesses()
        started = self._clock()
        if guess:
            rows = self._backend.forward(sequence, [token, *guess], position, every=True)
            self._guess, self._rows = guess, list(rows[1:])
            self._length = len(guess)
            self.guessed += len(guess)
            logits = rows[0]
        else:
            logits = self._read(sequence, [token], position)
        self._pace.read(1 + len(guess), self._clock() - started)
        return logits

    def _guesses(self) -> list[TokenId]:
        if self._lookup is None or self._backend.free_cells <= self._most:
            return []
        guess = self._lookup.guess(self._most)
        return guess[: self._pace.length(len(guess))] if guess else []
