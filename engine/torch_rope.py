"""Rotary position embeddings in fp32: frequencies, cosines and sines, and the rotation.

Channels are paired as Hugging Face pairs them: c with c + dimension / 2. Weights of files that
pair neighbours are reordered when they are loaded (`torch_names`).
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
    """Cosines and sines for a row of positions, and the rotation of heads with them."""

    def __init__(self, spec: RopeSpec, head_dim: int, device: torch.device) -> None:
        self._frequencies = frequencies(spec).to(device)  # (D'/2,)
        self._factor = spec.attention_factor
        self._dimension, self._head_dim = spec.dimension, head_dim

    def table(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        """Cosine and signed sine at `positions` (T,), each fp32 of shape (T, 1, D').

        Computed where they are needed: positions go on counting past any table's end.
        """
        angles = positions.float()[:, None] * self._frequencies  # (T, D'/2)
        cosine, sine = angles.cos() * self._factor, angles.sin() * self._factor
        return (
            torch.cat((cosine, cosine), -1)[:, None],
            torch.cat((-sine, sine), -1)[:, None],
        )

    def rotate(self, heads: Tensor, table: tuple[Tensor, Tensor]) -> Tensor:
        """Rotates `heads` (T, H, D) by the table of their positions; the dtype is kept."""
        cosine, sine = table
        rotated = heads.float()
        if self._dimension < self._head_dim:
            rotated = rotated[..., : self._dimension]
        swapped = rotated.roll(self._dimension // 2, -1)
        rotated = torch.addcmul(rotated * cosine, swapped, sine).to(heads.dtype)
        if self._dimension < self._head_dim:
            return torch.cat((rotated, heads[..., self._dimension :]), -1)
        return rotated
