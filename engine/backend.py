"""The border between conversations and decoders: what every backend can do, and no more.

A backend computes logits and keeps keys and values of numbered sequences. It knows token ids and
positions. It does not know conversations, text, files or budgets.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from engine.types import ModelInfo, SequenceId, TokenId

Logits = NDArray[np.float32]
SavedState = bytes | bytearray | memoryview


class Tokenizer(Protocol):
    """Token ids from text and back. Special tokens are recognised only where asked for."""

    @property
    def end_tokens(self) -> frozenset[TokenId]:
        """Ids that end an answer (EOS, end of turn)."""

    @property
    def begin_token(self) -> TokenId | None:
        """BOS if the model wants one at the start, else None."""

    def encode(self, text: str, *, special: bool = False) -> list[TokenId]:
        """Ids of `text`, without BOS. With `special`, strings like <|im_end|> are one token."""

    def piece(self, token: TokenId) -> bytes:
        """Raw bytes of a token; empty for a control token."""


class Backend(Protocol):
    """A decoder and its device memory.

    Positions of a sequence grow but need not be dense: after `remove` the others keep theirs.
    No method changes any sequence but the one it is given.
    """

    @property
    def name(self) -> str: ...

    @property
    def info(self) -> ModelInfo: ...

    @property
    def tokenizer(self) -> Tokenizer: ...

    @property
    def chat_template(self) -> str:
        """The model's jinja2 chat template; empty if it has none."""

    @property
    def layout(self) -> str:
        """All that a saved state's bytes depend on besides the model; compared verbatim."""

    @property
    def batch(self) -> int:
        """Most tokens in one `forward`, a multiple of `block`."""

    @property
    def block(self) -> int:
        """Positions that are computed together; 1 where each is computed by itself.

        A read that stops inside a block pays for all of it, and the next read pays again.
        """

    @property
    def free_cells(self) -> int:
        """Tokens that still fit on the device."""

    def new_sequence(self) -> SequenceId:
        """An empty sequence. Raises NoFreeSequence."""

    def free_sequence(self, sequence: SequenceId) -> None:
        """Forgets a sequence and its cells."""

    def forward(
        self, sequence: SequenceId, tokens: Sequence[TokenId], start: int, *, every: bool = False
    ) -> Logits:
        """Reads `tokens` at positions start, start+1, … and appends their keys and values.

        Returns:
            Logits after the last token, shape (V,); with `every`, after each, shape (T, V).

        Raises:
            OutOfCells: nothing was appended.
            ValueError: `tokens` is empty or longer than `batch`, or start doesn't follow the last
                position that the sequence holds (an empty one may begin anywhere).
        """

    def remove(self, sequence: SequenceId, start: int, stop: int) -> None:
        """Drops the cells at positions start ≤ p < stop; others keep their positions.

        Raises:
            CannotTrim: the model can't; nothing was changed.
        """

    def fork(self, sequence: SequenceId) -> SequenceId:
        """A new sequence with the same cells, shared until they differ. Raises NoFreeSequence."""

    def positions(self, sequence: SequenceId) -> list[tuple[int, int]]:
        """Position ranges [start, stop) present, in order."""

    def save(self, sequence: SequenceId, start: int, stop: int) -> SavedState:
        """Keys and values of the cells at positions start ≤ p < stop, for `load`."""

    def load(self, sequence: SequenceId, state: SavedState) -> None:
        """Appends the cells that `save` gave, at their positions.

        Raises:
            RestoreError: it doesn't fit; the whole sequence has been cleared.
            OutOfCells: no room; nothing was appended.
        """

    def nbytes(self, sequence: SequenceId) -> int:
        """Bytes of device memory that hold the sequence's keys and values."""

    def close(self) -> None:
        """Frees the model and every sequence."""
