"""Products of several blocks at once, and their bits."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from engine.torch_linear import PlainProduct
from engine.torch_steady import SteadyProducts


class Watched(PlainProduct):
    """A product whose last bits may depend on the number of rows, as a library's do."""

    def __init__(self, unsteady: bool) -> None:
        super().__init__(torch.eye(4))
        self._unsteady, self.rows = unsteady, list[int]()

    def __call__(self, states: Tensor) -> Tensor:
        self.rows.append(len(states))
        shift = 1e-7 * len(states) if self._unsteady else 0.0
        return super().__call__(states) * (1 + shift)


@pytest.mark.parametrize("unsteady", [False, True])
def test_rows_have_the_bits_of_their_block(unsteady: bool) -> None:
    product, steady = Watched(unsteady), SteadyProducts()
    states = torch.rand(40, 4) + 1
    expected = torch.cat([product(states[:16]), product(states[16:32]), product(states[32:])])
    for _ in range(3):
        assert torch.equal(steady(product, states, 16), expected)
    first, later = [16, 16, 8, 40], [16, 16, 8] if unsteady else [40]
    assert product.rows[3:] == [*first, *later, *later]  # tried once, then known
    product.rows.clear()
    steady(product, states[:32], 16)
    assert product.rows == [16, 16, 32]  # another number of rows is another shape


def test_one_block_is_computed_as_it_is() -> None:
    product, steady = Watched(unsteady=True), SteadyProducts()
    steady(product, torch.rand(16, 4), 16)
    steady(product, torch.rand(40, 4), 0)
    assert product.rows == [16, 40]
