"""Matrix products as the device does them best.

A processor's 16-bit matrix units are made for many rows. For one row oneDNN's product reads a
bf16 matrix at half the speed of memory; torch's embedding bag, which is a sum of table rows by
weight, is the same sum and reads at full speed. So on a processor 16-bit matrices are kept
transposed, input by output, in strips: a decoded token is a weighted sum of rows. A block of tokens
is multiplied as it is where there is AMX; elsewhere in fp32, slice by slice, which is faster there
than in bf16 (and rounds less). On other devices, and in fp32, a product is `F.linear`.
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
from engine.torch_rows import RowSums

_SCRATCH_NUMBERS = 1 << 20  # 4 MB: what is widened stays in the cache
_ALIGNED = 16
_RUN = 448  # columns of a row that are summed at a time
_RUN_START = 32  # to begin a run takes as long as so many columns
_QUICK = 5 * 10**8  # numbers of a model that reads 512 tokens in about a second


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
    """The matrix input by output, in strips of columns that lie each by itself.

    Threads that sum rows of different strips read different pages: from rows that they share, a
    part of each row, they read an eighth slower. Narrow strips are read in one run each: a third
    faster than wide rows whose parts are read one after the other.

    Args:
        strips: (C, in, out / C). bias: (out,).
        sums: of rows of such strips.
        scratch: memory in which blocks of tokens are widened to fp32; empty if they aren't.
    """

    def __init__(self, strips: Tensor, bias: Tensor | None, sums: RowSums, scratch: Tensor) -> None:
        self._strips, self._bias, self._scratch = strips, bias, scratch
        self._sums, self._table = sums, sums.table(strips)

    @property
    def shape(self) -> tuple[int, int]:
        """(out, in)."""
        count, inner, width = self._strips.shape
        return count * width, inner

    def write(self, start: int, values: Tensor) -> None:
        """Fills rows of W from `start` on, which are columns here."""
        width, stop = self._strips.shape[2], start + len(values)
        for number, strip in enumerate(self._strips):
            first, last = max(start, number * width), min(stop, (number + 1) * width)
            if first < last:
                columns = slice(first - number * width, last - number * width)
                strip[:, columns].copy_(values[first - start : last - start].t())

    def rows(self, indices: Tensor) -> Tensor:
        """Rows of W, (T, in)."""
        width = self._strips.shape[2]
        return self._strips[indices // width, :, indices % width].contiguous()

    def __call__(self, states: Tensor) -> Tensor:
        """From (T, in) to (T, out): in the matrix's type, or widened in fp32.

        One row is rounded to the matrix's type, whatever its own.
        """
        result = self._sums(self._table, states) if len(states) == 1 else self._many(states)
        return result if self._bias is None else result + self._bias

    def _many(self, states: Tensor) -> Tensor:
        """All strips' products, each in its columns."""
        count, _, width = self._strips.shape
        result = states.new_empty(len(states), count * width)
        columns = result.view(-1, count, width).transpose(0, 1)  # (C, T, out / C)
        if states.dtype == self._strips.dtype:
            torch.bmm(states.expand(count, -1, -1), self._strips, out=columns)
        else:
            for strip, own in zip(self._strips, columns, strict=True):
                self._widened(states, strip, own)
        return result

    def _widened(self, states: Tensor, strip: Tensor, result: Tensor) -> None:
        """A few columns at a time, in fp32 in the scratch memory."""
        inner, width = strip.shape
        step = max(_ALIGNED, self._scratch.numel() // inner // _ALIGNED * _ALIGNED)
        for start in range(0, width, step):
            columns = slice(start, min(width, start + step))
            wide = self._scratch[: inner * (columns.stop - start)].view(inner, -1)
            wide.copy_(strip[:, columns])
            torch.mm(states, wide, out=result[:, columns])


class Products:
    """Makes the products of one decoder in the form that suits its device and type.

    Args:
        dtype: of the matrices. device: where they are.
        numbers: of all matrices together; transposed ones share one run of memory.

    Attributes:
        transposed: matrices are kept input by output, and one row is a sum of rows.
        widens: blocks of tokens are computed in fp32 although the matrices are bf16.
        block: how many tokens at a time suit the products: AMX is near its speed from 256 on.
        together: how many blocks are worth reading at once: two, but for models so large that a
            stop would wait for them.
    """

    def __init__(self, dtype: torch.dtype, device: torch.device, numbers: int) -> None:
        self.dtype, self.device = dtype, device
        self.transposed = dtype == torch.bfloat16 and device.type == "cpu"
        self.widens = self.transposed and not cpu_has("amx_bf16")
        self.block = 256 if self.transposed and not self.widens else 64
        self.together = 2 if self.block == 256 and numbers < _QUICK else 1
        self._scratch = torch.empty(_SCRATCH_NUMBERS if self.widens else 0)
        self._shared: dict[tuple[int, int, int], RowSums] = {}
        self._memory = large_memory(numbers if self.transposed else 0, dtype)

    def empty(
        self, out: int, inner: int, bias: Tensor | None = None, *, narrow: bool = False
    ) -> Product:
        """The product with a matrix (out, in) that is still to be filled.

        With `narrow` it lies as single rows read it fastest, which is slower for blocks of them.
        """
        if not self.transposed:
            return self.plain(out, inner, bias)
        if self.widens and self._scratch.numel() < _ALIGNED * inner:
            self._scratch = torch.empty(_ALIGNED * inner)
        memory, self._memory = self._memory[: out * inner], self._memory[out * inner :]
        strips = strips_for(out, narrow=narrow)
        sums = self._sums(inner, out // strips, strips)
        return TransposedProduct(memory.view(strips, inner, -1), bias, sums, self._scratch)

    def _sums(self, inner: int, width: int, strips: int) -> RowSums:
        key = inner, strips, parts_for(width, strips, torch.get_num_threads())
        if key not in self._shared:
            self._shared[key] = RowSums(*key, self.dtype)
        return self._shared[key]

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


def strips_for(out: int, *, narrow: bool) -> int:
    """Into how many strips the columns are cut: two, or as many as are one run each."""
    if narrow:
        runs = (out // width for width in range(_RUN, 0, -_ALIGNED) if out % width == 0)
        return next(runs, 1)
    return 2 if out % (2 * _ALIGNED) == 0 else 1


def parts_for(width: int, strips: int, threads: int) -> int:
    """Into how many equal parts each strip is cut, so that the busiest thread is done first."""
    counts = [count for count in range(1, 4 * threads + 1) if width % count == 0]
    aligned = [count for count in counts if width // count % _ALIGNED == 0] or counts

    def longest(count: int) -> int:
        part = width // count
        return -(-strips * count // threads) * (part + -(-part // _RUN) * _RUN_START)

    return min(reversed(aligned), key=longest)
