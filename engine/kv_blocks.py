"""Blocks of keys and values, and the device's budget of them.

A block holds P consecutive positions of all layers in one run of memory, so it moves in one copy.
Sequences share blocks; for each row a block counts the sequences that hold it, and a cell is used
as long as one does. Which blocks make up a sequence is in `torch_cells`.
Shapes: L layers, K key heads, P tokens of a block, D head size.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.errors import OutOfCells
from engine.kv_quantize import PackedBlock, unpack, view_packed

Rows = NDArray[np.bool_]
_numbers = itertools.count()


@dataclass(frozen=True, slots=True)
class BlockShape:
    """Sizes of a block and the type it is stored in until it is packed."""

    layers: int
    kv_heads: int
    tokens: int
    head_dim: int
    dtype: torch.dtype
    packed: bool = False

    def __post_init__(self) -> None:
        if not 8 <= self.tokens <= 256 or self.tokens % 8:
            raise ValueError(f"a block holds 8 to 256 tokens in eights, not {self.tokens}")

    @property
    def dims(self) -> tuple[int, int, int, int, int]:
        """(L, 2, K, P, D)."""
        return (self.layers, 2, self.kv_heads, self.tokens, self.head_dim)

    @property
    def token_nbytes(self) -> int:
        """Bytes of one token's keys and values while its block isn't packed."""
        return 2 * self.layers * self.kv_heads * self.head_dim * self.dtype.itemsize

    @property
    def packed_token_nbytes(self) -> int:
        """The same in a packed block, its share of the block's key scales included."""
        shared = -(-self.head_dim // self.tokens)
        return self.layers * self.kv_heads * (2 * self.head_dim + 1 + shared)


@dataclass(slots=True, eq=False)
class Block:
    """One block's memory.

    Attributes:
        data: keys and values (L, 2, K, P, D), or the same in 8 bits.
        users: for each row the sequences that hold it, (P,).
        sharers: sequences that refer to the block.
        stamp: changes with the contents; equal stamps mean equal keys and values.
    """

    data: Tensor | PackedBlock
    users: NDArray[np.uint16]
    sharers: int = 1
    stamp: int = field(default_factory=lambda: next(_numbers))

    @property
    def is_packed(self) -> bool:
        """Whether the block is in 8 bits."""
        return isinstance(self.data, PackedBlock)

    def touch(self) -> None:
        """Marks the contents as changed."""
        self.stamp = next(_numbers)


class BlockPool:
    """How many cells may be used, and the memory of blocks that were given back.

    Memory is taken block by block as it is needed: an idle machine is not charged for the budget.
    Cells are counted, not blocks; a sequence's partly filled blocks (one, and two for each range
    removed) cost memory beyond the budget.
    """

    def __init__(self, shape: BlockShape, cells: int, device: torch.device) -> None:
        self.shape, self.cells, self.device = shape, cells, device
        self.used = 0
        self._spare: list[Tensor] = []

    @property
    def free_cells(self) -> int:
        """Tokens that still fit."""
        return max(0, self.cells - self.used)

    def need(self, count: int) -> None:
        """Raises OutOfCells unless `count` more tokens fit."""
        if count > self.free_cells:
            raise OutOfCells(f"{count} cells are needed, {self.free_cells} are free.")

    def new(self) -> Block:
        """A block of zeros: nothing of another sequence is ever left in it."""
        memory = self._spare.pop() if self._spare else self._allocate()
        return self.adopt(memory.zero_())

    def adopt(self, data: Tensor | PackedBlock) -> Block:
        """A block around memory that is filled already."""
        return Block(data, np.zeros(self.shape.tokens, np.uint16))

    def copy(self, block: Block) -> Block:
        """A block of one's own with the same contents, not packed."""
        own = self.new()
        assert isinstance(own.data, Tensor)
        own.data.copy_(self.contents(block))
        return own

    def contents(self, block: Block) -> Tensor:
        """Keys and values (L, 2, K, P, D) as attention reads them."""
        if isinstance(block.data, PackedBlock):
            return unpack(block.data, self.shape.dtype)
        return block.data

    def hold(self, block: Block, rows: Rows) -> None:
        """One more sequence holds these rows."""
        self.used += int(np.count_nonzero(rows & (block.users == 0)))
        block.users += rows

    def let_go(self, block: Block, rows: Rows) -> None:
        """One sequence fewer holds these rows."""
        block.users -= rows
        self.used -= int(np.count_nonzero(rows & (block.users == 0)))

    def leave(self, block: Block, rows: Rows) -> None:
        """One sequence fewer refers to the block; the last one leaves its memory for the next."""
        self.let_go(block, rows)
        block.sharers -= 1
        if block.sharers == 0 and isinstance(block.data, Tensor):
            self._spare.append(block.data)

    def to_host(self, block: Block) -> Tensor | PackedBlock:
        """A copy of the block's memory on the CPU, in one go; see `synchronize`."""
        if isinstance(block.data, PackedBlock):
            return view_packed(self._host_copy(block.data.storage), self.shape.dims)
        return self._host_copy(block.data)

    def from_host(self, data: Tensor | PackedBlock) -> Block:
        """A block from memory on the CPU, which on the CPU becomes the block's own."""
        if isinstance(data, PackedBlock):
            storage = data.storage.to(self.device, non_blocking=True)
            return self.adopt(view_packed(storage, self.shape.dims))
        return self.adopt(data.to(self.device, non_blocking=True))

    def synchronize(self) -> None:
        """Waits for copies under way."""
        if self.device.type == "cuda":  # pragma: no cover - needs a GPU
            torch.cuda.synchronize(self.device)

    def _host_copy(self, memory: Tensor) -> Tensor:
        pinned = self.device.type == "cuda"
        host = torch.empty(memory.shape, dtype=memory.dtype, pin_memory=pinned)
        return host.copy_(memory, non_blocking=pinned)

    def trim(self) -> None:
        """Gives spare memory back to the device."""
        self._spare.clear()

    def _allocate(self) -> Tensor:
        try:
            return torch.empty(self.shape.dims, dtype=self.shape.dtype, device=self.device)
        except torch.OutOfMemoryError as error:
            raise OutOfCells("The device has no memory for more tokens.") from error
