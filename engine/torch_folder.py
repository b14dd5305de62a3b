"""A Hugging Face folder as a model: its files, checked, and what they say.

It knows file names. What the numbers in config.json mean is in `torch_config_hf`, the tokenizer
in `torch_tokenizer`.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import ModelCorrupt, ModelNotFound

_SAMPLE = 1 << 16


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """Paths and parsed settings of a folder.

    Attributes:
        config: config.json. generation: generation_config.json, empty if absent.
        weights: the safetensors files, in order.
        chat_template: jinja2 source, empty if the model has none.
    """

    path: Path
    config: dict[str, Any]
    generation: dict[str, Any]
    tokenizer_config: dict[str, Any]
    weights: tuple[Path, ...]
    chat_template: str

    @property
    def tokenizer(self) -> Path:
        """The tokenizers library's file."""
        return self.path / "tokenizer.json"

    def fingerprint(self) -> str:
        """SHA-256 over the settings, the tensor headers and samples of the tensor data."""
        digest = hashlib.sha256(json.dumps(self.config, sort_keys=True).encode())
        for path in self.weights:
            size = path.stat().st_size
            digest.update(f"{path.name}:{size}".encode())
            with path.open("rb") as file:
                for offset in sorted({0, size // 3, 2 * size // 3, max(0, size - _SAMPLE)}):
                    file.seek(offset)
                    digest.update(file.read(_SAMPLE))
        return digest.hexdigest()


def open_folder(path: Path) -> ModelFolder:
    """Finds a folder's files. Raises ModelNotFound, ModelCorrupt."""
    config = _read_json(path / "config.json")
    if not config:
        raise ModelNotFound(f"{path} has no config.json; choose a model folder or a GGUF file.")
    settings = _read_json(path / "tokenizer_config.json")
    return ModelFolder(
        path=path,
        config=config,
        generation=_read_json(path / "generation_config.json"),
        tokenizer_config=settings,
        weights=_weight_files(path),
        chat_template=_chat_template(path, settings),
    )


def _read_json(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ModelCorrupt(f"{path} isn't valid JSON; get the model again.") from error
    if not isinstance(value, dict):
        raise ModelCorrupt(f"{path} doesn't hold an object; get the model again.")
    return value


def _weight_files(path: Path) -> tuple[Path, ...]:
    index = _read_json(path / "model.safetensors.index.json")
    names = sorted(set(index.get("weight_map", {}).values())) or ["model.safetensors"]
    for name in names:
        if Path(name).name != name:
            raise ModelCorrupt(f"{path} lists a weight file outside the folder: {name}.")
        if not (path / name).is_file():
            raise ModelNotFound(f"{path / name} is missing; get the model again, as safetensors.")
    return tuple(path / name for name in names)


def _chat_template(path: Path, settings: dict[str, Any]) -> str:
    file = path / "chat_template.jinja"
    if file.is_file():
        return file.read_text(encoding="utf-8")
    template = settings.get("chat_template") or ""
    if isinstance(template, list):  # several named templates
        named = {entry.get("name"): entry.get("template", "") for entry in template}
        template = named.get("default", "")
    return str(template)
