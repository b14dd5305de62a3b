"""Torch backends around small decoders."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from engine.fake_tokenizer import CHAT_TEMPLATE, FakeTokenizer
from engine.torch_backend import CacheOptions, TorchBackend
from engine.torch_config import DecoderConfig
from engine.torch_model import Attention, Decoder


def backend_of(decoder: Any, **options: Any) -> TorchBackend:
    """A backend with a made-up tokenizer; a batch is as long as all cells."""
    settings = {"cells": 1024, "batch": 1024, "block": 16, **options}
    return TorchBackend(
        decoder,
        FakeTokenizer(),
        CacheOptions(**settings),
        fingerprint="small",
        chat_template=CHAT_TEMPLATE,
    )


def read(backend: TorchBackend, sequence: int, tokens: list[int], start: int = 0) -> np.ndarray:
    """Reads tokens as a prompt, in batches; logits after each (T, V)."""
    found = [
        backend.forward(sequence, tokens[at : at + backend.batch], start + at, every=True)
        for at in range(0, len(tokens), backend.batch)
    ]
    return np.concatenate(found)


def decoded(
    backend: TorchBackend, tokens: list[int], trim: tuple[int, int] | None, count: int = 20
) -> np.ndarray:
    """Logits (count, V) of tokens after a prompt of which (start, length) is removed."""
    sequence, length = backend.new_sequence(), len(tokens)
    read(backend, sequence, tokens)
    if trim and trim[0] < length - 1:
        backend.remove(sequence, trim[0], min(sum(trim), length - 1))
    return np.stack([backend.forward(sequence, [at], length + at) for at in range(count)])


class Counting:
    """A decoder that counts the rows it computes."""

    def __init__(self, decoder: Decoder) -> None:
        self._decoder, self.rows = decoder, 0

    def hidden(
        self, tokens: Tensor, positions: Tensor, attend: Attention, block: int = 0
    ) -> Tensor:
        self.rows += len(tokens)
        return self._decoder.hidden(tokens, positions, attend, block)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._decoder, name)


class _Naive:
    """Attention over all tokens at once, written as the formula says it."""

    def __init__(self, config: DecoderConfig, visible: Tensor) -> None:
        self._config, self._visible = config, visible

    def __call__(self, layer: int, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        config, count = self._config, len(queries)
        groups = config.heads // config.kv_heads
        keys = keys.repeat_interleave(groups, 1)
        values = values.repeat_interleave(groups, 1)
        scores = torch.einsum("qhd,khd->hqk", queries, keys) * config.scale
        visible = self._visible
        if config.is_local(layer):
            distance = torch.arange(count)[:, None] - torch.arange(count)[None]
            visible = visible & (distance < config.sliding_window)
        scores = scores.masked_fill(~visible, float("-inf"))
        return torch.einsum("hqk,khd->qhd", scores.softmax(-1), values).flatten(1)


def naive_logits(
    decoder: Decoder | Counting, tokens: list[int], since: int, gone: set[int]
) -> np.ndarray:
    """Logits (T, V) where tokens from `since` on don't see the positions in `gone`."""
    count = len(tokens)
    visible = torch.ones(count, count, dtype=torch.bool).tril()
    visible[since:, sorted(gone)] = False
    with torch.inference_mode():
        hidden = decoder.hidden(
            torch.tensor(tokens), torch.arange(count), _Naive(decoder.config, visible)
        )
        logits: np.ndarray = decoder.logits(hidden).numpy()
    return logits
