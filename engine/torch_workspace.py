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

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from engine.errors import OutOfCells
from engine.kv_blocks import BlockPool
from engine.torch_cells import Cells, Entry

ABSENT = 1 << 40  # a position that no query can see


class Workspace:
    """A static buffer (L, 2, K, W, D) of keys and values, and the position of each slot (W,).

    Args:
        pool: whose blocks are copied here.
        dtype: the type attention computes in.
    """

    def __init__(self, pool: BlockPool, dtype: torch.dtype) -> None:
        shape = pool.shape
        self._pool, self.block = pool, shape.tokens
        self.dtype, self.device = dtype, pool.device
        blocks = -(-pool.cells // shape.tokens)
        self.slots = blocks + max(4, blocks // 8)  # room for partly filled blocks
        size = (shape.layers, 2, shape.kv_heads, self.slots * shape.tokens, shape.head_dim)
        self._cells = torch.empty(size, dtype=dtype, device=self.device)
        self.positions = torch.full((size[3],), ABSENT, dtype=torch.int64, device=self.device)
        self._stamps = [-1] * self.slots  # what each slot holds
        self._revision = -1
        self._rounds = shape.dtype != dtype

    def attach(self, cells: Cells) -> None:
        """Makes the slots hold the sequence's blocks, in order."""
        if len(cells.entries) > self.slots:
            raise OutOfCells(f"{len(cells.entries)} blocks are more than the device's window.")
        for slot, entry in enumerate(cells.entries):
            if self._stamps[slot] != entry.block.stamp:
                self._copy_in(slot, entry)
        if self._revision != cells.revision:
            self._place(cells)

    def begin(self, cells: Cells, start: int, stop: int) -> None:
        """Makes rows start … stop of the last block visible, before they are written."""
        first = cells.entries[-1].index * self.block
        slot = (len(cells.entries) - 1) * self.block
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

    def finish(self, cells: Cells, start: int, stop: int) -> None:
        """Copies the written rows to the last block and commits them."""
        entry, slot = cells.entries[-1], len(cells.entries) - 1
        data, first = entry.block.data, slot * self.block
        assert isinstance(data, Tensor)
        data[..., start:stop, :].copy_(self._cells[..., first + start : first + stop, :])
        cells.commit(start, stop)
        self._stamps[slot] = entry.block.stamp

    def forget(self) -> None:
        """After a failure: nothing in the slots is known any more."""
        self._stamps = [-1] * self.slots
        self._revision = -1

    def _copy_in(self, slot: int, entry: Entry) -> None:
        data = self._pool.contents(entry.block)  # (L, 2, K, P, D)
        first = slot * self.block
        self._cells[..., first : first + self.block, :].copy_(data)
        self._stamps[slot] = entry.block.stamp

    def _place(self, cells: Cells) -> None:
        positions = np.full(len(self.positions), ABSENT, np.int64)
        for slot, entry in enumerate(cells.entries):
            own = positions[slot * self.block : (slot + 1) * self.block]
            own[entry.rows] = np.flatnonzero(entry.rows) + entry.index * self.block
        self.positions.copy_(torch.from_numpy(positions))
        self._revision = cells.revision
