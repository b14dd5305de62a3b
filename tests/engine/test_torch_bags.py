"""One token's attention as sums of rows, against its plain twin."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import torch_linear
from engine.torch_backend import TorchBackend
from engine.torch_bags import BagAttention
from engine.torch_linear import Products, TransposedProduct, parts_for, strips_for
from engine.torch_rows import RowSums
from tests.engine.torch_backends import backend_of, decoded, read
from tests.engine.torch_models import random_tokens, small_decoder

BLOCK = 16
LOCAL = {"sliding_window": 24, "local_layers": (True, False)}


def plain(backend: TorchBackend) -> TorchBackend:
    """The same backend, decoding with the general kernel."""
    backend._bags = None
    return backend


@pytest.mark.parametrize("changes", [{}, LOCAL], ids=["global", "sliding"])
@given(
    length=st.integers(1, 300),
    trim=st.one_of(st.none(), st.tuples(st.integers(0, 290), st.integers(1, 90))),
)
@settings(max_examples=25, deadline=None, derandomize=True)
def test_sums_of_rows_give_the_same_logits(
    changes: dict[str, Any], length: int, trim: tuple[int, int] | None
) -> None:
    decoder = small_decoder(dtype=torch.bfloat16, **changes)
    backends = [backend_of(decoder, block=BLOCK), plain(backend_of(decoder, block=BLOCK))]
    assert backends[0]._bags is not None
    found = [decoded(backend, random_tokens(length), trim) for backend in backends]
    left, right = (torch.from_numpy(one).double().log_softmax(-1) for one in found)
    assert ((left.exp() * (left - right)).sum(-1)).max() <= 2e-3  # both are in 16 bits


@pytest.mark.parametrize("kept", [torch.bfloat16, torch.float16, torch.float32])
def test_a_decoded_token_is_kept_as_it_is_read(kept: torch.dtype) -> None:
    """Keys are in two places at work; what is saved gives both again."""
    backend = backend_of(small_decoder(dtype=torch.bfloat16), block=BLOCK, dtype=kept)
    sequence = backend.new_sequence()
    read(backend, sequence, random_tokens(10))
    for at in range(10, 200):
        backend.forward(sequence, random_tokens(1, at), at)
    state, other = backend.save(sequence, 0, 200), backend.new_sequence()
    backend.load(other, state)
    for at in range(200, 215):
        left, right = (backend.forward(own, [at], at) for own in (sequence, other))
        assert np.array_equal(left, right)
    left, right = (backend.forward(own, [1, 2, 3], 215) for own in (sequence, other))
    assert np.array_equal(left, right)


def test_one_token_as_a_block_is_seen_by_the_next() -> None:
    """A block of one row writes keys in another place than a decoded token does."""
    decoder = small_decoder(dtype=torch.bfloat16)
    backend = backend_of(decoder, block=BLOCK)
    one, other = backend.new_sequence(), backend.new_sequence()
    for at in range(20):
        backend.forward(one, [at + 7], at, every=True)
    read(backend, other, list(range(7, 27)))
    left, right = (backend.forward(own, [3], 20) for own in (one, other))
    assert np.array_equal(left, right)


def test_which_way_is_taken() -> None:
    wide = backend_of(small_decoder(dtype=torch.bfloat16))
    assert wide._bags is not None
    assert backend_of(small_decoder())._bags is None
    sequence = wide.new_sequence()
    wide.forward(sequence, [1, 2], 0)
    cells = wide._sequences[sequence]
    cells.prepare(0)
    assert isinstance(wide._token_attention(cells, 2), BagAttention)


@pytest.mark.parametrize(("strips", "parts"), [(1, 1), (1, 3), (2, 1), (2, 3), (3, 2)])
@pytest.mark.parametrize("bias", [False, True])
def test_a_transposed_product_is_a_product(strips: int, parts: int, bias: bool) -> None:
    weight, states = torch.randn(48, 40).bfloat16(), torch.randn(5, 40).bfloat16()
    offset = torch.randn(48).bfloat16() if bias else None
    memory = torch.empty(strips, 40, 48 // strips, dtype=torch.bfloat16)
    sums, scratch = RowSums(40, strips, parts, memory.dtype), torch.empty(700)  # for 16 columns
    product = TransposedProduct(memory, offset, sums, scratch)
    product.write(0, weight[:30])
    product.write(30, weight[30:])
    assert product.shape == (48, 40)
    expected = states.float() @ weight.float().t() + (offset.float() if bias else 0)
    assert torch.allclose(product(states.float()), expected, atol=1e-4)
    assert (product(states).float() - expected).abs().max() < 0.25
    one = product(states[:1])
    assert (one.float() - expected[:1]).abs().max() < 0.25
    assert torch.equal(product(states[:1].float()), one)  # a row's type makes no difference
    rows = product.rows(torch.tensor([0, 47, 16]))
    assert torch.equal(rows, weight[[0, 47, 16]])
    assert rows.is_contiguous()  # a column a row would slow down whatever comes after


def test_a_scratch_grows_with_the_longest_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_linear, "cpu_has", lambda feature: False)
    products = Products(torch.bfloat16, torch.device("cpu"), 80000 * 32)
    product = products.empty(32, 80000)
    product.write(0, torch.ones(32, 80000))
    assert torch.equal(product(torch.ones(2, 80000)), torch.full((2, 32), 80000.0))


def test_parts_keep_all_threads_busy_and_are_aligned() -> None:
    assert parts_for(288, 2, 2) == 1  # a strip a thread
    assert parts_for(1536, 2, 2) == 4  # what is summed at a time is 384 columns at least
    assert parts_for(960, 1, 2) == 4  # 240 columns each; three would be two turns for two threads
    assert parts_for(480, 2, 16) == 6  # 12 parts at once; 16 wouldn't be aligned, 20 need two turns
    assert parts_for(288, 2, 3) == 3  # six parts for three threads
    assert parts_for(7, 1, 2) == 1  # seven sums of one column would take longer
    assert parts_for(11, 1, 2) == 1


def test_strips_are_two_or_as_narrow_as_a_run() -> None:
    assert strips_for(960, narrow=False) == 2
    assert strips_for(48, narrow=False) == 1  # halves wouldn't be aligned
    assert strips_for(49152, narrow=True) == 128  # of 384 columns
    assert strips_for(151936, narrow=True) == 1187  # of 128
    assert strips_for(50257, narrow=True) == 1
    products = Products(torch.bfloat16, torch.device("cpu"), 1024 * 32)
    head = products.empty(1024, 32, narrow=True)
    weight, state = torch.randn(1024, 32).bfloat16(), torch.randn(1, 32).bfloat16()
    head.write(0, weight)
    assert head.shape == (1024, 32)
    assert torch.allclose(head(state).float(), state.float() @ weight.float().t(), atol=0.25)
