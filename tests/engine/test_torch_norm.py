"""The two ways to the same norm."""

from __future__ import annotations

import pytest
import torch

from engine.torch_norm import RootMeanSquare


@pytest.mark.parametrize("width", [1, 64, 576])
@pytest.mark.parametrize("scale", [0.0, 1e-4, 1.0, 1e4])
def test_one_row_is_a_row_of_many(width: int, scale: float) -> None:
    norm = RootMeanSquare(1e-5)
    generator = torch.Generator().manual_seed(width)
    states = torch.randn(3, width, generator=generator) * scale
    weight = torch.rand(width, generator=generator)
    many = norm(states, weight)
    exact = states.double()
    exact = exact * weight / (exact.square().mean(-1, keepdim=True) + 1e-5).sqrt()
    assert torch.allclose(many.double(), exact, rtol=1e-5, atol=1e-6)
    for at in range(3):
        one = norm(states[at : at + 1], weight)
        assert one.shape == (1, width)
        assert torch.allclose(one[0], many[at], rtol=1e-6, atol=1e-7)
