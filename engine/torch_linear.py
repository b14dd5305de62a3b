"""Matrix products as the device does them best.

A processor's 16-bit matrix units are made for many rows. For one row oneDNN's product reads a
bf16 matrix at half the speed of memory; torch's embedding bag, which is a sum of table rows by
weight, is the same sum and reads at full speed. So on such a processor the matrices are kept
transposed, input by output: a decoded token is a weighted sum of rows, and a block of tokens is
multiplied in fp32, tile by tile, which is faster than in bf16 (and rounds less) wherever there is
no AMX. Elsewhere a product is `F.linear`.
"""

from __future__ import annotations

import contextlib
import mmap
import sys
from typing import Protocol

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from engine.torch_device import cpu_has
from engine.torch_rows import weighted_rows

_SCRATCH_NUMBERS = 1 << 20  # 4 MB: what is widened stays in the cache
_ALIGNED = 16


class Product(Protocol):
    """x ↦ x Wᵀ + b."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of W: (out, in)."""

    def write(self, start: int, values: Tensor) -> None:
        """Fills rows of W from `start` on."""

    def rows(self, indices: Tensor) -> Tensor:
        """Rows of W, (T, in)."""

    def __call__(self, states: Tensor) -> Tensor:
        """From (T, in) to (T, out), in the type of the states."""


class PlainProduct:
    """The matrix (out, in) as it is."""

    def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
        self._weight, self._bias = weight, bias

    @property
    def shape(self) -> tuple[int, int]:
        """(out, in)."""
        return self._weight.shape[0], self._weight.shape[1]

    def write(self, start: int, values: Tensor) -> None:
        """Fills rows from `start` on."""
        self._weight[start : start + len(values)].copy_(values)

    def rows(self, indices: Tensor) -> Tensor:
        """Rows of the matrix, (T, in)."""
        return F.embedding(indices, self._weight)

    def __call__(self, states: Tensor) -> Tensor:
        """From (T, in) to (T, out)."""
        return F.linear(states, self._weight, self._bias)


class TransposedProduct:
    """The matrix as C tiles (C, in, out / C), one for each thread at least."""

    def __init__(self, tiles: Tensor, bias: Tensor | None, scratch: Tensor) -> None:
        self._tiles, self._bias, self._scratch = tiles, bias, scratch
        count, inner, _ = tiles.shape
        self._rows = torch.arange(count * inner)
        self._starts = torch.arange(0, count * inner, inner)

    @property
    def shape(self) -> tuple[int, int]:
        """(out, in)."""
        count, inner, width = self._tiles.shape
        return count * width, inner

    def write(self, start: int, values: Tensor) -> None:
        """Fills rows from `start` on, which are columns of the tiles."""
        width = self._tiles.shape[2]
        while len(values):
            number, column = divmod(start, width)
            part = values[: width - column]
            self._tiles[number, :, column : column + len(part)].copy_(part.t())
            start, values = start + len(part), values[len(part) :]

    def rows(self, indices: Tensor) -> Tensor:
        """Rows of the matrix, (T, in)."""
        width = self._tiles.shape[2]
        return self._tiles[indices // width, :, indices % width]

    def __call__(self, states: Tensor) -> Tensor:
        """From (T, in) to (T, out): one row in bf16, or any number in fp32."""
        result = self._many(states) if states.dtype == torch.float32 else self._one(states)
        return result if self._bias is None else result + self._bias

    def _one(self, states: Tensor) -> Tensor:
        count, inner, width = self._tiles.shape
        weights = states[0] if count == 1 else states.expand(count, inner).reshape(-1)
        table = self._tiles.view(count * inner, width)
        mixed = weighted_rows(table, self._rows, self._starts, weights)  # (C, out / C)
        return mixed.view(1, count * width)

    def _many(self, states: Tensor) -> Tensor:
        """A slice of columns at a time, widened into the scratch memory."""
        count, inner, width = self._tiles.shape
        result = states.new_empty(states.shape[0], count * width)
        step = max(_ALIGNED, self._scratch.numel() // inner // _ALIGNED * _ALIGNED)
        for number, tile in enumerate(self._tiles):
            for start in range(0, width, step):
                stop = min(width, start + step)
                wide = self._scratch[: inner * (stop - start)].view(inner, -1)
                wide.copy_(tile[:, start:stop])
                first = number * width + start
                torch.mm(states, wide, out=result[:, first : first + stop - start])
        return result


class Products:
    """Makes the products of one decoder in the form that suits its device and type.

    Args:
        dtype: of the matrices. device: where they are.
        numbers: of all matrices together; transposed ones share one run of memory.

    Attributes:
        widens: blocks of tokens are computed in fp32 although the matrices are bf16.
    """

    def __init__(self, dtype: torch.dtype, device: torch.device, numbers: int) -> None:
        self.dtype, self.device = dtype, device
        self.widens = dtype == torch.bfloat16 and device.type == "cpu" and not cpu_has("amx_bf16")
        self._scratch = torch.empty(_SCRATCH_NUMBERS if self.widens else 0)
        self._memory = large_memory(numbers if self.widens else 0, dtype)

    def empty(self, out: int, inner: int, bias: Tensor | None = None) -> Product:
        """The product with a matrix (out, in) that is still to be filled."""
        if not self.widens:
            return self.plain(out, inner, bias)
        if self._scratch.numel() < _ALIGNED * inner:
            self._scratch = torch.empty(_ALIGNED * inner)
        count = tiles_for(out, torch.get_num_threads())
        memory, self._memory = self._memory[: out * inner], self._memory[out * inner :]
        return TransposedProduct(memory.view(count, inner, out // count), bias, self._scratch)

    def plain(self, out: int, inner: int, bias: Tensor | None = None) -> PlainProduct:
        """The same, by rows on any device: for a matrix whose rows are looked up."""
        weight = torch.empty(out, inner, dtype=self.dtype, device=self.device)
        return PlainProduct(weight, bias)


def large_memory(numbers: int, dtype: torch.dtype) -> Tensor:
    """Memory in large pages where the system has them: a tenth less time for a decoded token."""
    if sys.platform != "linux" or not numbers:
        return torch.empty(numbers, dtype=dtype)
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    memory = mmap.mmap(-1, numbers * dtype.itemsize, flags=flags)
    with contextlib.suppress(OSError):  # a kernel without them
        memory.madvise(mmap.MADV_HUGEPAGE)
    return torch.frombuffer(memory, dtype=dtype)


def tiles_for(out: int, threads: int) -> int:
    """How many equal tiles: threads or a few more, of an aligned width if possible."""
    divisors = [count for count in range(threads, 4 * threads + 1) if out % count == 0]
    aligned = [count for count in divisors if out // count % _ALIGNED == 0]
    return next(iter(aligned or divisors), 1)
