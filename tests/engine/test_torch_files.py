"""Models from GGUF files and Hugging Face folders, whole and damaged."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from engine.errors import ModelCorrupt, ModelNotFound, UnsupportedModel
from engine.torch_config import DecoderConfig
from engine.torch_folder import open_folder
from engine.torch_linear import Products
from engine.torch_load import load_decoder
from engine.torch_model import Decoder
from engine.torch_names import huggingface_slot
from engine.torch_safetensors import SafetensorsFile
from engine.torch_weights import WeightLoader, empty_ends, empty_layer
from tests.engine.torch_backends import backend_of, read
from tests.engine.torch_gguf_files import Kind, quantise, write_gguf
from tests.engine.torch_models import (
    FAMILIES,
    MemoryTensors,
    random_tokens,
    reference,
    reference_logits,
    save_folder,
    small_config,
)

pytest.importorskip("transformers")
CPU = torch.device("cpu")

# GGUF files don't know of Mistral's and Qwen 2's sliding windows, nor of another scale in Gemma 3.
NOT_IN_GGUF = ("mistral", "qwen2-sliding", "gemma3")
IN_GGUF = [family for family in FAMILIES if family not in NOT_IN_GGUF]


def logits_of(path: Path, tokens: list[int], window: int = 0) -> np.ndarray:
    backend = backend_of(load_decoder(path, torch.float32, CPU, window))
    return read(backend, backend.new_sequence(), tokens)


@pytest.mark.parametrize("family", IN_GGUF)
def test_gguf_logits_equal_transformers(family: str, tmp_path: Path) -> None:
    model, tokens = reference(family), random_tokens(90)
    path = write_gguf(model, family, tmp_path / "model.gguf")
    assert np.abs(logits_of(path, tokens) - reference_logits(model, tokens)).max() <= 1e-3


@pytest.mark.parametrize("kind", [Kind.F16, Kind.BF16, Kind.Q8_0, Kind.Q4_1, Kind.Q5_0])
def test_quantised_matrices(kind: Kind, tmp_path: Path) -> None:
    model, tokens = reference("llama"), random_tokens(60)
    path = write_gguf(model, "llama", tmp_path / "model.gguf", kind)
    quantise(model, kind)
    assert np.abs(logits_of(path, tokens) - reference_logits(model, tokens)).max() <= 1e-3


def test_long_factors_are_taken_for_a_long_window(tmp_path: Path) -> None:
    model = reference("phi3-longrope")
    path = write_gguf(model, "phi3-longrope", tmp_path / "model.gguf")
    folder = save_folder(model, tmp_path / "folder")
    tokens = random_tokens(600)  # past the original context: transformers takes the long ones
    expected = reference_logits(model, tokens)
    for source in (path, folder):
        decoder = load_decoder(source, torch.float32, CPU, 1024)
        assert decoder.config.long_context
        assert np.abs(logits_of(source, tokens, 1024) - expected).max() <= 1e-3
        assert not load_decoder(source, torch.float32, CPU, 512).config.long_context


def test_a_folder_in_shards(tmp_path: Path) -> None:
    model, tokens = reference("qwen3"), random_tokens(40)
    model.save_pretrained(tmp_path, max_shard_size="100KB")
    assert len(open_folder(tmp_path).weights) > 1
    expected = reference_logits(model, tokens)
    assert np.abs(logits_of(tmp_path, tokens) - expected).max() <= 1e-3


def test_the_older_spelling_of_rotary_settings(tmp_path: Path) -> None:
    model, tokens = reference("llama3"), random_tokens(80)
    save_folder(model, tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    scaling = config.pop("rope_parameters")
    config["rope_theta"] = scaling.pop("rope_theta")
    config["rope_scaling"] = scaling
    (tmp_path / "config.json").write_text(json.dumps(config))
    expected = reference_logits(model, tokens)
    assert np.abs(logits_of(tmp_path, tokens) - expected).max() <= 1e-3


def test_the_older_spelling_of_gemmas_settings(tmp_path: Path) -> None:
    model, tokens = reference("gemma3"), random_tokens(80)
    save_folder(model, tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    bases = config.pop("rope_parameters")
    config["rope_theta"] = bases["full_attention"]["rope_theta"]
    config["rope_local_base_freq"] = bases["sliding_attention"]["rope_theta"]
    del config["layer_types"]
    config["sliding_window_pattern"] = 6
    (tmp_path / "config.json").write_text(json.dumps(config))
    expected = reference_logits(model, tokens)
    assert np.abs(logits_of(tmp_path, tokens) - expected).max() <= 1e-3


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_folder(reference("llama"), tmp_path_factory.mktemp("llama"))


def copy_with(folder: Path, target: Path, **changes: Any) -> Path:
    """The folder with other settings."""
    config = {**json.loads((folder / "config.json").read_text()), **changes}
    (target / "config.json").write_text(json.dumps(config))
    (target / "model.safetensors").write_bytes((folder / "model.safetensors").read_bytes())
    return target


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model_type": "mamba"}, "'mamba' isn't supported.*llama, mistral, qwen2, qwen3, gemma3"),
        ({"hidden_act": "relu"}, "hidden_act = 'relu'"),
        ({"mlp_bias": True}, "mlp_bias = True"),
        ({"rope_parameters": {"rope_type": "yarn", "rope_theta": 1e4}}, "rope_type = 'yarn'"),
    ],
)
def test_what_isnt_computed_is_named(
    folder: Path, tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(UnsupportedModel, match=message):
        load_decoder(copy_with(folder, tmp_path, **changes))


def test_an_architecture_of_another_gguf_is_named(tmp_path: Path) -> None:
    import gguf

    writer = gguf.GGUFWriter(tmp_path / "m.gguf", "mamba")
    writer.add_tensor("token_embd.weight", np.zeros((4, 4), np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with pytest.raises(UnsupportedModel, match="'mamba' isn't supported"):
        load_decoder(tmp_path / "m.gguf")


def test_missing_settings_and_files(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelNotFound, match=r"no config.json"):
        load_decoder(tmp_path)
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(ModelCorrupt, match="isn't valid JSON"):
        load_decoder(tmp_path)
    (tmp_path / "config.json").write_text("[1]")
    with pytest.raises(ModelCorrupt, match="doesn't hold an object"):
        load_decoder(tmp_path)
    (tmp_path / "config.json").write_text((folder / "config.json").read_text())
    with pytest.raises(ModelNotFound, match=r"model.safetensors is missing"):
        load_decoder(tmp_path)
    index = {"weight_map": {"a": "../elsewhere.safetensors"}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(ModelCorrupt, match="outside the folder"):
        load_decoder(tmp_path)
    config = json.loads((folder / "config.json").read_text())
    del config["num_hidden_layers"]
    copy_with(folder, tmp_path)
    (tmp_path / "model.safetensors.index.json").unlink()
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelCorrupt, match="num_hidden_layers"):
        load_decoder(tmp_path)


def test_damaged_safetensors(folder: Path, tmp_path: Path) -> None:
    copy_with(folder, tmp_path)
    path = tmp_path / "model.safetensors"
    whole = path.read_bytes()
    header = whole[8 : 8 + struct.unpack("<Q", whole[:8])[0]]
    for damaged in (b"", whole[:4], whole[:200], b"\xff" * 64, whole[:8] + b"x" * len(header)):
        path.write_bytes(damaged)
        with pytest.raises(ModelCorrupt, match=r"isn't a safetensors file|cut short"):
            load_decoder(tmp_path)
    path.write_bytes(whole[:-4])
    with pytest.raises(ModelCorrupt, match="cut short"):
        load_decoder(tmp_path)
    other = header.replace(b'"F32"', b'"I32"')
    path.write_bytes(whole[:8] + other + whole[8 + len(header) :])
    with pytest.raises(UnsupportedModel, match="stored as I32"):
        load_decoder(tmp_path)


def test_a_file_that_shrinks_while_it_is_read(folder: Path, tmp_path: Path) -> None:
    copy_with(folder, tmp_path)
    file = SafetensorsFile([tmp_path / "model.safetensors"])
    (tmp_path / "model.safetensors").write_bytes(b"")
    with pytest.raises(ModelCorrupt, match="cut short"):
        file.rows("model.norm.weight", 0, 4)


def tensors_of(config: DecoderConfig) -> dict[str, torch.Tensor]:
    """A whole small model under Hugging Face's names."""
    products = Products(torch.float32, CPU, 0)
    ends = empty_ends(config, products)
    shapes = {"model.embed_tokens": ends.embedding.shape, "model.norm": ends.final_norm.shape}
    names = {
        "attention_norm": "input_layernorm",
        "feed_forward_norm": "post_attention_layernorm",
        "qkv": "self_attn.qkv_proj",
        "output": "self_attn.o_proj",
        "gate_up": "mlp.gate_up_proj",
        "down": "mlp.down_proj",
    }
    for index in range(config.layers):
        for field, weight in empty_layer(config, products).named():
            shapes[f"model.layers.{index}.{names[field]}"] = weight.shape
    return {f"{name}.weight": torch.randn(tuple(shape)) for name, shape in shapes.items()}


