"""The torch decoder against transformers: fp32 logits at every position, prefill and decode."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from engine.torch_load import load_decoder
from tests.engine.torch_backends import backend_of
from tests.engine.torch_models import (
    FAMILIES,
    random_tokens,
    reference,
    reference_logits,
    save_folder,
)

pytest.importorskip("transformers")
TOLERANCE = 1e-3


@pytest.mark.parametrize("family", FAMILIES)
def test_logits_equal_transformers(family: str, tmp_path: Path) -> None:
    model = reference(family)
    decoder = load_decoder(save_folder(model, tmp_path), torch.float32)
    backend = backend_of(decoder, block=16)
    tokens = random_tokens(150)
    expected = reference_logits(model, tokens)
    sequence = backend.new_sequence()
    found = [
        backend.forward(sequence, tokens[:70], 0, every=True),
        backend.forward(sequence, tokens[70:100], 70, every=True),
        *(backend.forward(sequence, [tokens[at]], at)[None] for at in range(100, 150)),
    ]
    difference = np.abs(np.concatenate(found) - expected)
    assert difference.shape == expected.shape
    assert difference.max() <= TOLERANCE
    assert expected.std() > 0.3  # the logits do say something
