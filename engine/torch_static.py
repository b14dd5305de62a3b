"""Decoding with fixed shapes: the same kernels for every token, so that they can be captured.

Token, position and slot are read from static tensors, keys and values of a whole bucket are read
and those that aren't visible are masked. Its plain twin is `TokenAttention`, and a test compares
them. A long row of scores is cut into parts and their results are added, or only as many
multiprocessors as there are key heads would read the values.
Shapes: H query heads, K key heads, G = H / K, D head size, S slots of the bucket, C parts.
"""

from __future__ import annotations

import torch
from torch import Tensor

from engine.torch_config import DecoderConfig
from engine.torch_model import Decoder
from engine.torch_workspace import Workspace

_PART = 512  # slots of one part, a multiple of every block size


class StaticAttention:
    """Attention for one token at `position` (1,) in `slot` (1,), over the bucket laid out now."""

    def __init__(
        self, config: DecoderConfig, workspace: Workspace, position: Tensor, slot: Tensor
    ) -> None:
        self._config, self._workspace, self._slot = config, workspace, slot
        length = workspace.bucket * workspace.block
        self._cells = workspace.sources(slice(0, length))
        seen = workspace.positions[:length]  # (S,)
        self._masks = [_mask(seen <= position)]
        self._near: Tensor | None = None
        if any(config.local_layers):
            near = min(length, config.sliding_window)
            offsets = torch.arange(1 - near, 1, device=workspace.device)
            self._near = (slot + offsets).clamp_min(0)  # (S',), the last slots only
            places = seen[self._near]
            visible = (places <= position) & (places > position - config.sliding_window)
            self._masks.append(_mask(visible & (slot + offsets >= 0)))

    def __call__(self, layer: int, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """From (1, H, D), (1, K, D), (1, K, D) to (1, H D)."""
        config = self._config
        all_keys, all_values = self._cells[0][layer], self._cells[1][layer]  # (K, S, D)
        self._workspace.write_at(all_keys, self._slot, keys)
        self._workspace.write_at(all_values, self._slot, values)
        mask = self._masks[0]
        if self._near is not None and config.is_local(layer):
            all_keys, all_values = all_keys[:, self._near], all_values[:, self._near]
            mask = self._masks[1]
        groups = config.heads // config.kv_heads
        folded = queries.view(config.kv_heads, groups, config.head_dim)
        scores = torch.bmm(folded, all_keys.transpose(1, 2)).float()  # (K, G, S)
        weights = torch.softmax(scores * config.scale + mask, -1).to(queries.dtype)
        return _sum_of_parts(weights, all_values).to(queries.dtype).view(1, -1)


def _mask(visible: Tensor) -> Tensor:
    """0 where visible, else minus infinity, fp32 (S,)."""
    mask = torch.zeros(visible.shape, device=visible.device)
    return mask.masked_fill(~visible, float("-inf"))


def _sum_of_parts(weights: Tensor, values: Tensor) -> Tensor:
    """Weights (K, G, S) times values (K, S, D) in fp32 sums of parts: (K, G, D)."""
    heads, groups, slots = weights.shape
    if slots % _PART or slots == _PART:
        return torch.bmm(weights, values).float()
    parts = slots // _PART
    cut = weights.view(heads, groups, parts, _PART).transpose(1, 2)  # (K, C, G, S / C)
    products = torch.bmm(
        cut.reshape(heads * parts, groups, _PART), values.reshape(heads * parts, _PART, -1)
    )
    return products.view(heads, parts, groups, -1).float().sum(1)


class StaticDecoder:
    """One token at a time through static tensors."""

    def __init__(self, decoder: Decoder, workspace: Workspace) -> None:
        self._decoder, self._workspace = decoder, workspace
        device = decoder.device
        self._token = torch.zeros(1, dtype=torch.int64, device=device)
        self._position = torch.zeros(1, dtype=torch.int64, device=device)
        self._slot = torch.zeros(1, dtype=torch.int64, device=device)

    def step(self, token: int, position: int, slot: int) -> Tensor:
        """Logits (V,) of the token; its keys and values are in the workspace afterwards."""
        self._token.fill_(token)
        self._position.fill_(position)
        self._slot.fill_(slot)
        return self._run(self._workspace.bucket)

    def _run(self, bucket: int) -> Tensor:
        return self._compute()

    def _compute(self) -> Tensor:
        """The kernels of one token, (V,)."""
        config = self._decoder.config
        attend = StaticAttention(config, self._workspace, self._position, self._slot)
        hidden = self._decoder.hidden(self._token, self._position, attend)
        return self._decoder.logits(hidden)[0]
