"""A backend without a model: deterministic, fast, and as strict as a real one.

Logits are a hash of every cell the sequence can see, so a missing, foreign, doubled or misplaced
cell changes them. A cell depends on its own token and position only, as in a one-layer model:
therefore trimmed, restored, forked and freshly prefilled sequences must agree bit for bit.

Like real decoders it trusts the content of a saved state (a flipped bit is accepted and changes
later logits); it checks only that the state has its own form.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from engine.backend import Logits, SavedState
from engine.errors import CannotTrim, NoFreeSequence, OutOfCells, RestoreError
from engine.fake_tokenizer import CHAT_TEMPLATE, END_OF_TEXT, TURN_END, TURN_START, FakeTokenizer
from engine.types import ModelInfo, SequenceId, TokenId

_CELL = np.dtype([("position", "<i4"), ("token", "<i4"), ("hash", "<u8")])
_HEADER = struct.Struct("<4sQI")
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_ALL_BITS = (1 << 64) - 1
_END_EVERY = np.uint64(24)


def _mix(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of splitmix64; shape kept."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


@dataclass(slots=True)
class _Cell:
    position: int
    token: int
    hash: int
    users: int = 0


@dataclass(slots=True)
class _Sequence:
    cells: dict[int, _Cell] = field(default_factory=dict)  # by position, in order

    @property
    def last(self) -> int:
        return next(reversed(self.cells), -1)


class FakeBackend:
    """Implements `Backend` in numpy.

    Args:
        cells: tokens of all sequences together.
        sequences: most sequences at a time.
        batch: most tokens in one forward. block: positions computed together.
        trained_context: positions that the model pretends to know.
        can_trim: False imitates a recurrent model: only whole sequences can be dropped or saved.
        seconds_per_batch: how long one forward takes, for tests that stop it.
        reply: if given, every answer is this text; else answers are made up.
        salt: another salt is another model.
        layout: what saved states depend on; another layout's states don't load.
    """

    def __init__(
        self,
        *,
        cells: int = 5120,
        sequences: int = 8,
        batch: int = 128,
        block: int = 1,
        trained_context: int = 1 << 20,
        can_trim: bool = True,
        seconds_per_batch: float = 0.0,
        reply: str = "",
        salt: int = 0,
        layout: str = "fake",
    ) -> None:
        self._capacity, self._most_sequences = cells, sequences
        self._batch = self.rows_alike = batch
        self._block = block
        self._seconds, self._salt, self._layout = seconds_per_batch, salt, layout
        self._tokenizer = FakeTokenizer()
        self._sequences: dict[SequenceId, _Sequence] = {}
        self._used = 0
        self._reply = [*self._tokenizer.encode(reply), TURN_END] if reply else []
        self._header = self._tokenizer.encode("assistant\n")
        self._bias = self._biases()
        self.forwards = 0
        self.tokens_read = 0
        self._info = ModelInfo(
            name="fake",
            architecture="fake",
            fingerprint=f"fake-{salt}",
            vocabulary=self._tokenizer.vocabulary,
            layers=1,
            trained_context=trained_context,
            kv_bytes_per_token=_CELL.itemsize,
            parameters=0,
            can_trim=can_trim,
        )

    @property
    def name(self) -> str:
        return "fake"

    @property
    def info(self) -> ModelInfo:
        return self._info

    @property
    def tokenizer(self) -> FakeTokenizer:
        return self._tokenizer

    @property
    def chat_template(self) -> str:
        return CHAT_TEMPLATE

    @property
    def layout(self) -> str:
        return self._layout

    @property
    def batch(self) -> int:
        return self._batch

    @property
    def block(self) -> int:
        return self._block

    @property
    def free_cells(self) -> int:
        return self._capacity - self._used

    def new_sequence(self) -> SequenceId:
        """An empty sequence. Raises NoFreeSequence."""
        for sequence in range(self._most_sequences):
            if sequence not in self._sequences:
                self._sequences[sequence] = _Sequence()
                return sequence
        raise NoFreeSequence(f"All {self._most_sequences} sequences are in use; free one first.")

    def free_sequence(self, sequence: SequenceId) -> None:
        """Forgets a sequence and its cells."""
        for cell in self._sequences.pop(sequence).cells.values():
            self._release(cell)

    def forward(
        self, sequence: SequenceId, tokens: Sequence[TokenId], start: int, *, every: bool = False
    ) -> Logits:
        """Reads `tokens` from position `start` on; logits (V,), or (T, V) with `every`."""
        own = self._sequences[sequence]
        if not 1 <= len(tokens) <= self._batch:
            raise ValueError(f"a forward reads 1 to {self._batch} tokens, not {len(tokens)}")
        if start <= own.last or (own.cells and start > own.last + 1):
            raise ValueError(f"position {start} doesn't follow the last, {own.last}")
        if not all(0 <= token < self._info.vocabulary for token in tokens):
            raise ValueError("a token isn't in the vocabulary")
        self._need(len(tokens))
        if self._seconds:
            time.sleep(self._seconds)
        self.forwards += 1
        self.tokens_read += len(tokens)
        before = sum(cell.hash for cell in own.cells.values()) & _ALL_BITS
        hashes = self._cell_hashes(tokens, start)  # (T,)
        for offset, (token, value) in enumerate(zip(tokens, hashes.tolist(), strict=True)):
            self._attach(own, _Cell(start + offset, token, value))
        states = np.uint64(before) + np.cumsum(hashes, dtype=np.uint64)  # (T,)
        if every:
            return self._logits(states, own, start)
        return np.asarray(self._logits(states[-1:], own, start + len(tokens) - 1)[0])

    def remove(self, sequence: SequenceId, start: int, stop: int) -> None:
        """Drops the cells at positions start ≤ p < stop. Raises CannotTrim."""
        own = self._sequences[sequence]
        gone = [position for position in own.cells if start <= position < stop]
        if gone and len(gone) < len(own.cells) and not self._info.can_trim:
            raise CannotTrim("This model can't drop a part of what it has read.")
        for position in gone:
            self._release(own.cells.pop(position))

    def fork(self, sequence: SequenceId) -> SequenceId:
        """A new sequence with the same cells. Raises NoFreeSequence."""
        source = self._sequences[sequence]
        copy = self.new_sequence()
        for cell in source.cells.values():
            self._attach(self._sequences[copy], cell)
        return copy

    def positions(self, sequence: SequenceId) -> list[tuple[int, int]]:
        """Position ranges [start, stop) present, in order."""
        ranges: list[tuple[int, int]] = []
        for position in self._sequences[sequence].cells:
            if ranges and ranges[-1][1] == position:
                ranges[-1] = (ranges[-1][0], position + 1)
            else:
                ranges.append((position, position + 1))
        return ranges

    def save(self, sequence: SequenceId, start: int, stop: int) -> bytes:
        """The cells at positions start ≤ p < stop, 16 bytes each behind a short header."""
        own = self._sequences[sequence].cells
        wanted = [cell for position, cell in own.items() if start <= position < stop]
        if len(wanted) < len(own) and not self._info.can_trim:
            raise CannotTrim("This model's state can only be saved whole.")
        rows = [(cell.position, cell.token, cell.hash) for cell in wanted]
        header = _HEADER.pack(b"FAKE", self._form(), len(rows))
        return header + np.array(rows, dtype=_CELL).tobytes()

    def load(self, sequence: SequenceId, state: SavedState) -> None:
        """Appends the cells that `save` gave. Raises RestoreError, OutOfCells."""
        own = self._sequences[sequence]
        try:
            rows = self._parse(state, own)
        except RestoreError:
            self.remove(sequence, 0, own.last + 1)
            raise
        self._need(len(rows))
        for position, token, value in rows.tolist():
            self._attach(own, _Cell(position, token, value))

    def nbytes(self, sequence: SequenceId) -> int:
        """Bytes of the sequence's cells, shared ones included."""
        return len(self._sequences[sequence].cells) * self._info.kv_bytes_per_token

    def close(self) -> None:
        """Forgets every sequence."""
        self._sequences.clear()
        self._used = 0

    def _parse(self, state: SavedState, own: _Sequence) -> NDArray[np.void]:
        if len(state) < _HEADER.size:
            raise RestoreError("The saved state is cut short.")
        magic, form, count = _HEADER.unpack_from(state)
        if magic != b"FAKE" or form != self._form():
            raise RestoreError("The saved state belongs to another model or layout.")
        if len(state) != _HEADER.size + count * _CELL.itemsize:
            raise RestoreError("The saved state is cut short or too long.")
        rows = np.frombuffer(state, dtype=_CELL, offset=_HEADER.size)
        positions = rows["position"]
        if count and (positions[0] <= own.last or np.any(np.diff(positions) <= 0)):
            raise RestoreError("The saved state doesn't follow what the sequence holds.")
        if own.cells and not self._info.can_trim:
            raise RestoreError("This model's state can only be restored into an empty sequence.")
        return rows

    def _form(self) -> int:
        text = f"{self._layout}/{self._salt}".encode()
        return int.from_bytes(text[:8].ljust(8, b"\0"), "little") ^ (self._salt << 32)

    def _need(self, count: int) -> None:
        if count > self.free_cells:
            raise OutOfCells(f"{count} cells are needed, {self.free_cells} are free.")

    def _attach(self, own: _Sequence, cell: _Cell) -> None:
        if cell.users == 0:
            self._used += 1
        cell.users += 1
        own.cells[cell.position] = cell

    def _release(self, cell: _Cell) -> None:
        cell.users -= 1
        if cell.users == 0:
            self._used -= 1

    def _cell_hashes(self, tokens: Sequence[TokenId], start: int) -> NDArray[np.uint64]:
        ids = np.asarray(tokens, dtype=np.uint64)
        positions = np.arange(start, start + len(tokens), dtype=np.uint64)
        salt = np.uint64((self._salt + 1) * int(_GOLDEN) & _ALL_BITS)
        return _mix(_mix(ids * _GOLDEN + salt) + positions * _GOLDEN + np.uint64(1))

    def _logits(self, states: NDArray[np.uint64], own: _Sequence, first: int) -> Logits:
        """Logits (T, V) for the states (T,) after the T cells from position `first` on."""
        tokens = np.arange(self._info.vocabulary, dtype=np.uint64) * _GOLDEN  # (V,)
        noise = _mix(states[:, None] + tokens[None, :]) >> np.uint64(40)  # (T, V)
        logits = noise.astype(np.float32) * np.float32(8 / (1 << 24)) + self._bias
        ends = _mix(states) % _END_EVERY == 0
        logits[:, TURN_END] += np.where(ends, 20, -20).astype(np.float32)
        if self._reply:
            for row in range(len(states)):
                wanted = self._scripted(own, first + row)
                if wanted is not None:
                    logits[row, wanted] += 100
        return logits

    def _scripted(self, own: _Sequence, position: int) -> TokenId | None:
        """The next token of `reply` if the cell at `position` stands in an answer."""
        begin = position
        while begin in own.cells and own.cells[begin].token != TURN_START:
            begin -= 1
        done = position - begin - len(self._header)
        return self._reply[done] if 0 <= done < len(self._reply) else None

    def _biases(self) -> NDArray[np.float32]:
        """Printable ASCII and words are likely, control tokens are not, shape (V,)."""
        bias = np.full(self._tokenizer.vocabulary, -6, dtype=np.float32)
        bias[32:127] = 0
        bias[TURN_END + 1 :] = 2
        bias[[END_OF_TEXT, TURN_START]] = -40
        return bias
