"""Which decoder is taken for which options, and what is said when there is none."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from engine import load
from engine.errors import BackendUnavailable, ModelCorrupt, ModelNotFound, UnsupportedModel
from engine.fake_backend import FakeBackend
from engine.types import EngineOptions
from tests.engine.gguf_files import write_model


def test_cells_are_the_window_and_a_quarter() -> None:
    assert load.cells_of(EngineOptions(Path("m"), window=4096)) == 5120
    assert load.cells_of(EngineOptions(Path("m"), cells=300)) == 300


def test_the_fake_needs_no_model() -> None:
    backend = load.load_backend(EngineOptions(Path("none"), "fake", window=512, sequences=3))
    assert isinstance(backend, FakeBackend)
    assert (backend.free_cells, backend.batch) == (640, 128)


@pytest.mark.parametrize("name", ["auto", "llama.cpp", "torch"])
def test_a_missing_model_is_named(name: str, tmp_path: Path) -> None:
    with pytest.raises(ModelNotFound, match="no model"):
        load.load_backend(EngineOptions(tmp_path / "none.gguf", name))  # type: ignore[arg-type]


def test_a_folder_is_not_for_llama(tmp_path: Path) -> None:
    with pytest.raises(BackendUnavailable, match="is a folder"):
        load.load_backend(EngineOptions(tmp_path, "llama.cpp"))


@pytest.mark.parametrize("asked", ["torch", "auto"])
def test_torch_that_is_missing_is_named(
    asked: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "engine.torch_load", None)
    with pytest.raises(BackendUnavailable, match=r"clausebook\[torch\]"):
        load.load_backend(EngineOptions(tmp_path, asked))  # type: ignore[arg-type]


def test_where_torch_fails_llama_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "has_gpu", lambda: True)
    monkeypatch.setitem(sys.modules, "engine.torch_load", None)
    monkeypatch.setattr(load, "_llama", lambda options: FakeBackend(salt=5))
    path = write_model(tmp_path / "m.gguf")
    assert load.load_backend(EngineOptions(path)).info.fingerprint == "fake-5"


def test_no_gpu_means_llama_and_torch_is_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load, "_has_nvidia", lambda: False)
    monkeypatch.setattr(load, "_llama", lambda options: FakeBackend(salt=6))
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    path = write_model(tmp_path / "m.gguf")
    assert load.load_backend(EngineOptions(path)).info.fingerprint == "fake-6"


def test_without_torch_there_is_no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert load.has_gpu() is False


def test_a_model_that_llama_cannot_use_is_named(tmp_path: Path) -> None:
    pytest.importorskip("llama_cpp")
    strange = write_model(tmp_path / "strange.gguf", general__architecture="nosuch")
    with pytest.raises(UnsupportedModel, match="nosuch"):
        load.load_backend(EngineOptions(strange, "llama.cpp"))
    hollow = write_model(tmp_path / "hollow.gguf")
    with pytest.raises(ModelCorrupt, match=r"hollow\.gguf can't be loaded"):
        load.load_backend(EngineOptions(hollow, "llama.cpp"))
