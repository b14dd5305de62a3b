"""The torch decoder with real weights: against transformers, and against llama.cpp."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pypdf
import pytest
import torch
from numpy.typing import NDArray

from engine.backend import Backend
from engine.fake_tokenizer import FakeTokenizer
from engine.llama_backend import LlamaBackend
from engine.model_file import read_model_file
from engine.torch_backend import CacheOptions, TorchBackend
from engine.torch_device import compute_type
from engine.torch_load import load_decoder, load_torch
from engine.torch_tokenizer import GgufVocabulary
from engine.types import EngineOptions

pytestmark = [pytest.mark.model, pytest.mark.slow, pytest.mark.timeout(1200)]
CPU = torch.device("cpu")
POSITIONS = 640


def load(path: Path, dtype: torch.dtype, **changes: Any) -> TorchBackend:
    settings: dict[str, Any] = {"model": path, "cells": 2048, "kv_type": "f32", **changes}
    return load_torch(EngineOptions(**settings), device=CPU, dtype=dtype)


def llama(path: Path) -> LlamaBackend:
    return LlamaBackend(read_model_file(path), cells=2048)


def read(backend: Backend, tokens: list[int]) -> NDArray[np.float32]:
    sequence = backend.new_sequence()
    found = [
        backend.forward(sequence, tokens[at : at + backend.batch], at, every=True)
        for at in range(0, len(tokens), backend.batch)
    ]
    backend.free_sequence(sequence)
    return np.concatenate(found)


def divergence(left: NDArray[np.float32], right: NDArray[np.float32]) -> float:
    """Mean KL(left ‖ right) over the positions, in nats."""
    first, second = (torch.from_numpy(one).double().log_softmax(-1) for one in (left, right))
    return float((first.exp() * (first - second)).sum(-1).mean())


@pytest.fixture(scope="module")
def contract(samples: Path) -> str:
    """The text of the sample contracts."""
    files = sorted(samples.glob("*agreement*.pdf"))
    assert files, f"there are no sample contracts in {samples}"
    return "\n".join(page.extract_text() for file in files for page in pypdf.PdfReader(file).pages)


@pytest.fixture(scope="module")
def tokens(model_path: Path, contract: str) -> list[int]:
    return GgufVocabulary(model_path).tokenizer.encode(contract)[:POSITIONS]


Whole = Callable[[torch.dtype], NDArray[np.float32]]


@pytest.fixture(scope="module")
def whole(model_path: Path, tokens: list[int]) -> Whole:
    """The logits with keys and values in 16 bits, computed once a type."""

    @cache
    def logits(dtype: torch.dtype) -> NDArray[np.float32]:
        return read(load(model_path, dtype, kv_type="f16"), tokens)

    return logits


@pytest.fixture(scope="module")
def reference(model_path: Path, tokens: list[int]) -> NDArray[np.float32]:
    """llama.cpp's logits."""
    backend = llama(model_path)
    logits = read(backend, tokens)
    backend.close()
    return logits


def test_logits_equal_transformers(model_path: Path, tokens: list[int]) -> None:
    transformers = pytest.importorskip("transformers")
    model = transformers.AutoModelForCausalLM.from_pretrained(
        model_path.parent,
        gguf_file=model_path.name,
        dtype=torch.float32,
        quantization_config=transformers.GgufConfig(dequantize=True),
    ).eval()
    with torch.no_grad():
        expected = model(torch.tensor([tokens[:200]])).logits[0].numpy()
    backend = load(model_path, torch.float32)
    sequence = backend.new_sequence()
    found = [
        backend.forward(sequence, tokens[:100], 0, every=True),
        backend.forward(sequence, tokens[100:160], 100, every=True),
        *(backend.forward(sequence, [tokens[at]], at)[None] for at in range(160, 200)),
    ]
    assert np.abs(np.concatenate(found) - expected).max() <= 1e-3


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_agrees_with_llama_cpp(
    whole: Whole, tokens: list[int], reference: NDArray[np.float32], dtype: torch.dtype
) -> None:
    logits = whole(dtype)
    same = (logits.argmax(-1) == reference.argmax(-1)).mean()
    print(f"{dtype}: same top token {same:.4f}, mean KL {divergence(reference, logits):.5f}")
    assert len(tokens) >= 500
    assert same >= 0.95
    assert divergence(reference, logits) <= 0.02


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_8_bits_cost_little(
    model_path: Path, whole: Whole, tokens: list[int], dtype: torch.dtype
) -> None:
    packed = read(load(model_path, dtype, kv_type="int8"), tokens)
    loss = divergence(whole(dtype), packed)
    print(f"{dtype}: mean KL of 8 bits {loss:.6f}")
    assert loss <= 0.005


