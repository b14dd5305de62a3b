"""Keys and values in 8 bits: keys by channel, values by token.

Keys have a few channels that are large for every token, values have none; so a key channel of a
block shares one scale, and a value row has its own (KIVI, arXiv:2402.02750). Scales are powers of
two. Thus every stored number is exact in bf16, fp16 and fp32: what attention reads doesn't depend
on the type it computes in, and packing an unpacked block again changes nothing.

It knows one block. Which blocks are packed, and when, is decided in `kv_blocks`.
Shapes: L layers, K key heads, P tokens of a block, D head size.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

_LARGEST = 127
_EXPONENTS = (-24, 10)


@dataclass(frozen=True, slots=True)
class PackedBlock:
    """A block in one run of bytes, so that it moves in one copy; the rest are views of it."""

    storage: Tensor  # uint8
    numbers: Tensor  # int8 (L, 2, K, P, D)
    key_exponents: Tensor  # int8 (L, K, D)
    value_exponents: Tensor  # int8 (L, K, P)


def packed_nbytes(layers: int, kv_heads: int, tokens: int, head_dim: int) -> int:
    """Bytes of a packed run of tokens."""
    return layers * kv_heads * (2 * tokens * head_dim + head_dim + tokens)


def empty_packed(shape: tuple[int, ...], device: torch.device) -> PackedBlock:
    """A packed block for keys and values of `shape` (L, 2, K, P, D), contents undefined."""
    layers, _, kv_heads, tokens, head_dim = shape
    size = packed_nbytes(layers, kv_heads, tokens, head_dim)
    return view_packed(torch.empty(size, dtype=torch.uint8, device=device), shape)


def view_packed(storage: Tensor, shape: tuple[int, ...]) -> PackedBlock:
    """The parts of a run of bytes that holds a packed block."""
    layers, _, kv_heads, tokens, head_dim = shape
    signed = storage.view(torch.int8)
    first = 2 * layers * kv_heads * tokens * head_dim
    second = first + layers * kv_heads * head_dim
    return PackedBlock(
        storage=storage,
        numbers=signed[:first].view(shape),
        key_exponents=signed[first:second].view(layers, kv_heads, head_dim),
        value_exponents=signed[second:].view(layers, kv_heads, tokens),
    )


def pack(block: Tensor, rows: Tensor) -> PackedBlock:
    """Quantises keys and values (L, 2, K, P, D); `rows` (P,) says which tokens are there."""
    numbers = block.float() * rows[:, None]  # absent rows become 0
    packed = empty_packed(tuple(block.shape), block.device)
    packed.key_exponents.copy_(_exponents(numbers[:, 0].abs().amax(-2)))  # (L, K, D)
    packed.value_exponents.copy_(_exponents(numbers[:, 1].abs().amax(-1)))  # (L, K, P)
    _write(packed, numbers)
    return packed


def pack_with(block: Tensor, key_exponents: Tensor) -> PackedBlock:
    """Quantises like `pack`, with the key scales (L, K, D) of an earlier packing."""
    numbers = block.float()
    packed = empty_packed(tuple(block.shape), block.device)
    packed.key_exponents.copy_(key_exponents)
    packed.value_exponents.copy_(_exponents(numbers[:, 1].abs().amax(-1)))
    _write(packed, numbers)
    return packed


def fits(block: Tensor, rows: Tensor, key_exponents: Tensor) -> bool:
    """Whether the keys of `rows` (P,) are within the range of these scales (L, K, D)."""
    largest = (block[:, 0].float() * rows[:, None]).abs().amax(-2)  # (L, K, D)
    return bool((_exponents(largest) <= key_exponents).all())


def unpack(packed: PackedBlock, dtype: torch.dtype) -> Tensor:
    """Keys and values (L, 2, K, P, D) as attention reads them; exact in every type."""
    numbers = packed.numbers.float()
    numbers[:, 0] *= _scale(packed.key_exponents)[..., None, :]
    numbers[:, 1] *= _scale(packed.value_exponents)[..., None]
    return numbers.to(dtype)


def _write(packed: PackedBlock, numbers: Tensor) -> None:
    keys = numbers[:, 0] / _scale(packed.key_exponents)[..., None, :]
    values = numbers[:, 1] / _scale(packed.value_exponents)[..., None]
    packed.numbers[:, 0] = keys.round().clamp(-_LARGEST, _LARGEST).to(torch.int8)
    packed.numbers[:, 1] = values.round().clamp(-_LARGEST, _LARGEST).to(torch.int8)


def _exponents(largest: Tensor) -> Tensor:
    """The smallest e with largest ≤ 127 · 2^e."""
    mantissa, exponent = torch.frexp(largest / _LARGEST)
    exponent = exponent - (mantissa == 0.5).to(exponent.dtype)
    exponent = exponent.masked_fill(largest == 0, _EXPONENTS[0])
    return exponent.clamp(*_EXPONENTS).to(torch.int8)


def _scale(exponents: Tensor) -> Tensor:
    """2^e in fp32, exactly: the exponent bits themselves."""
    return ((exponents.to(torch.int32) + 127) << 23).view(torch.float32)
