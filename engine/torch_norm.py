"""The root-mean-square norm, as it is written and as one row on a CPU computes it fastest."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor


class RootMeanSquare:
    """x ↦ w · x / √(mean x² + ε), row by row in fp32.

    A GPU has a fused kernel. On a CPU torch computes the formula in steps, two of which copy the
    states; here many rows are read once for their lengths and once for the product. For one row
    starting a kernel takes longer than running it, and a factor may be a Python number without
    waiting for anything: it costs two, a dot product and a product of three.
    """

    def __init__(self, epsilon: float) -> None:
        self._epsilon = epsilon
        self._zeros: dict[int, Tensor] = {}

    def __call__(self, states: Tensor, weight: Tensor) -> Tensor:
        """From fp32 (T, E) and (E,) to fp32 (T, E)."""
        if states.device.type != "cpu":
            return F.rms_norm(states, weight.shape, weight, self._epsilon)
        return self.one(states, weight) if len(states) == 1 else self.many(states, weight)

    def many(self, states: Tensor, weight: Tensor) -> Tensor:
        """Any number of rows, on a CPU."""
        lengths: Tensor = torch.linalg.vector_norm(states, dim=-1, keepdim=True)  # (T, 1)
        means = lengths.square_().div_(states.shape[1])
        return (states * means.add_(self._epsilon).rsqrt_()).mul_(weight)

    def one(self, states: Tensor, weight: Tensor) -> Tensor:
        """One row, on a CPU."""
        row, width = states.view(-1), states.shape[1]
        factor = (float(torch.dot(row, row)) / width + self._epsilon) ** -0.5
        zeros = self._zeros.get(width)
        if zeros is None:
            zeros = self._zeros[width] = torch.zeros(1, width)
        return torch.addcmul(zeros, states, weight, value=factor)
