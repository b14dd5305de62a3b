"""Torch backends around small decoders."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.fake_tokenizer import CHAT_TEMPLATE, FakeTokenizer
from engine.torch_backend import CacheOptions, TorchBackend
from engine.torch_model import Decoder


def backend_of(decoder: Decoder, **options: Any) -> TorchBackend:
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
