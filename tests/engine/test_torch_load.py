"""From engine options to a torch backend."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest
import torch

from engine import torch_device, torch_linear
from engine.errors import BackendUnavailable, InvalidRequest, ModelCorrupt, OutOfCells
from engine.load import load_backend
from engine.torch_backend import TorchBackend
from engine.torch_device import best_device, compute_type, usable_gpu
from engine.torch_load import load_decoder, load_torch
from engine.torch_tokenizer import GgufVocabulary
from engine.types import EngineOptions
from tests.engine.test_torch_tokenizer import byte_level
from tests.engine.torch_models import random_tokens, reference, reference_logits, save_folder

pytest.importorskip("transformers")
CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = save_folder(reference("llama"), tmp_path_factory.mktemp("llama"))
    byte_level().save(str(path / "tokenizer.json"))
    (path / "chat_template.jinja").write_text("{{ messages }}")
    return path


def options(folder: Path, kv_type: str = "f16", cells: int = 0) -> EngineOptions:
    return EngineOptions(model=folder, kv_type=kv_type, cells=cells, window=512, threads=1)


def test_a_folder(folder: Path) -> None:
    backend = load_backend(options(folder))  # `auto`: llama.cpp doesn't read folders
    assert isinstance(backend, TorchBackend)
    assert backend.free_cells == 640
    assert backend.info.name == folder.name
    assert backend.chat_template == "{{ messages }}"
    assert backend.tokenizer.end_tokens == {2}
    sequence = backend.new_sequence()
    found = backend.forward(sequence, tokens := random_tokens(20), 0)
    expected = reference_logits(reference("llama"), tokens)[-1]
    assert np.abs(found - expected).max() < 0.3  # 16 bits
    assert torch.get_num_threads() == 1


def test_the_fingerprint_is_the_weights_and_settings(folder: Path, tmp_path: Path) -> None:
    other = save_folder(reference("llama", seed=1), tmp_path)
    byte_level().save(str(other / "tokenizer.json"))
    first, again, second = (
        load_torch(options(path)).info.fingerprint for path in (folder, folder, other)
    )
    assert first == again != second


@pytest.mark.parametrize(
    ("dtype", "kv_type", "kept"),
    [
        (torch.float32, "f32", "float32"),
        (torch.float32, "f16", "float16"),
        (torch.float32, "bf16", "bfloat16"),
        (torch.float32, "int8", "int8"),
        (torch.bfloat16, "f16", "bfloat16"),  # 16 bits: the decoder's own
        (torch.bfloat16, "f32", "float32"),
        (torch.bfloat16, "q8_0", "int8"),
    ],
)
def test_kv_types(folder: Path, dtype: torch.dtype, kv_type: str, kept: str) -> None:
    backend = load_torch(options(folder, kv_type), device=CPU, dtype=dtype)
    assert backend.layout.split("/")[2] == kept
    sequence = backend.new_sequence()
    backend.forward(sequence, random_tokens(100), 0)
    state, other = backend.save(sequence, 0, 100), backend.new_sequence()
    backend.load(other, state)
    assert np.array_equal(
        backend.forward(other, [5, 6], 100), backend.forward(sequence, [5, 6], 100)
    )


def test_an_unknown_kv_type(folder: Path) -> None:
    with pytest.raises(InvalidRequest, match="f16, bf16, f32, int8, q8_0, not q4_0"):
        load_torch(options(folder, "q4_0"))


def test_a_model_that_doesnt_fit(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> NoReturn:
        raise torch.OutOfMemoryError("no memory")

    monkeypatch.setattr("engine.torch_model.empty_layer", full)
    with pytest.raises(OutOfCells, match="doesn't fit on the device"):
        load_torch(options(folder))


def test_torch_is_missing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "engine.torch_load", None)
    with pytest.raises(BackendUnavailable, match=r"clausebook\[torch\]"):
        load_backend(options(folder))


def test_the_default_device_and_type(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert usable_gpu() == (best_device().type != "cpu")
    assert compute_type(torch.device("cuda")) == torch.bfloat16
    for feature, expected in (
        ("avx512_bf16", torch.bfloat16),
        ("amx_bf16", torch.bfloat16),
        ("avx2", torch.float32),
    ):
        monkeypatch.setattr(torch_device, "cpu_has", lambda asked, has=feature: asked == has)
        assert compute_type(CPU) == expected
        assert load_decoder(folder, device=CPU).dtype == expected


def test_older_versions_of_torch_are_asked_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(torch.cpu, "get_capabilities", raising=False)
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: True)
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: False)
    assert torch_device.cpu_has("amx_bf16")
    assert not torch_device.cpu_has("avx512_bf16")


def test_with_amx_16_bits_are_multiplied_as_they_are(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = torch.tensor(random_tokens(30))
    monkeypatch.setattr(torch_linear, "cpu_has", lambda feature: False)
    without = load_decoder(folder, torch.bfloat16, CPU)
    monkeypatch.setattr(torch_linear, "cpu_has", lambda feature: True)
    amx = load_decoder(folder, torch.bfloat16, CPU)
    assert (without.block_dtype, amx.block_dtype) == (torch.float32, torch.bfloat16)
    assert (without.block, amx.block) == (64, 256)
    assert torch.equal(without._embedding.rows(tokens), amx._embedding.rows(tokens))
    states = torch.randn(30, amx.config.hidden)
    wide, narrow = without.logits(states), amx.logits(states.bfloat16())
    assert (wide - narrow).abs().max() < 0.05
    for decoder in (without, amx):
        one = decoder.logits(states[:1].bfloat16())
        assert (one - narrow[:1]).abs().max() < 0.05


@pytest.mark.model
def test_a_gguf_file(model_path: Path) -> None:
    backend = load_torch(options(model_path), device=CPU)
    assert backend.info.architecture == "llama"
    assert backend.info.vocabulary == 49152
    assert "im_start" in backend.chat_template
    ids = backend.tokenizer.encode("The capital of France is")
    sequence = backend.new_sequence()
    best = int(backend.forward(sequence, ids, 0).argmax())
    assert backend.tokenizer.piece(best) == b" Paris"


@pytest.mark.model
def test_a_vocabulary_is_closed(model_path: Path, tmp_path: Path) -> None:
    vocabulary = GgufVocabulary(model_path)
    assert vocabulary.tokenizer.encode("Clause")
    vocabulary.close()
    vocabulary.close()
    (tmp_path / "bad.gguf").write_bytes(b"GGUF" + bytes(60))
    with pytest.raises(ModelCorrupt, match="no usable vocabulary"):
        GgufVocabulary(tmp_path / "bad.gguf")
