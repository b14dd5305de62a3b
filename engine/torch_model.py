"""The decoder: one configurable transformer for every supported family.

It turns token ids and positions into hidden states and logits. Where keys and values are kept,
which cells a token may see and how attention is computed belong to the `Attention` it is given.
Shapes: T tokens, E hidden, H query heads, K key heads, D head size, I intermediate, V vocabulary.

The residual stream and the norms are fp32, matrix products are of the weights' type: the stream
of a deep model leaves the range of fp16 and the precision of bf16, the products don't.
"""

from __future__ import annotations

from typing import Protocol

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from engine.torch_config import DecoderConfig
from engine.torch_rope import Rotary
from engine.torch_weights import DecoderWeights, LayerWeights


class Attention(Protocol):
    """Keeps the new keys and values of a layer and attends to all that are visible."""

    def __call__(self, layer: int, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """From (T, H, D), (T, K, D), (T, K, D) to the mixed values (T, H D)."""


class Decoder:
    """A model's weights and the function that they define."""

    def __init__(self, config: DecoderConfig, weights: DecoderWeights) -> None:
        self.config, self.weights = config, weights
        self.dtype, self.device = weights.embedding.dtype, weights.embedding.device
        ropes = [Rotary(config.rope, config.head_dim, self.device)]
        if config.local_rope is not None:
            ropes.append(Rotary(config.local_rope, config.head_dim, self.device))
        self._ropes = ropes

    def hidden(self, tokens: Tensor, positions: Tensor, attend: Attention) -> Tensor:
        """The last layer's normalised states of `tokens` (T,) at `positions` (T,): (T, E)."""
        weights, config = self.weights, self.config
        stream = F.embedding(tokens, weights.embedding).float()  # (T, E)
        if config.embedding_scale != 1.0:
            stream = stream * config.embedding_scale
        tables = [rope.table(positions) for rope in self._ropes]
        for index, layer in enumerate(weights.layers):
            kind = int(config.is_local(index)) % len(tables)
            stream = stream + self._attention(index, kind, layer, stream, tables[kind], attend)
            stream = stream + self._feed_forward(layer, stream)
        return self._norm(stream, weights.final_norm)

    def logits(self, hidden: Tensor) -> Tensor:
        """Logits (T, V) in fp32 from the states (T, E)."""
        logits = F.linear(hidden, self.weights.head).float()  # (T, V)
        cap = self.config.logit_softcap
        return torch.tanh(logits / cap) * cap if cap else logits

    def _attention(
        self,
        index: int,
        kind: int,
        layer: LayerWeights,
        stream: Tensor,
        table: tuple[Tensor, Tensor],
        attend: Attention,
    ) -> Tensor:
        heads, keys, size = self.config.heads, self.config.kv_heads, self.config.head_dim
        states = self._norm(stream, layer.attention_norm)
        joined = F.linear(states, layer.qkv, layer.qkv_bias)  # (T, (H + 2K) D)
        joined = joined.view(-1, heads + 2 * keys, size)
        turned, values = joined[:, : heads + keys], joined[:, heads + keys :]
        if layer.head_norm is not None:
            turned = F.rms_norm(turned.float(), (size,), None, self.config.norm_epsilon)
            turned = (turned * layer.head_norm).to(self.dtype)
        turned = self._ropes[kind].rotate(turned, table)  # (T, H + K, D)
        mixed = attend(index, turned[:, :heads], turned[:, heads:], values)  # (T, H D)
        mixed = F.linear(mixed, layer.output, layer.output_bias)  # (T, E)
        if layer.post_attention_norm is not None:
            return self._norm(mixed.float(), layer.post_attention_norm)
        return mixed

    def _feed_forward(self, layer: LayerWeights, stream: Tensor) -> Tensor:
        inner = self.config.intermediate
        states = self._norm(stream, layer.feed_forward_norm)
        joined = F.linear(states, layer.gate_up)  # (T, 2 I)
        gate, up = joined[:, :inner], joined[:, inner:]
        if self.config.activation == "silu":
            states = F.silu(gate) * up
        else:
            states = F.gelu(gate, approximate="tanh") * up
        states = F.linear(states, layer.down)  # (T, E)
        if layer.post_feed_forward_norm is not None:
            return self._norm(states.float(), layer.post_feed_forward_norm)
        return states

    def _norm(self, stream: Tensor, weight: Tensor) -> Tensor:
        """Root-mean-square norm in fp32, given in the type of the matrices."""
        states = F.rms_norm(stream, weight.shape, weight, self.config.norm_epsilon)
        return states.to(self.dtype)
