"""Model files: what they say of themselves, and what is refused before a backend sees it."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from engine.errors import ModelCorrupt, ModelError, ModelNotFound
from engine.gguf_metadata import KEPT_ARRAY, read_metadata
from engine.model_file import read_model_file
from tests.engine.gguf_files import gguf, model_values, write_model


def test_a_model_is_described(tmp_path: Path) -> None:
    model = read_model_file(write_model(tmp_path / "Tiny Model.gguf"))
    assert model.name == "Tiny Model"
    assert (model.architecture, model.layers, model.vocabulary) == ("llama", 2, 3)
    assert (model.trained_context, model.parameters, model.window) == (512, 32, 0)
    assert model.kv_elements() == (2 * 2 * 16, 2 * 2 * 16)
    assert len(model.fingerprint) == 64


def test_keys_and_values_may_have_widths_of_their_own(tmp_path: Path) -> None:
    path = write_model(
        tmp_path / "m.gguf",
        llama__attention__key_length=32,
        llama__attention__value_length=8,
        llama__attention__head_count_kv=[2, 0],
        llama__attention__sliding_window=128,
    )
    model = read_model_file(path)
    assert model.kv_elements() == (2 * 32, 2 * 8)
    assert model.window == 128


def test_heads_are_as_many_as_queries_if_nothing_else_is_said(tmp_path: Path) -> None:
    values = model_values()
    del values["llama.attention.head_count_kv"]
    path = tmp_path / "m.gguf"
    path.write_bytes(gguf(values))
    assert read_model_file(path).kv_elements() == (2 * 4 * 16, 2 * 4 * 16)


def test_long_arrays_are_counted_not_kept(tmp_path: Path) -> None:
    words = [f"w{n}" for n in range(3000)]
    path = write_model(tmp_path / "m.gguf", tokenizer__ggml__tokens=words)
    model = read_model_file(path)
    assert model.vocabulary == 3000
    kept = model.metadata.values["tokenizer.ggml.tokens"]
    assert kept == words[:KEPT_ARRAY]
    assert model.metadata.number("tokenizer.ggml.token_type") == 3
    assert model.metadata.text("general.name") == "Tiny"
    assert model.metadata.text("llama.block_count") == ""
    assert model.metadata.number("general.name", 7) == 7


def test_the_fingerprint_changes_with_the_weights_and_the_metadata(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    prints = []
    for data in (b"\1" * 128, b"\1" * 64 + b"\2" * 64):
        path.write_bytes(gguf(model_values(), data=data))
        prints.append(read_model_file(path).fingerprint)
    path.write_bytes(gguf(model_values(llama__context_length=513), data=b"\1" * 128))
    prints.append(read_model_file(path).fingerprint)
    assert len(set(prints)) == 3
    path.write_bytes(gguf(model_values(), data=b"\1" * 128))
    assert read_model_file(path).fingerprint == prints[0]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "empty"),
        (b"GGUF", "cut short"),
        (b"\x89PNG....................", "isn't a GGUF"),
        (gguf(model_values(), version=1), "version 1"),
        (gguf(model_values())[:-40], "cut short"),
        (gguf(model_values())[:200], "cut short"),
        (gguf({"general.architecture": "llama"}, []), "holds no model"),
        (gguf({"general.name": "x"}), "holds no model"),
        (gguf(model_values(general__alignment=0)), "damaged"),
        (gguf(model_values(), [("t", [1] * 9, 0)]), "damaged"),
        (b"GGUF" + b"\3\0\0\0" + b"\xff" * 16, "damaged"),
    ],
)
def test_what_is_no_model_is_refused_by_name(tmp_path: Path, data: bytes, says: str) -> None:
    path = tmp_path / "broken.gguf"
    path.write_bytes(data)
    with pytest.raises(ModelCorrupt, match=says) as caught:
        read_model_file(path)
    assert "broken.gguf" in str(caught.value)
    assert "download" in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFound, match="no model file"):
        read_model_file(tmp_path / "none.gguf")
    with pytest.raises(ModelNotFound, match="no model file"):
        read_model_file(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file_is_named(tmp_path: Path) -> None:
    path = write_model(tmp_path / "m.gguf")
    path.chmod(0)
    with pytest.raises(ModelNotFound, match="can't be read"):
        read_model_file(path)


def test_an_unknown_tensor_type_has_no_known_end() -> None:
    tensor = read_metadata(memoryview(gguf(model_values(), [("t", [8, 4], 99)]))).tensors[0]
    assert tensor.start == tensor.stop
    assert tensor.elements == 32


def test_no_damage_does_more_than_raise(tmp_path: Path) -> None:
    whole = gguf(model_values())
    chance = random.Random(5)
    refused = 0
    path = tmp_path / "m.gguf"
    for _ in range(500):
        data = bytearray(whole)
        for _ in range(chance.randint(1, 4)):
            data[chance.randrange(len(whole) - 128)] = chance.randrange(256)
        path.write_bytes(bytes(data[: chance.randint(1, len(data))]))
        try:
            read_model_file(path)
        except ModelError:
            refused += 1
    assert refused > 400


@pytest.mark.model
def test_the_default_model(model_path: Path, tmp_path: Path) -> None:
    model = read_model_file(model_path)
    assert (model.architecture, model.layers, model.vocabulary) == ("llama", 30, 49152)
    assert model.parameters == 134_515_008
    assert sum(model.kv_elements()) * 2 == 23_040
    cut = tmp_path / "half.gguf"
    with model_path.open("rb") as whole:
        cut.write_bytes(whole.read(model_path.stat().st_size // 2))
    with pytest.raises(ModelCorrupt, match="cut short"):
        read_model_file(cut)
