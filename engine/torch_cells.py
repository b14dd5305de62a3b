"""The keys and values of one sequence: blocks in order of position.

A token at position p lies in row p mod P of the block of index p div P, whatever was read before
or removed since. The layout is therefore a function of the positions alone, which is what makes
split equal to whole and restored equal to live, bit for bit. Forks share blocks and copy one when
they write to it; removing never writes.

With int8, a block is packed when a later one is written to; the newest block and the block of the
first tokens stay as they are. It knows no model and computes no attention.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from engine.errors import RestoreError
from engine.kv_blocks import Block, BlockPool, Rows
from engine.kv_quantize import PackedBlock, fits, pack, pack_with

_revisions = itertools.count()


@dataclass(slots=True)
class Entry:
    """A block as one sequence sees it: `index` = position div P, and the rows it holds (P,)."""

    index: int
    block: Block
    rows: Rows


@dataclass(slots=True)
class Piece:
    """Rows of a block outside the device: what `snapshot` gives and `restore` takes."""

    index: int
    rows: Rows
    data: Tensor | PackedBlock  # of a whole block, on the CPU


class Cells:
    """One sequence's blocks. Verbs: prepare and commit, trim, fork, snapshot, restore, nbytes.

    Attributes:
        entries: its blocks in order.
        stop: one past the last position held.
        revision: changes with everything but an append.
        has_holes: whether a row before the last one is absent from a block that is there.
    """

    def __init__(self, pool: BlockPool) -> None:
        self._pool = pool
        self.entries: list[Entry] = []
        self.stop = 0
        self.revision = next(_revisions)
        self.has_holes = False

    @property
    def count(self) -> int:
        """Tokens held."""
        return sum(int(np.count_nonzero(entry.rows)) for entry in self.entries)

    @property
    def nbytes(self) -> int:
        """Bytes of the tokens held; a block's shared scales count for each of its tokens."""
        shape, total = self._pool.shape, 0
        for entry in self.entries:
            width = shape.packed_token_nbytes if entry.block.is_packed else shape.token_nbytes
            total += int(np.count_nonzero(entry.rows)) * width
        return total

    def ranges(self) -> list[tuple[int, int]]:
        """Position ranges [start, stop) held, in order."""
        if not self.entries:
            return []
        tokens = self._pool.shape.tokens
        positions = np.concatenate(
            [np.flatnonzero(entry.rows) + entry.index * tokens for entry in self.entries]
        )
        cuts = np.flatnonzero(np.diff(positions) != 1) + 1
        runs = np.split(positions, cuts)
        return [(int(run[0]), int(run[-1]) + 1) for run in runs]

    def prepare(self, index: int) -> Entry:
        """The block of this index, ready to be written to; the last one, or a new last one.

        Raises OutOfCells where the device has no memory; nothing was changed then.
        """
        last = self.entries[-1] if self.entries else None
        if last is None or last.index != index:
            entry = Entry(index, self._pool.new(), np.zeros(self._pool.shape.tokens, np.bool_))
            self.entries.append(entry)
            self._pack_older()
            return entry
        if last.block.is_packed or last.block.sharers > 1:
            self._replace(last, self._pool.copy(last.block))
        self._pack_older()
        return last

    def commit(self, number: int, start: int, stop: int) -> None:
        """Rows start … stop of the block `number` have been written, and all before it."""
        entry = self.entries[number]
        gap = not entry.rows[:start].all()
        gap = gap or (number > 0 and not self.entries[number - 1].rows[-1])
        self.has_holes = self.has_holes or bool(gap)
        rows = np.zeros_like(entry.rows)
        rows[start:stop] = True
        self._pool.hold(entry.block, rows)
        entry.rows |= rows
        entry.block.touch()
        self.stop = entry.index * self._pool.shape.tokens + stop

    def abandon(self) -> None:
        """Drops prepared blocks into which nothing was written."""
        while self.entries and not self.entries[-1].rows.any():
            self._pool.leave(self.entries[-1].block, self.entries.pop().rows)
            self.revision = next(_revisions)

    def trim(self, start: int, stop: int) -> None:
        """Drops the tokens at positions start ≤ p < stop; others keep their positions."""
        tokens, kept = self._pool.shape.tokens, []
        for entry in self.entries:
            first = entry.index * tokens
            rows = np.zeros_like(entry.rows)
            rows[max(0, start - first) : max(0, stop - first)] = True
            rows &= entry.rows
            if bool((rows == entry.rows).all()):
                self._pool.leave(entry.block, entry.rows)
                continue
            self._pool.let_go(entry.block, rows)
            entry.rows = entry.rows & ~rows
            kept.append(entry)
        self.entries = kept
        self._changed()

    def clear(self) -> None:
        """Drops everything."""
        self.trim(0, self.stop)

    def fork(self) -> Cells:
        """The same cells, shared until one side writes."""
        copy = Cells(self._pool)
        for entry in self.entries:
            entry.block.sharers += 1
            self._pool.hold(entry.block, entry.rows)
            copy.entries.append(Entry(entry.index, entry.block, entry.rows.copy()))
        copy._changed()
        return copy

    def _changed(self) -> None:
        """Works out again what depends on the rows."""
        self.revision = next(_revisions)
        self.stop, self.has_holes = 0, False
        if self.entries:
            last = self.entries[-1]
            present = int(np.flatnonzero(last.rows)[-1]) + 1
            self.stop = last.index * self._pool.shape.tokens + present
            inner = all(bool(entry.rows.all()) for entry in self.entries[:-1])
            self.has_holes = not (inner and bool(last.rows[:present].all()))

    def _pack_older(self) -> None:
        """Packs every block but the newest and the first tokens', once each."""
        if not self._pool.shape.packed:
            return
        for entry in self.entries[:-1]:
            if entry.index > 0 and not entry.block.is_packed:
                rows = torch.from_numpy(entry.rows).to(self._pool.device)
                data = pack(self._pool.contents(entry.block), rows)
                self._replace(entry, self._pool.adopt(data))

    def _replace(self, entry: Entry, block: Block) -> None:
        """Puts `block` in the place of the entry's own."""
        self._pool.leave(entry.block, entry.rows)
        self._pool.hold(block, entry.rows)
        entry.block = block
        self.revision = next(_revisions)

    def snapshot(self, start: int, stop: int) -> list[Piece]:
        """The cells at positions start ≤ p < stop, on the CPU; each block moves in one copy."""
        tokens, pieces = self._pool.shape.tokens, []
        for entry in self.entries:
            first = entry.index * tokens
            rows = np.zeros_like(entry.rows)
            rows[max(0, start - first) : max(0, stop - first)] = True
            rows &= entry.rows
            if rows.any():
                pieces.append(Piece(entry.index, rows, self._pool.to_host(entry.block)))
        self._pool.synchronize()
        return pieces

    def restore(self, pieces: Iterable[Piece]) -> None:
        """Appends what `snapshot` gave, all of it or nothing.

        Raises RestoreError where it doesn't follow what is there, OutOfCells.
        """
        pieces, tokens, last = list(pieces), self._pool.shape.tokens, self.stop - 1
        for piece in pieces:
            positions = np.flatnonzero(piece.rows) + piece.index * tokens
            if not len(positions) or positions[0] <= last:
                raise RestoreError("The saved state doesn't follow what the sequence holds.")
            last = int(positions[-1])
        self._pool.need(sum(int(np.count_nonzero(piece.rows)) for piece in pieces))
        blocks = [self._pool.from_host(piece.data) for piece in pieces]
        for piece, block in zip(pieces, blocks, strict=True):
            if self.entries and self.entries[-1].index == piece.index:
                entry = self.entries[-1]
                self._replace(entry, self._merged(entry, piece.rows, block))
                self._pool.hold(entry.block, piece.rows)
                entry.rows |= piece.rows
            else:
                self._pool.hold(block, piece.rows)
                self.entries.append(Entry(piece.index, block, piece.rows.copy()))
        self._pack_older()
        self._changed()

    def _merged(self, entry: Entry, rows: Rows, block: Block) -> Block:
        """One block with the entry's own rows and the given rows of `block`.

        Rows saved before their block was packed are packed with the scales that the block got
        later: just as they were in the sequence that was saved.
        """
        own, theirs = entry.block.data, block.data
        if isinstance(theirs, PackedBlock):
            mine = torch.from_numpy(entry.rows).to(self._pool.device)
            if isinstance(own, Tensor) and fits(own, mine, theirs.key_exponents):
                own = pack_with(own, theirs.key_exponents)
            if isinstance(own, PackedBlock) and own.key_exponents.equal(theirs.key_exponents):
                theirs.numbers[..., mine, :] = own.numbers[..., mine, :]
                theirs.value_exponents[..., mine] = own.value_exponents[..., mine]
                return block
        merged, chosen = self._pool.copy(entry.block), torch.from_numpy(rows).to(self._pool.device)
        assert isinstance(merged.data, Tensor)
        merged.data[..., chosen, :] = self._pool.contents(block)[..., chosen, :]
        return merged
