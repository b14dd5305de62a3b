"""Matrix products as the device does them best.

A processor's 16-bit matrix units are made for many rows. For one row oneDNN's product reads a
bf16 matrix at half the speed of memory; torch's embedding bag, which is a sum of table rows by
weight, is the same sum and reads at full speed. So on such a processor the matrices are kept
transposed, input by output: a decoded token is a weighted sum of rows, and a block of tokens is
multiplied in fp32, tile by tile, which is faster than in bf16 (and rounds less) wherever there is
no AMX. Elsewhere a product is `F.linear`.
"""

from __future__ import annotations

from typing import Protocol

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

_SCRATCH_NUMBERS = 1 << 20  # 4 MB: what is widened stays in the cache
_ALIGNED = 16


class Product(Protocol):
    """x ↦ x Wᵀ + b."""

    def __call__(self, states: Tensor) -> Tensor:
        """From (T, in) to (T, out), in the type of the states."""

    def rows(self, indices: Tensor) -> Tensor:
        """Rows of W, (T, in)."""


class PlainProduct:
    """The matrix (out, in) as it is."""

    def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
        self._weight, self._bias = weight, bias

    def __call__(self, states: Tensor) -> Tensor:
        """From (T, in) to (T, out)."""
        return F.linear(states, self._weight, self._bias)

    def rows(self, indices: Tensor) -> Tensor:
        """Rows of the matrix, (T, in)."""
        return F.embedding(indices, self._weight)


class TransposedProduct:
    """The matrix as C tiles (C, in, out / C), one for each thread at least."""

    def __init__(self, weight: Tensor, bias: Tensor | None, scratch: Tensor) -> None:
        self._out, self._inner = weight.shape
        count = tiles_for(self._out, torch.get_num_threads())
        tiles = weight.view(count, self._out // count, self._inner).transpose(1, 2)
        self._tiles, self._bias, self._scratch = tiles.contiguous(), bias, scratch
        self._rows = torch.arange(count * self._inner)
        self._starts = torch.arange(0, count * self._inner, self._inner)

    def __call__(self, states: Tensor) -> Tensor:
        """From (T, in) to (T, out): one row in bf16, or any number in fp32."""
        result = self._many(states) if states.dtype == torch.float32 else self._one(states)
        return result if self._bias is None else result + self._bias

    def rows(self, indices: Tensor) -> Tensor:
        """Rows of the matrix, (T, in), which are columns of the tiles."""
        width = self._tiles.shape[2]
        return self._tiles[indices // width, :, indices % width]

    def _one(self, states: Tensor) -> Tensor:
        count, inner, width = self._tiles.shape
        weights = states[0] if count == 1 else states.expand(count, inner).reshape(-1)
        table = self._tiles.view(count * inner, width)
        mixed = F.embedding_bag(  # (C, out / C)
            self._rows, table, self._starts, mode="sum", per_sample_weights=weights
        )
        return mixed.view(1, self._out)

    def _many(self, states: Tensor) -> Tensor:
        """A slice of columns at a time, widened into the scratch memory."""
        result = states.new_empty(states.shape[0], self._out)
        width = self._tiles.shape[2]
        step = max(_ALIGNED, self._scratch.numel() // self._inner // _ALIGNED * _ALIGNED)
        for number, tile in enumerate(self._tiles):
            for start in range(0, width, step):
                stop = min(width, start + step)
                wide = self._scratch[: self._inner * (stop - start)].view(self._inner, -1)
                wide.copy_(tile[:, start:stop])
                first = number * width + start
                torch.mm(states, wide, out=result[:, first : first + stop - start])
        return result


class Products:
    """Makes the products of one decoder in the form that suits its device and type.

    Attributes:
        widens: blocks of tokens are computed in fp32 although the matrices are bf16.
    """

    def __init__(self, dtype: torch.dtype, device: torch.device) -> None:
        self.widens = dtype == torch.bfloat16 and device.type == "cpu" and not _has_amx()
        self._scratch = torch.empty(_SCRATCH_NUMBERS if self.widens else 0)

    def of(self, weight: Tensor, bias: Tensor | None = None) -> Product:
        """The product with a matrix (out, in), which isn't kept if another form is."""
        if not self.widens:
            return PlainProduct(weight, bias)
        if self._scratch.numel() < _ALIGNED * weight.shape[1]:
            self._scratch = torch.empty(_ALIGNED * weight.shape[1])
        return TransposedProduct(weight, bias, self._scratch)


def tiles_for(out: int, threads: int) -> int:
    """How many equal tiles: threads or a few more, of an aligned width if possible."""
    divisors = [count for count in range(threads, 4 * threads + 1) if out % count == 0]
    aligned = [count for count in divisors if out // count % _ALIGNED == 0]
    return next(iter(aligned or divisors), 1)


def _has_amx() -> bool:
    return bool(torch.cpu.get_capabilities().get("amx_bf16"))
