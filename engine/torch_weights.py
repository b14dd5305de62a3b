"""The decoder's matrices and vectors, and how they are filled tensor by tensor.

Matrices that read the same input are joined (query, key and value; gate and up), so that a token
costs four matrix products a layer. A matrix is made at its final size, type and form and filled in
slices: the peak is the model and one slice. Which file a slice comes from is not known here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from typing import Protocol

import torch
from torch import Tensor

from engine.errors import ModelCorrupt, UnsupportedModel
from engine.torch_config import DecoderConfig
from engine.torch_linear import Product, Products
from engine.torch_names import Slot, is_read_elsewhere

Weight = Tensor | Product


class Weights:
    """What has named weights: norms are fp32, matrices of the decoder's type."""

    def named(self) -> Iterator[tuple[str, Weight]]:
        """Name and weight of what this model has."""
        for field in fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if value is not None:
                yield field.name, value


@dataclass(slots=True)
class LayerWeights(Weights):
    """One layer. E hidden, I intermediate, H query heads, K key heads, D head size."""

    attention_norm: Tensor  # (E,)
    qkv: Product  # ((H + 2K) D, E)
    output: Product  # (E, H D)
    feed_forward_norm: Tensor  # (E,)
    gate_up: Product  # (2 I, E)
    down: Product  # (E, I)
    qkv_bias: Tensor | None = None  # ((H + 2K) D,), part of qkv
    output_bias: Tensor | None = None  # (E,), part of output
    head_norm: Tensor | None = None  # (H + K, D)
    post_attention_norm: Tensor | None = None  # (E,)
    post_feed_forward_norm: Tensor | None = None  # (E,)


@dataclass(slots=True)
class EndWeights(Weights):
    """What comes before and after the layers. V vocabulary."""

    embedding: Product  # (V, E)
    final_norm: Tensor  # (E,)
    head: Product | None = None  # (V, E); None where it is the embedding


class WeightSource(Protocol):
    """Fills weights that have been made."""

    def fill(self, weights: LayerWeights | EndWeights, layer: int | None) -> None:
        """Fills a layer's weights, or the ends' where `layer` is None."""


def empty_ends(config: DecoderConfig, products: Products) -> EndWeights:
    """Embedding, last norm and output matrix, their contents undefined."""
    c = config
    head = products.empty(c.vocabulary, c.hidden, narrow=True)  # few tokens' logits are needed
    return EndWeights(
        embedding=head if c.tied else products.plain(c.vocabulary, c.hidden),
        final_norm=torch.empty(c.hidden, device=products.device),
        head=None if c.tied else head,
    )


def empty_layer(config: DecoderConfig, products: Products) -> LayerWeights:
    """One layer, its contents undefined."""
    c = config

    def norm(*shape: int) -> Tensor:
        return torch.empty(shape, dtype=torch.float32, device=products.device)

    def bias(size: int) -> Tensor:
        return torch.empty(size, dtype=products.dtype, device=products.device)

    qkv_bias = bias(c.qkv_rows) if c.qkv_bias else None
    output_bias = bias(c.hidden) if c.output_bias else None
    return LayerWeights(
        attention_norm=norm(c.hidden),
        qkv=products.empty(c.qkv_rows, c.hidden, qkv_bias),
        output=products.empty(c.hidden, c.heads * c.head_dim, output_bias),
        feed_forward_norm=norm(c.hidden),
        gate_up=products.empty(2 * c.intermediate, c.hidden),
        down=products.empty(c.hidden, c.intermediate),
        qkv_bias=qkv_bias,
        output_bias=output_bias,
        head_norm=norm(c.heads + c.kv_heads, c.head_dim) if c.query_key_norm else None,
        post_attention_norm=norm(c.hidden) if c.post_norms else None,
        post_feed_forward_norm=norm(c.hidden) if c.post_norms else None,
    )


class TensorFile(Protocol):
    """Named tensors that can be read in runs of rows."""

    def names(self) -> Iterable[str]: ...

    def shape(self, name: str) -> tuple[int, ...]:
        """Rows first."""

    def rows(self, name: str, start: int, stop: int) -> Tensor:
        """Rows start … stop of a tensor, in any floating type, on the CPU."""


_SLICE_NUMBERS = 1 << 18


