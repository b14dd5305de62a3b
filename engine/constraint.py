"""What an answer may say, token by token. It knows bytes and token ids, no model and no document.

A constraint is asked before each token and told of it afterwards:

    allowed = constraint.allowed()
    token = sampler.sample(logits, allowed)
    constraint.advance(token)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from engine.backend import Tokenizer
from engine.errors import InvalidRequest
from engine.quotations import Spans
from engine.sampling import Allowed
from engine.types import TokenId, Turn
from engine.vocabulary import Vocabulary


class Constraint(Protocol):
    """An automaton over the bytes of an answer."""

    @property
    def finished(self) -> bool:
        """Whether the answer must end here; then `allowed` is not asked."""

    def allowed(self) -> Allowed:
        """Ids or a mask of shape (V,) of the next token; None if every token will do."""

    def advance(self, token: TokenId) -> None:
        """Goes on past `token`, which must be an allowed one."""

    def forced(self) -> str:
        """Text that must come next, whatever the model thinks; it may be read as a batch."""


class Choices:
    """The answer begins with exactly one of `choices`; the model chooses among their tokens.

    Where one choice begins another ("Yes", "Yes, if …"), the shorter is chosen by ending the
    answer (`stop`) or by going on in any other way.
    """

    def __init__(self, choices: Sequence[str], vocabulary: Vocabulary, *, stop: bool) -> None:
        left = sorted({choice.encode() for choice in choices if choice})
        if not left:
            raise InvalidRequest("The choices of the answer are empty; give at least one text.")
        self._left = left
        self._complete = False
        self._vocabulary = vocabulary
        self._stop = stop

    @property
    def finished(self) -> bool:
        return self._stop and not self._left

    @property
    def passed(self) -> bool:
        """Whether a choice is complete, so that anything may follow."""
        return self._complete and not self._stop

    def allowed(self) -> Allowed:
        if self.passed:
            return None
        ids = {
            token
            for left in self._left
            for token in self._vocabulary.beginnings(left, 0, len(left))
        }
        if self._complete:
            ids |= self._vocabulary.end_tokens
        return np.array(sorted(ids), dtype=np.int64)

    def advance(self, token: TokenId) -> None:
        if self.passed:
            return
        piece = self._vocabulary.pieces[token]
        left = [text[len(piece) :] for text in self._left if text.startswith(piece)]
        self._complete = b"" in left
        self._left = [text for text in left if text]

    def forced(self) -> str:
        if self._complete or not self._left:
            return ""
        low, high = self._left[0], self._left[-1]  # sorted: they differ first, if any do
        if low[0] & 0xC0 == 0x80:  # the rest of a character
            return ""
        pairs = enumerate(zip(low, high, strict=False))
        same = next((n for n, (one, other) in pairs if one != other), len(low))
        return low[:same].decode("utf-8", errors="ignore")


class Both:
    """First a choice, then quotations from `spans` only."""

    def __init__(self, choices: Choices, spans: Spans, vocabulary: Vocabulary) -> None:
        self._choices = choices
        self._spans = spans
        self._vocabulary = vocabulary
        self._chosen = b""

    @property
    def finished(self) -> bool:
        return self._choices.finished

    def allowed(self) -> Allowed:
        return self._spans.allowed() if self._choices.passed else self._choices.allowed()

    def advance(self, token: TokenId) -> None:
        if self._choices.passed:
            self._spans.advance(token)
            return
        self._choices.advance(token)
        self._chosen += self._vocabulary.pieces[token]
        if self._choices.passed:
            self._spans.follow(self._chosen)

    def forced(self) -> str:
        return self._choices.forced()


def constraint_for(turn: Turn, vocabulary: Vocabulary) -> Choices | Spans | Both | None:
    """The constraint that `turn` asks for; None if the model is free.

    Raises:
        InvalidRequest: the choices are empty.
    """
    spans = Spans(turn.spans, vocabulary, said=turn.prefix) if turn.spans else None
    if not turn.choices:
        return spans
    choices = Choices(turn.choices, vocabulary, stop=turn.stop_after_choice)
    return Both(choices, spans, vocabulary) if spans else choices


def forced_tokens(constraint: Constraint | None, tokenizer: Tokenizer, most: int) -> list[TokenId]:
    """Tokens of the text that must come next whatever the model thinks, two to `most` of them.

    Nobody has to choose them, so they can be read as a batch; often there are none.
    """
    text = constraint.forced() if constraint is not None else ""
    ids = tokenizer.encode(text) if text else []
    spelled = b"".join(tokenizer.piece(token) for token in ids)
    return ids if 1 < len(ids) <= most and spelled == text.encode() else []
