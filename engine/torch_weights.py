"""The decoder's matrices and vectors, and how they are filled tensor by tensor.

Matrices that read the same input are joined (query, key and value; gate and up), so that a token
costs four matrix products a layer. Everything is allocated once, at its final size and type, and
filled in slices: the peak is the model plus one slice. Which file a slice comes from is not known
here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from engine.errors import ModelCorrupt, UnsupportedModel
from engine.torch_config import DecoderConfig
from engine.torch_names import Slot, is_read_elsewhere


@dataclass(slots=True)
class LayerWeights:
    """One layer. E hidden, I intermediate, H query heads, K key heads, D head size.

    Norms are fp32; matrices are of the decoder's type.
    """

    attention_norm: Tensor  # (E,)
    qkv: Tensor  # ((H + 2K) D, E)
    output: Tensor  # (E, H D)
    feed_forward_norm: Tensor  # (E,)
    gate_up: Tensor  # (2 I, E)
    down: Tensor  # (E, I)
    qkv_bias: Tensor | None = None  # ((H + 2K) D,)
    output_bias: Tensor | None = None  # (E,)
    head_norm: Tensor | None = None  # (H + K, D)
    post_attention_norm: Tensor | None = None  # (E,)
    post_feed_forward_norm: Tensor | None = None  # (E,)


@dataclass(slots=True)
class DecoderWeights:
    """All layers, with the embedding (V, E), the last norm (E,) and the output matrix (V, E)."""

    embedding: Tensor
    final_norm: Tensor
    head: Tensor
    layers: list[LayerWeights]

    def tensors(self) -> Iterator[Tensor]:
        """Every tensor once; a tied output matrix isn't counted twice."""
        yield from (self.embedding, self.final_norm)
        if self.head is not self.embedding:
            yield self.head
        for layer in self.layers:
            values = (getattr(layer, field) for field in layer.__dataclass_fields__)
            yield from (value for value in values if value is not None)

    @property
    def nbytes(self) -> int:
        """Bytes of the whole model in memory."""
        return sum(tensor.nbytes for tensor in self.tensors())

    @property
    def parameters(self) -> int:
        """Numbers in the model."""
        return sum(tensor.numel() for tensor in self.tensors())


class TensorFile(Protocol):
    """Named tensors that can be read in runs of rows."""

    def names(self) -> Iterable[str]: ...

    def shape(self, name: str) -> tuple[int, ...]:
        """Rows first."""

    def rows(self, name: str, start: int, stop: int) -> Tensor:
        """Rows start … stop of a tensor, in any floating type, on the CPU."""


_SLICE_NUMBERS = 1 << 20


def load_weights(
    file: TensorFile,
    config: DecoderConfig,
    slot_of: Callable[[str, DecoderConfig], Slot | None],
    dtype: torch.dtype,
    device: torch.device,
) -> DecoderWeights:
    """Allocates the decoder's weights and fills them from `file`.

    Raises:
        ModelCorrupt: a tensor is missing or of the wrong shape.
        UnsupportedModel: the file has a tensor that this decoder wouldn't use.
    """
    weights = empty_weights(config, dtype, device)
    unread = {(layer, field): tensor.shape[0] for layer, field, tensor in _places(weights)}
    for name in file.names():
        slot = slot_of(name, config)
        if slot is None and is_read_elsewhere(name):
            continue
        place = None if slot is None else _place(weights, slot, config)
        if slot is None or place is None:
            raise UnsupportedModel(
                f"The torch decoder doesn't know what to do with the tensor {name!r} of this "
                f"{config.architecture} model; choose another model or the llama.cpp backend."
            )
        _fill(place, file, name, slot, config)
        if (slot.layer, slot.field) in unread:
            unread[slot.layer, slot.field] -= place.shape[0]
    for (layer, field), rows in unread.items():
        if rows > 0:
            where = "" if layer is None else f" of layer {layer}"
            raise ModelCorrupt(
                f"The model file has no complete {field}{where}; it is cut short, get it again."
            )
    return weights


