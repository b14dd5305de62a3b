"""A model loaded by llama.cpp, and what kind of attention it has. It knows no context."""

from __future__ import annotations

import os
import re
from typing import Any

from engine.errors import ModelCorrupt, UnsupportedModel
from engine.llama_library import last_errors
from engine.model_file import ModelFile
from engine.types import ModelInfo

_M_ROPE = (8, 40)
_UNKNOWN = re.compile(r"unknown model architecture: '([^']*)'")


class LlamaModel:
    """Weights and vocabulary.

    Args:
        library: llama.cpp's functions.
        file: the checked model file.

    Attributes:
        pointer: `llama_model`. vocabulary: `llama_vocab`.
        plain: every layer attends to all positions, so a part of a sequence can be dropped,
            saved and restored exactly. Not so with a sliding window, where llama.cpp silently
            reuses cells behind it, and in recurrent and hybrid models, which have no cells.
        two_dimensional: cells have more than one position, as in models that also see.

    Raises:
        UnsupportedModel: llama.cpp doesn't know the architecture, or it generates no text.
        ModelCorrupt: the file can't be loaded.
    """

    def __init__(self, library: Any, file: ModelFile) -> None:
        self._library, self.file = library, file
        last_errors()
        params = library.llama_model_default_params()
        self.pointer = library.llama_model_load_from_file(os.fsencode(file.path), params)
        if self.pointer is None:
            raise _load_error(file, last_errors())
        if not library.llama_model_has_decoder(self.pointer):
            self.close()
            raise UnsupportedModel(
                f"{file.name} ({file.architecture}) generates no text; choose another model."
            )
        self.vocabulary = library.llama_model_get_vocab(self.pointer)
        self.plain = not (
            library.llama_model_is_recurrent(self.pointer)
            or library.llama_model_is_hybrid(self.pointer)
            or library.llama_model_n_swa(self.pointer) > 0
        )
        self.two_dimensional = library.llama_model_rope_type(self.pointer) in _M_ROPE

    @property
    def chat_template(self) -> str:
        """The jinja2 source; empty if the file has none."""
        raw = self._library.llama_model_chat_template(self.pointer, None)
        return raw.decode("utf-8", "replace") if raw else ""

    def info(self, kv_bytes_per_token: int) -> ModelInfo:
        """The model's record."""
        return ModelInfo(
            name=self.file.name,
            architecture=self.file.architecture,
            fingerprint=self.file.fingerprint,
            vocabulary=self._library.llama_vocab_n_tokens(self.vocabulary),
            layers=self.file.layers,
            trained_context=self._library.llama_model_n_ctx_train(self.pointer),
            kv_bytes_per_token=kv_bytes_per_token,
            parameters=self.file.parameters,
            can_trim=self.plain,
        )

    def close(self) -> None:
        """Frees the weights."""
        if self.pointer is not None:
            self._library.llama_model_free(self.pointer)
            self.pointer = None


def _load_error(file: ModelFile, reason: str) -> UnsupportedModel | ModelCorrupt:
    unknown = _UNKNOWN.search(reason)
    if unknown:
        return UnsupportedModel(
            f"llama.cpp doesn't know the architecture {unknown[1]} of {file.path.name}; "
            "choose another model."
        )
    return ModelCorrupt(
        f"{file.path.name} can't be loaded ({reason or 'llama.cpp gave no reason'}); "
        "download it again or choose another."
    )