def decoder_from(
    tensors: dict[str, torch.Tensor],
    config: DecoderConfig,
    dtype: torch.dtype = torch.float32,
) -> Decoder:
    loader = WeightLoader(MemoryTensors(tensors), config, huggingface_slot)
    return Decoder(config, loader, dtype, CPU)


def test_every_tensor_is_needed_and_known() -> None:
    config = small_config()
    whole = tensors_of(config)
    decoder_from(whole, config)
    for name in whole:
        short = {key: value for key, value in whole.items() if key != name}
        with pytest.raises(ModelCorrupt, match="no complete"):
            decoder_from(short, config)
    for name in ("model.layers.0.mlp.router.weight", "model.layers.7.mlp.down_proj.weight", "odd"):
        more = {**whole, name: torch.zeros(2)}
        with pytest.raises(UnsupportedModel, match=name):
            decoder_from(more, config)
    more = {**whole, "model.layers.0.self_attn.rotary_emb.inv_freq": torch.zeros(2)}
    decoder_from(more, config)
    wrong = {**whole, "model.norm.weight": torch.zeros(3)}
    with pytest.raises(ModelCorrupt, match=r"has the shape \(3,\) where \(64,\)"):
        decoder_from(wrong, config)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_matrices_are_read_in_slices(dtype: torch.dtype) -> None:
    config = small_config(layers=1, vocabulary=40000)
    file = MemoryTensors(tensors_of(config))
    weights = empty_ends(config, Products(dtype, CPU, config.matrix_numbers))
    WeightLoader(file, config, huggingface_slot).fill(weights, None)
    assert file.most_rows * config.hidden <= 1 << 20
    rows = torch.tensor([0, 1, 17, 19999, 20000, 39999])
    expected = file.tensors["model.embed_tokens.weight"][rows].to(dtype)
    assert torch.equal(weights.embedding.rows(rows), expected)


def test_a_model_knows_its_size() -> None:
    config = small_config()
    decoder = decoder_from(tensors_of(config), config, torch.bfloat16)
    assert decoder.parameters == sum(tensor.numel() for tensor in tensors_of(config).values())
    norms = (2 * config.layers + 1) * config.hidden
    assert decoder.nbytes == 2 * decoder.parameters + 2 * norms  # norms are fp32