class WeightLoader:
    """A `WeightSource` that reads a file.

    Raises:
        ModelCorrupt: a tensor is missing or of the wrong shape.
        UnsupportedModel: the file has a tensor that this decoder wouldn't use.
    """

    def __init__(
        self,
        file: TensorFile,
        config: DecoderConfig,
        slot_of: Callable[[str, DecoderConfig], Slot | None],
    ) -> None:
        self._file, self._config = file, config
        self._names: dict[int | None, list[tuple[str, Slot]]] = {}
        for name in file.names():
            slot = slot_of(name, config)
            if slot is not None and (slot.layer is None or slot.layer < config.layers):
                self._names.setdefault(slot.layer, []).append((name, slot))
            elif not is_read_elsewhere(name):
                raise _unknown(name, config)

    def fill(self, weights: LayerWeights | EndWeights, layer: int | None) -> None:
        """Reads a layer, or the ends."""
        unread = {field: weight.shape[0] for field, weight in weights.named()}
        for name, slot in self._names.get(layer, []):
            place: Weight | None = getattr(weights, slot.field)
            if slot.field == "head" and place is None:
                continue  # a tied matrix, stored twice
            if place is None:
                raise _unknown(name, self._config)
            unread[slot.field] -= self._read(name, slot, place)
        for field, rows in unread.items():
            if rows > 0:
                where = "" if layer is None else f" of layer {layer}"
                raise ModelCorrupt(
                    f"The model file has no complete {field}{where}; it is cut short, get it again."
                )

    def _read(self, name: str, slot: Slot, place: Weight) -> int:
        """Fills a slot; the rows it has."""
        start, stop = _rows(slot, place.shape[0], self._config)
        shape, columns = tuple(self._file.shape(name)), tuple(place.shape[1:])
        expected = columns if slot.field == "head_norm" else (stop - start, *columns)
        if shape != expected:
            raise ModelCorrupt(
                f"The tensor {name} has the shape {shape} where {expected} is expected; "
                "get the model again."
            )
        head_dim = self._config.head_dim
        if slot.field == "head_norm":  # one vector, the same for every head
            values = _in_pairs(self._values(name, slot, 0, head_dim), self._config, head_dim)
            _write(place, start, values.expand(stop - start, -1))
            return stop - start
        step = max(1, _SLICE_NUMBERS // (math.prod(columns) * head_dim)) * head_dim
        for first in range(0, stop - start, step):
            last = min(first + step, stop - start)
            values = self._values(name, slot, first, last)
            if slot.field in ("qkv", "qkv_bias") and not slot.paired:
                turned = (self._config.heads + self._config.kv_heads) * head_dim - start - first
                values = _in_pairs(values, self._config, min(max(turned, 0), len(values)))
            _write(place, start + first, values)
        return stop - start

    def _values(self, name: str, slot: Slot, start: int, stop: int) -> Tensor:
        values = self._file.rows(name, start, stop)
        return values.float() + slot.add if slot.add else values


def _write(place: Weight, start: int, values: Tensor) -> None:
    if isinstance(place, Tensor):
        place[start : start + len(values)].copy_(values)
    else:
        place.write(start, values)


def _rows(slot: Slot, whole: int, config: DecoderConfig) -> tuple[int, int]:
    """The rows of a joined weight that a slot means."""
    heads, keys = config.heads, config.kv_heads
    unit = 1 if slot.field == "head_norm" else config.head_dim
    return {
        "": (0, whole),
        "q": (0, heads * unit),
        "k": (heads * unit, (heads + keys) * unit),
        "v": ((heads + keys) * unit, (heads + 2 * keys) * unit),
        "gate": (0, config.intermediate),
        "up": (config.intermediate, 2 * config.intermediate),
    }[slot.part]


def _unknown(name: str, config: DecoderConfig) -> UnsupportedModel:
    return UnsupportedModel(
        f"The torch decoder doesn't know what to do with the tensor {name!r} of this "
        f"{config.architecture} model; choose another model or the llama.cpp backend."
    )


def _in_pairs(rows: Tensor, config: DecoderConfig, turned: int) -> Tensor:
    """The first `turned` rows reordered, head by head, from halves to neighbouring pairs."""
    if not turned:
        return rows
    dimension = config.rope.dimension
    heads = rows[:turned].reshape(turned // config.head_dim, config.head_dim, *rows.shape[1:])
    halves = heads[:, :dimension].reshape(len(heads), 2, -1, *rows.shape[1:])
    pairs = halves.transpose(1, 2).flatten(1, 2)
    paired = torch.cat((pairs, heads[:, dimension:]), 1).flatten(0, 1)
    return torch.cat((paired, rows[turned:]))
