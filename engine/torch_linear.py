"""Matrix products as the device does them best.

A processor's 16-bit matrix units are made for many rows. For one row oneDNN's product reads a
bf16 matrix at half the speed of memory; torch's embedding bag, which is a sum of table rows by
weight, is the same sum and reads at full speed. So on a processor 16-bit matrices are kept
transposed, input by output: a decoded token is a weighted sum of rows. A block of tokens is
multiplied as it is where there is AMX; elsewhere in fp32, slice by slice, which is faster there
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
from engine.torch_rows import weighted_rows

_SCRATCH_NUMBERS = 1 << 20  # 4 MB: what is widened stays in the cache
_ALIGNED = 16
_WIDE = 128  # columns; shorter rows are read slower
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
    """The matrix as (in, out).

    Args:
        matrix: (in, out). bias: (out,).
        parts: how many sums run side by side for one row, each of out / parts columns.
        scratch: memory in which blocks of tokens are widened to fp32; empty if they aren't.
    """

    def __init__(self, matrix: Tensor, bias: Tensor | None, parts: int, scratch: Tensor) -> None:
        self._matrix, self._bias, self._scratch = matrix, bias, scratch
        inner, out = matrix.shape
        self._table = matrix.view(inner * parts, out // parts)
        rows = torch.arange(inner * parts, dtype=torch.int32).view(inner, parts)
        self._rows = rows.t().reshape(-1)
        self._starts = torch.arange(0, inner * parts, inner, dtype=torch.int32)

    @property
    def shape(self) -> tuple[int, int]:
        """(out, in)."""
        return self._matrix.shape[1], self._matrix.shape[0]

    def write(self, start: int, values: Tensor) -> None:
        """Fills rows of W from `start` on, which are columns here."""
        self._matrix[:, start : start + len(values)].copy_(values.t())

    def rows(self, indices: Tensor) -> Tensor:
        """Rows of W, (T, in)."""
        columns = self._matrix.gather(1, indices.expand(len(self._matrix), -1))
        return columns.t().contiguous()

    def __call__(self, states: Tensor) -> Tensor:
        """From (T, in) to (T, out): in the matrix's type, or widened in fp32."""
        if states.dtype != self._matrix.dtype:
            result = self._widened(states)
        elif len(states) == 1:
            result = self._one(states)
        else:
            result = torch.mm(states, self._matrix)
        return result if self._bias is None else result + self._bias

    def _one(self, states: Tensor) -> Tensor:
        weights = torch.cat([states] * len(self._starts), 1)[0]
        return weighted_rows(self._table, self._rows, self._starts, weights).view(1, -1)

    def _widened(self, states: Tensor) -> Tensor:
        """A slice of columns at a time, in fp32 in the scratch memory."""
        inner, out = self._matrix.shape
        result = states.new_empty(states.shape[0], out)
        step = max(_ALIGNED, self._scratch.numel() // inner // _ALIGNED * _ALIGNED)
        for start in range(0, out, step):
            columns = slice(start, min(out, start + step))
            wide = self._scratch[: inner * (columns.stop - start)].view(inner, -1)
            wide.copy_(self._matrix[:, columns])
            torch.mm(states, wide, out=result[:, columns])
        return result


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
        self._memory = large_memory(numbers if self.transposed else 0, dtype)

    def empty(self, out: int, inner: int, bias: Tensor | None = None) -> Product:
        """The product with a matrix (out, in) that is still to be filled."""
        if not self.transposed:
            return self.plain(out, inner, bias)
        if self.widens and self._scratch.numel() < _ALIGNED * inner:
            self._scratch = torch.empty(_ALIGNED * inner)
        memory, self._memory = self._memory[: out * inner], self._memory[out * inner :]
        parts = parts_for(out, torch.get_num_threads())
        return TransposedProduct(memory.view(inner, out), bias, parts, self._scratch)

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


def parts_for(out: int, threads: int) -> int:
    """Into how many equal parts columns are cut: one to four a thread, aligned if possible."""
    counts = [count for count in range(threads, 4 * threads + 1) if out % count == 0]
    aligned = [count for count in counts if out // count % _ALIGNED == 0]
    wide = [count for count in aligned if out // count >= _WIDE]
    return next(iter([*wide[::-1], *aligned, *counts]), 1)