def empty_weights(
    config: DecoderConfig, dtype: torch.dtype, device: torch.device
) -> DecoderWeights:
    """Weights of the right shapes, their contents undefined."""
    embedding = torch.empty(config.vocabulary, config.hidden, dtype=dtype, device=device)
    return DecoderWeights(
        embedding=embedding,
        final_norm=torch.empty(config.hidden, device=device),
        head=embedding if config.tied else torch.empty_like(embedding),
        layers=[_empty_layer(config, dtype, device) for _ in range(config.layers)],
    )


def _empty_layer(config: DecoderConfig, dtype: torch.dtype, device: torch.device) -> LayerWeights:
    c = config

    def matrix(*shape: int) -> Tensor:
        return torch.empty(shape, dtype=dtype, device=device)

    def norm(*shape: int) -> Tensor:
        return torch.empty(shape, dtype=torch.float32, device=device)

    return LayerWeights(
        attention_norm=norm(c.hidden),
        qkv=matrix(c.qkv_rows, c.hidden),
        output=matrix(c.hidden, c.heads * c.head_dim),
        feed_forward_norm=norm(c.hidden),
        gate_up=matrix(2 * c.intermediate, c.hidden),
        down=matrix(c.hidden, c.intermediate),
        qkv_bias=matrix(c.qkv_rows) if c.qkv_bias else None,
        output_bias=matrix(c.hidden) if c.output_bias else None,
        head_norm=norm(c.heads + c.kv_heads, c.head_dim) if c.query_key_norm else None,
        post_attention_norm=norm(c.hidden) if c.post_norms else None,
        post_feed_forward_norm=norm(c.hidden) if c.post_norms else None,
    )


def _places(weights: DecoderWeights) -> Iterator[tuple[int | None, str, Tensor]]:
    yield None, "embedding", weights.embedding
    yield None, "final_norm", weights.final_norm
    if weights.head is not weights.embedding:
        yield None, "head", weights.head
    for index, layer in enumerate(weights.layers):
        for field in layer.__dataclass_fields__:
            value = getattr(layer, field)
            if value is not None:
                yield index, field, value


def _place(weights: DecoderWeights, slot: Slot, config: DecoderConfig) -> Tensor | None:
    """The rows of `weights` that a slot means; None if this model has no such rows."""
    if slot.layer is not None and slot.layer >= config.layers:
        return None
    owner = weights if slot.layer is None else weights.layers[slot.layer]
    whole: Tensor | None = getattr(owner, slot.field)
    if whole is None or not slot.part:
        return whole
    heads, keys = config.heads, config.kv_heads
    unit = 1 if slot.field == "head_norm" else config.head_dim
    ranges = {
        "q": (0, heads * unit),
        "k": (heads * unit, (heads + keys) * unit),
        "v": ((heads + keys) * unit, (heads + 2 * keys) * unit),
        "gate": (0, config.intermediate),
        "up": (config.intermediate, 2 * config.intermediate),
    }
    start, stop = ranges[slot.part]
    return whole[start:stop]


def _fill(place: Tensor, file: TensorFile, name: str, slot: Slot, config: DecoderConfig) -> None:
    shape = tuple(file.shape(name))
    expected = tuple(place.shape[1:] if slot.field == "head_norm" else place.shape)
    if shape != expected:
        raise ModelCorrupt(
            f"The tensor {name} has the shape {shape} where {expected} is expected; "
            "get the model again."
        )
    if slot.field == "head_norm":  # one vector, the same for every head
        place.copy_(file.rows(name, 0, shape[0]).float() + slot.add)
        return
    heads = max(1, _SLICE_NUMBERS // (place[0].numel() * config.head_dim))
    for start in range(0, shape[0], heads * config.head_dim):
        stop = min(start + heads * config.head_dim, shape[0])
        values = file.rows(name, start, stop)
        if slot.add:
            values = values.float() + slot.add
        place[start:stop].copy_(_unpair(values, config.head_dim) if slot.paired else values)


def _unpair(rows: Tensor, head_dim: int) -> Tensor:
    """Reorders each head's rows from pairs (0, 1), (2, 3), … to halves."""
    heads = rows.shape[0] // head_dim
    split = rows.reshape(heads, head_dim // 2, 2, *rows.shape[1:])
    return split.transpose(1, 2).reshape(rows.shape)
