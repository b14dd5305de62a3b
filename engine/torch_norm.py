"""The root-mean-square norm, as it is written and as one row on a CPU computes it fastest."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor


class RootMeanSquare:
    """x ↦ w · x / √(mean x² + ε), row by row in fp32.

    Without fused kernels the formula is six kernels, and starting them takes longer than running
    them. On a CPU a factor may be a Python number without waiting for anything: then one row
    costs two, a dot product and a product of three.
    """

    def __init__(self, epsilon: float) -> None:
        self._epsilon = epsilon
        self._zeros: dict[int, Tensor] = {}

    def __call__(self, states: Tensor, weight: Tensor) -> Tensor:
        """From fp32 (T, E) and (E,) to fp32 (T, E)."""
        if len(states) == 1 and states.device.type == "cpu":
            return self.one(states, weight)
        return self.many(states, weight)

    def many(self, states: Tensor, weight: Tensor) -> Tensor:
        """Any number of rows."""
        return F.rms_norm(states, weight.shape, weight, self._epsilon)

    def one(self, states: Tensor, weight: Tensor) -> Tensor:
        """One row, on a CPU."""
        row, width = states[0], states.shape[1]
        factor = (float(torch.dot(row, row)) / width + self._epsilon) ** -0.5
        zeros = self._zeros.get(width)
        if zeros is None:
            zeros = self._zeros[width] = torch.zeros(1, width)
        return torch.addcmul(zeros, states, weight, value=factor)
