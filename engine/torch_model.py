"""The decoder: one configurable transformer for every supported family.

It turns token ids and positions into hidden states and logits. Where keys and values are kept,
which cells a token may see and how attention is computed belong to the `Attention` it is given.
Shapes: T tokens, E hidden, H query heads, K key heads, D head size, I intermediate, V vocabulary.

The residual stream and the norms are fp32, matrix products are of the weights' type: the stream
of a deep model leaves the range of fp16 and the precision of bf16, the products don't.
"""

from __future__ import annotations

import math
from typing import Protocol

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from engine.torch_config import DecoderConfig
from engine.torch_linear import Products
from engine.torch_norm import RootMeanSquare
from engine.torch_rope import Rotary
from engine.torch_steady import SteadyProducts
from engine.torch_weights import (
    EndWeights,
    LayerWeights,
    WeightSource,
    empty_ends,
    empty_layer,
)


class Attention(Protocol):
    """Keeps the new keys and values of a layer and attends to all that are visible."""

    def __call__(self, layer: int, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """From (T, H, D), (T, K, D), (T, K, D) to the mixed values (T, H D)."""


class Decoder:
    """A model's weights and the function that they define.

    Attributes:
        dtype: type of the matrices. block_dtype: type in which blocks of tokens are computed.
        block: how many tokens at a time suit it. together: and how many such blocks.
        sums_rows: one token is computed by sums of table rows, as `torch_linear` tells.
        parameters: numbers in the model. nbytes: their bytes.
    """

    def __init__(
        self, config: DecoderConfig, source: WeightSource, dtype: torch.dtype, device: torch.device
    ) -> None:
        products = Products(dtype, device, config.matrix_numbers)
        self.config, self.dtype, self.device = config, dtype, device
        self.block_dtype = torch.float32 if products.widens else dtype
        self._row_dtype = torch.float32 if products.transposed else dtype  # sums round their rows
        self.block, self.together = products.block, products.together
        self.sums_rows = products.transposed
        self.parameters = self.nbytes = 0
        ends = empty_ends(config, products)
        self._fill(source, ends, None)
        self._embedding, self._final_norm = ends.embedding, ends.final_norm
        self._head = ends.head or ends.embedding
        self._layers: list[LayerWeights] = []
        for index in range(config.layers):
            self._layers.append(empty_layer(config, products))
            self._fill(source, self._layers[-1], index)
        ropes = [Rotary(config.rope, config.head_dim, device)]
        if config.local_rope is not None:
            ropes.append(Rotary(config.local_rope, config.head_dim, device))
        self._ropes, self._norm = ropes, RootMeanSquare(config.norm_epsilon)
        self._product = SteadyProducts()

    def _fill(
        self, source: WeightSource, weights: LayerWeights | EndWeights, layer: int | None
    ) -> None:
        source.fill(weights, layer)
        for _, weight in weights.named():
            numbers = math.prod(weight.shape)
            self.parameters += numbers
            size = weight.dtype.itemsize if isinstance(weight, Tensor) else self.dtype.itemsize
            self.nbytes += numbers * size

    def hidden(
        self, tokens: Tensor, positions: Tensor, attend: Attention, block: int = 0
    ) -> Tensor:
        """The last layer's normalised states of `tokens` (T,) at `positions` (T,): (T, E).

        One token's are computed in the type of the matrices, a block's in `block_dtype`; several
        blocks' with the bits of one block after the other, if its size is given.
        """
        dtype = self._row_dtype if len(tokens) == 1 else self.block_dtype
        stream = self._embedding.rows(tokens).float()  # (T, E)
        if self.config.embedding_scale != 1.0:
            stream *= self.config.embedding_scale
        tables = [rope.table(positions) for rope in self._ropes]
        for index, layer in enumerate(self._layers):
            kind = int(self.config.is_local(index)) % len(tables)
            states = self._norm(stream, layer.attention_norm).to(dtype)
            joined = self._product(layer.qkv, states, block)  # (T, (H + 2K) D)
            mixed = self._attention(index, kind, layer, joined, tables[kind], attend)  # (T, H D)
            stream += self._added(
                self._product(layer.output, mixed, block), layer.post_attention_norm
            )
            states = self._norm(stream, layer.feed_forward_norm).to(dtype)
            gated = self._gated(self._product(layer.gate_up, states, block))  # (T, I)
            stream += self._added(
                self._product(layer.down, gated, block), layer.post_feed_forward_norm
            )
        return self._norm(stream, self._final_norm).to(dtype)

    def logits(self, hidden: Tensor) -> Tensor:
        """Logits (T, V) in fp32 from the states (T, E)."""
        logits = self._head(hidden).float()  # (T, V)
        cap = self.config.logit_softcap
        return torch.tanh(logits / cap) * cap if cap else logits

    def _attention(
        self,
        index: int,
        kind: int,
        layer: LayerWeights,
        joined: Tensor,
        table: Tensor,
        attend: Attention,
    ) -> Tensor:
        heads, keys, size = self.config.heads, self.config.kv_heads, self.config.head_dim
        joined = joined.view(-1, heads + 2 * keys, size)  # (T, H + 2K, D)
        turned = joined[:, : heads + keys]
        if layer.head_norm is not None:
            dtype = turned.dtype
            turned = F.rms_norm(turned.float(), (size,), None, self.config.norm_epsilon)
            turned = (turned * layer.head_norm).to(dtype)
        turned = self._ropes[kind].rotate(turned, table)  # (T, H + K, D)
        return attend(index, turned[:, :heads], turned[:, heads:], joined[:, heads + keys :])

    def _gated(self, joined: Tensor) -> Tensor:
        """From (T, 2 I) to (T, I)."""
        inner = self.config.intermediate
        gate, up = joined[:, :inner], joined[:, inner:]
        if self.config.activation == "silu":
            return F.silu(gate).mul_(up)
        return F.gelu(gate, approximate="tanh").mul_(up)

    def _added(self, states: Tensor, norm: Tensor | None) -> Tensor:
        """What is added to the stream: the states (T, E), or their norm."""
        return states if norm is None else self._norm(states.float(), norm)
