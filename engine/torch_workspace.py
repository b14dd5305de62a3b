"""The keys and values of the sequence at work, side by side, as attention reads them.

Blocks are for sharing, moving and packing; attention wants each head's cells in one run. So the
blocks of the sequence at work are copied into one static buffer, and every new token is written
to both. The buffer remembers which block each slot holds: to go on with the same sequence copies
nothing, to change to a fork copies the blocks in which it differs. It costs one window of memory
and one copy a change of conversation (SmolLM2 at 4,096 tokens: 94 MB); reading the blocks in place
would cost a gather in every layer of every token.

Shapes: L layers, K key heads, D head size, W slots in tokens, P tokens of a block.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from engine.errors import OutOfCells
from engine.kv_blocks import BlockPool
from engine.torch_cells import Cells, Entry

ABSENT = 1 << 40  # a position that no query can see
_SMALLEST_BUCKET = 4
_TILE_TOKENS = 512


def bucket_of(blocks: int, most: int) -> int:
    """The smallest bucket for so many blocks: four sizes an octave, a quarter wasted at most."""
    size = _SMALLEST_BUCKET
    while size < blocks:
        size += max(1, 1 << (size.bit_length() - 3))
    return min(size, most)


class Workspace:
    """A static buffer (L, 2, K, W, D) of keys and values, and the position of each slot (W,).

    Args:
        pool: whose blocks are copied here.
        dtype: the type attention computes in.
        bucketed: W is the smallest of a few sizes that holds the sequence, and the buffer is laid
            out anew when it changes: what a captured graph of kernels needs, whose shapes are
            fixed. Else W is the whole window.
        turned: keep the keys a second time, in fp16, in tiles (D, T) of T slots: for `torch_bags`.

    Attributes:
        tile: T. tiles: how many of them.
    """

    def __init__(
        self, pool: BlockPool, dtype: torch.dtype, *, bucketed: bool = False, turned: bool = False
    ) -> None:
        shape = pool.shape
        self._pool, self.block = pool, shape.tokens
        self.dtype, self.device = dtype, pool.device
        blocks = -(-pool.cells // shape.tokens)
        self.slots = blocks + max(4, blocks // 8)  # room for partly filled blocks
        self._bucketed, self.bucket = bucketed, 0 if bucketed else self.slots
        numbers = shape.layers * 2 * shape.kv_heads * shape.head_dim * self.slots * shape.tokens
        self._memory = torch.empty(numbers, dtype=dtype, device=self.device)
        tile_blocks = _TILE_TOKENS // shape.tokens
        self.tile = tile_blocks * shape.tokens
        self.tiles = -(-self.slots // tile_blocks) if turned else 0
        tiles = (shape.layers, shape.kv_heads, self.tiles, shape.head_dim, self.tile)
        self._turned = torch.zeros(tiles, dtype=torch.float16)
        self._cells = self._laid_out(self.slots)
        length = self.slots * shape.tokens
        self.positions = torch.full((length,), ABSENT, dtype=torch.int64, device=self.device)
        self._stamps = [-1] * self.slots  # what each slot holds
        self._revision = -1
        self._rounds = shape.dtype != dtype

    def attach(self, cells: Cells) -> None:
        """Makes the slots hold the sequence's blocks, in order."""
        if len(cells.entries) > self.slots:
            raise OutOfCells(f"{len(cells.entries)} blocks are more than the device's window.")
        if self._bucketed:
            self._resize(bucket_of(len(cells.entries), self.slots))
            self._clear_behind(len(cells.entries))
        for slot, entry in enumerate(cells.entries):
            if self._stamps[slot] != entry.block.stamp:
                self._copy_in(slot, entry)
        if self._revision != cells.revision:
            self._place(cells)

    def begin(self, cells: Cells, number: int, start: int, stop: int) -> None:
        """Makes rows start … stop of a block visible, before they are written."""
        first, slot = cells.entries[number].index * self.block, number * self.block
        if stop - start == 1:
            self.positions[slot + start : slot + stop].fill_(first + start)
        else:
            self.positions[slot + start : slot + stop] = torch.arange(
                first + start, first + stop, device=self.device
            )

    def targets(self, slots: slice) -> Sequence[Tensor]:
        """For each layer, where keys and values of these slots are written: (2, K, T, D)."""
        return self._cells[:, :, :, slots].unbind(0)

    def sources(self, slots: slice) -> tuple[Sequence[Tensor], Sequence[Tensor]]:
        """For each layer, keys and values of these slots: (K, S, D) each."""
        keys, values = self._cells[:, :, :, slots].unbind(1)
        return keys.unbind(0), values.unbind(0)

    def write(self, target: Tensor, keys: Tensor, values: Tensor) -> None:
        """Puts new keys and values (T, K, D) into one of `targets`."""
        if self._rounds:  # what is kept is what is read
            keys, values = keys.to(self._pool.shape.dtype), values.to(self._pool.shape.dtype)
        target[0].copy_(keys.transpose(0, 1))
        target[1].copy_(values.transpose(0, 1))

    def write_at(self, target: Tensor, slot: Tensor, new: Tensor) -> None:
        """Puts one token's keys or values (1, K, D) into `slot` (1,) of a layer's (K, S, D)."""
        if self._rounds:
            new = new.to(self._pool.shape.dtype)
        target.index_copy_(1, slot, new.transpose(0, 1).to(target.dtype))

    def turned_targets(self, slot: int) -> tuple[Sequence[Tensor], Sequence[Tensor]]:
        """For each layer, where a token's keys are written among the tiles, and its values."""
        keys, values = self._turned_at(slot)
        return keys.unbind(0), values.unbind(0)

    def tables(self) -> tuple[Sequence[Tensor], Sequence[Tensor]]:
        """For each layer, the tiles as rows (K C D, T), and the values as rows (K W, D)."""
        keys = self._turned.view(len(self._turned), -1, self.tile)
        values = self._cells[:, 1].flatten(1, 2)
        return keys.unbind(0), values.unbind(0)

    def put(self, target: Tensor, new: Tensor) -> None:
        """Puts one token's keys or values (K, D) into one of `turned_targets`."""
        if self._rounds:
            new = new.to(self._pool.shape.dtype)
        target.copy_(new)

    def finish(
        self, cells: Cells, number: int, start: int, stop: int, *, turned: bool = False
    ) -> None:
        """Copies the written rows to their block and commits them.

        With `turned`, one token's keys were written among the tiles; else they still must be.
        """
        entry = cells.entries[number]
        data, first = entry.block.data, number * self.block
        assert isinstance(data, Tensor)
        written = self._cells[..., first + start : first + stop, :]
        if turned:
            keys, _ = self._turned_at(first + start)
            written[:, 0, :, 0].copy_(keys)
        elif self.tiles:  # with the block's absent rows
            self._turn(number)
        data[..., start:stop, :].copy_(written)
        cells.commit(number, start, stop)
        self._stamps[number] = entry.block.stamp

    def forget(self) -> None:
        """After a failure: nothing in the slots is known any more."""
        self._stamps = [-1] * self.slots
        self._revision = -1
        if self._bucketed:
            self._memory.zero_()

    def _laid_out(self, slots: int) -> Tensor:
        """The memory as (L, 2, K, W, D) for so many blocks."""
        shape = self._pool.shape
        size = (shape.layers, 2, shape.kv_heads, slots * shape.tokens, shape.head_dim)
        return self._memory[: math.prod(size)].view(size)

    def _resize(self, slots: int) -> None:
        """Another layout: nothing is where it was."""
        if slots != self.bucket:
            self.forget()
            self.bucket, self._cells = slots, self._laid_out(slots)

    def _clear_behind(self, count: int) -> None:
        """Zeros the slots of a longer sequence: a bucket is read whole, masked or not."""
        for slot in range(count, self.bucket):
            if self._stamps[slot] != -1:
                first = slot * self.block
                self._cells[..., first : first + self.block, :].zero_()
                self._stamps[slot] = -1

    def _copy_in(self, slot: int, entry: Entry) -> None:
        data = self._pool.contents(entry.block)  # (L, 2, K, P, D)
        first = slot * self.block
        self._cells[..., first : first + self.block, :].copy_(data)
        if self.tiles and entry.rows.any():  # else when they are written
            self._turn(slot)
        self._stamps[slot] = entry.block.stamp

    def _turned_at(self, slot: int) -> tuple[Tensor, Tensor]:
        """One slot's keys among the tiles, and its values: (L, K, D) each."""
        tile, column = divmod(slot, self.tile)
        return self._turned[:, :, tile, :, column], self._cells[:, 1, :, slot]

    def _turn(self, slot: int) -> None:
        """Writes the keys of a whole block to the tiles."""
        first = slot * self.block
        keys = self._cells[:, 0, :, first : first + self.block]  # (L, K, P, D)
        tile, column = divmod(first, self.tile)
        run = slice(column, column + self.block)
        self._turned[:, :, tile, :, run].copy_(keys.transpose(-1, -2))

    def _place(self, cells: Cells) -> None:
        positions = np.full(len(self.positions), ABSENT, np.int64)
        for slot, entry in enumerate(cells.entries):
            own = positions[slot * self.block : (slot + 1) * self.block]
            own[entry.rows] = np.flatnonzero(entry.rows) + entry.index * self.block
        self.positions.copy_(torch.from_numpy(positions))
        self._revision = cells.revision