def test_one_tokenizer_for_both(model_path: Path, contract: str) -> None:
    ours, theirs = load(model_path, torch.bfloat16), llama(model_path)
    assert ours.tokenizer.encode(contract) == theirs.tokenizer.encode(contract)
    assert ours.tokenizer.end_tokens == theirs.tokenizer.end_tokens
    assert ours.chat_template == theirs.chat_template != ""
    assert ours.info.fingerprint == theirs.info.fingerprint
    assert ours.info.vocabulary == theirs.info.vocabulary
    theirs.close()


_PEAK = """
import sys, torch
from pathlib import Path
torch.set_num_threads(1)
from engine.torch_load import load_decoder
import engine.torch_backend
def status(key):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(key))
before = status("VmRSS")
Path("/proc/self/clear_refs").write_text("5")
decoder = load_decoder(Path(sys.argv[1]), getattr(torch, sys.argv[2]), torch.device("cpu"))
print((status("VmHWM") - before) / decoder.nbytes)
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="needs Linux's /proc")
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_loading_peaks_below_a_fifth_more_than_the_model(model_path: Path, dtype: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _PEAK, str(model_path), dtype],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    peak = float(done.stdout)
    print(f"{dtype}: the peak is {peak:.3f} × the model")
    assert 0.8 <= peak <= 1.2


@pytest.mark.gemma
def test_gemma_agrees_with_llama_cpp(contract: str) -> None:
    """Gemma 3's terms allow its use, but not that we hand it on: bring the file yourself."""
    path = Path(os.environ.get("CLAUSEBOOK_GEMMA", ""))
    if not path.is_file():
        pytest.skip("CLAUSEBOOK_GEMMA doesn't name a Gemma 3 GGUF file")
    theirs, ours = llama(path), load(path, torch.float32)
    begin = theirs.tokenizer.begin_token
    ids = [*([] if begin is None else [begin]), *theirs.tokenizer.encode(contract)][:POSITIONS]
    expected, found = read(theirs, ids), read(ours, ids)
    same = (expected.argmax(-1) == found.argmax(-1)).mean()
    print(f"Gemma: same top token {same:.4f}, mean KL {divergence(expected, found):.5f}")
    assert same >= 0.95
    assert divergence(expected, found) <= 0.02


def test_several_blocks_at_once_change_no_bit(model_path: Path, tokens: list[int]) -> None:
    """In the type that this processor computes in, with the blocks that it computes in."""
    decoder = load_decoder(model_path, compute_type(CPU), CPU)
    found = []
    tokens = tokens * 2
    for together in (1, 2, 4):
        options = CacheOptions(cells=2048, batch=2048, together=together)
        backend = TorchBackend(decoder, FakeTokenizer(), options, fingerprint="")
        sequence = backend.new_sequence()
        logits = backend.forward(sequence, tokens, 0)
        found.append((logits, bytes(backend.save(sequence, 0, len(tokens)))))
    assert 3 * backend.block < len(tokens)
    for logits, state in found[1:]:
        assert np.array_equal(logits, found[0][0])
        assert state == found[0][1]
