"""Decoding with fixed shapes against its plain twin."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import torch_static
from engine.torch_workspace import bucket_of
from tests.engine.torch_backends import backend_of, decoded, read
from tests.engine.torch_models import random_tokens, small_decoder

BLOCK = 16
LOCAL = {"sliding_window": 24, "local_layers": (True, False)}


@pytest.mark.parametrize("changes", [{}, LOCAL], ids=["global", "sliding"])
@given(
    length=st.integers(1, 150),
    trim=st.one_of(st.none(), st.tuples(st.integers(0, 140), st.integers(1, 50))),
)
@settings(max_examples=25, deadline=None, derandomize=True)
def test_fixed_shapes_give_the_same_logits(
    changes: dict[str, Any], length: int, trim: tuple[int, int] | None
) -> None:
    decoder = small_decoder(**changes)
    backends = [backend_of(decoder, block=BLOCK, static=static) for static in (False, True)]
    found = [decoded(backend, random_tokens(length), trim) for backend in backends]
    assert np.abs(found[0] - found[1]).max() <= 1e-4


def test_a_long_bucket_is_summed_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    decoder, tokens = small_decoder(), random_tokens(300)
    results = []
    for part in (1 << 20, 2 * BLOCK):
        monkeypatch.setattr(torch_static, "_PART", part)
        backend = backend_of(decoder, block=BLOCK, static=True)
        sequence = backend.new_sequence()
        read(backend, sequence, tokens)
        results.append(backend.forward(sequence, [1], 300))
    assert np.abs(results[0] - results[1]).max() <= 1e-4


def test_restored_and_interleaved_are_exact_with_fixed_shapes() -> None:
    decoder = small_decoder(dtype=torch.bfloat16)
    backend = backend_of(decoder, block=BLOCK, static=True)
    one, two = backend.new_sequence(), backend.new_sequence()
    read(backend, one, random_tokens(100))
    read(backend, two, random_tokens(30, 1))
    state, copy = backend.save(one, 0, 100), backend.new_sequence()
    backend.load(copy, state)
    for at in range(100, 140):
        backend.forward(two, [at], at - 70)
        left, right = (backend.forward(sequence, [at], at) for sequence in (one, copy))
        assert np.array_equal(left, right)


def test_buckets_waste_a_quarter_at_most() -> None:
    sizes = {bucket_of(blocks, 1 << 20) for blocks in range(1, 600)}
    assert sorted(sizes)[:10] == [4, 5, 6, 7, 8, 10, 12, 14, 16, 20]
    for blocks in range(4, 600):
        assert blocks <= bucket_of(blocks, 1 << 20) <= 1.25 * blocks
    assert bucket_of(9, 9) == 9
