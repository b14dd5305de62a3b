"""Rotary position embeddings in fp32: frequencies, the turns of positions, and the rotation.

Neighbouring channels are a pair: then a pair is a complex number, and a rotation is one product.
Weights of files that pair c with c + dimension / 2 are reordered when they are loaded
(`torch_weights`); scores are sums over channels and don't depend on their order.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from engine.torch_config import RopeSpec


def frequencies(spec: RopeSpec) -> Tensor:
    """Angle per position of each channel pair, fp32, shape (dimension / 2,)."""
    exponents = torch.arange(0, spec.dimension, 2, dtype=torch.float32) / spec.dimension
    base = spec.theta**exponents  # (dimension / 2,)
    if spec.scaling == "factors":
        return 1.0 / (torch.tensor(spec.factors, dtype=torch.float32) * base)
    if spec.scaling == "linear":
        return 1.0 / base / spec.factor
    if spec.scaling == "llama3":
        return _llama3(spec, 1.0 / base)
    return 1.0 / base


def _llama3(spec: RopeSpec, plain: Tensor) -> Tensor:
    """Llama 3.1's scaling: long waves by `factor`, short ones not at all, a ramp between."""
    waves = 2 * math.pi / plain
    low, high = spec.low_frequency_factor, spec.high_frequency_factor
    ramp = (spec.original_context / waves - low) / (high - low)
    mixed = (1 - ramp) * plain / spec.factor + ramp * plain
    scaled = torch.where(waves > spec.original_context / low, plain / spec.factor, plain)
    between = (waves <= spec.original_context / low) & (waves >= spec.original_context / high)
    return torch.where(between, mixed, scaled)


class Rotary:
    """The turns of a row of positions, and the rotation of heads by them."""

    def __init__(self, spec: RopeSpec, head_dim: int, device: torch.device) -> None:
        self._frequencies = frequencies(spec).to(device)  # (D'/2,)
        self._factor = spec.attention_factor
        self._dimension, self._head_dim = spec.dimension, head_dim

    def table(self, positions: Tensor) -> Tensor:
        """The turns at `positions` (T,), complex of shape (T, 1, D'/2).

        Computed where they are needed: positions go on counting past any table's end.
        """
        angles = positions.float()[:, None] * self._frequencies  # (T, D'/2)
        return torch.complex(angles.cos() * self._factor, angles.sin() * self._factor)[:, None]

    def rotate(self, heads: Tensor, table: Tensor) -> Tensor:
        """Rotates `heads` (T, H, D) by the table of their positions; the dtype is kept."""
        wide = heads.float()
        if self._dimension < self._head_dim:
            wide = wide[..., : self._dimension]
        pairs = wide.view(torch.complex64)  # (T, H, D'/2)
        rotated = (pairs * table).view(torch.float32).to(heads.dtype)
        if self._dimension < self._head_dim:
            return torch.cat((rotated, heads[..., self._dimension :]), -1)
        return rotated
