"""Keys and values in 8 bits."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from engine.kv_quantize import fits, pack, pack_with, packed_nbytes, unpack, view_packed

SHAPE = (3, 2, 2, 16, 8)  # L, 2, K, P, D


def block(seed: int = 0) -> Tensor:
    """Random keys and values; one key channel is large for every token, as in real models."""
    values = torch.randn(SHAPE, generator=torch.Generator().manual_seed(seed))
    values[:, 0, :, :, 3] *= 50
    return values


def everything() -> Tensor:
    return torch.ones(SHAPE[3], dtype=torch.bool)


def test_error_is_within_half_a_step() -> None:
    whole = block()
    error = (unpack(pack(whole, everything()), torch.float32) - whole).abs()
    channel = whole[:, 0].abs().amax(-2, keepdim=True) / 127  # at most twice this is a step
    token = whole[:, 1].abs().amax(-1, keepdim=True) / 127
    assert (error[:, 0] <= channel + 1e-7).all()
    assert (error[:, 1] <= token + 1e-7).all()
    assert error.max() > 0


def test_a_large_channel_doesnt_hurt_the_others() -> None:
    whole = block()
    error = (unpack(pack(whole, everything()), torch.float32) - whole).abs()
    assert error[:, 0, :, :, 3].max() > 10 * error[:, 0, :, :, 4].max()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
def test_what_is_read_is_exact_in_every_type(dtype: torch.dtype) -> None:
    packed = pack(block(), everything())
    assert torch.equal(unpack(packed, dtype).float(), unpack(packed, torch.float32))


def test_packing_again_changes_nothing() -> None:
    packed = pack(block(), everything())
    again = pack(unpack(packed, torch.bfloat16), everything())
    assert torch.equal(again.storage, packed.storage)


def test_absent_rows_dont_matter() -> None:
    rows = everything()
    rows[5:] = False
    one, other = block(), block()
    other[:, :, :, 5:] = 1e4
    left, right = unpack(pack(one, rows), torch.float32), unpack(pack(other, rows), torch.float32)
    assert torch.equal(left, right)
    assert not left[:, :, :, 5:].any()


def test_zeros_stay_zeros() -> None:
    packed = pack(torch.zeros(SHAPE), everything())
    assert not unpack(packed, torch.float32).any()


def test_a_block_is_one_run_of_bytes() -> None:
    packed = pack(block(), everything())
    assert packed.storage.nbytes == packed_nbytes(3, 2, 16, 8)
    moved = view_packed(packed.storage.clone(), SHAPE)
    assert torch.equal(unpack(moved, torch.float32), unpack(packed, torch.float32))
    plain = 2 * 3 * 2 * 16 * 8 * 2  # the same in 16 bits
    assert packed_nbytes(3, 2, 16, 8) < 0.6 * plain


def test_the_scales_of_an_earlier_packing_give_the_same_numbers() -> None:
    whole = block()
    packed = pack(whole, everything())
    assert torch.equal(pack_with(whole, packed.key_exponents).storage, packed.storage)


def test_fits_says_whether_keys_are_in_range() -> None:
    whole = block()
    exponents = pack(whole, everything()).key_exponents
    assert fits(whole, everything(), exponents)
    assert not fits(whole * 4, everything(), exponents)
    nothing = torch.zeros(SHAPE[3], dtype=torch.bool)
    assert fits(whole * 4, nothing, exponents)
