"""The torch decoder's tokenizers: llama.cpp's for a GGUF file, `tokenizers` for a folder.

A GGUF file's text becomes the same ids in both backends, because the same code makes them.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

from engine.errors import ModelCorrupt, ModelNotFound
from engine.llama_library import load_library
from engine.llama_tokenizer import LlamaTokenizer
from engine.torch_folder import ModelFolder
from engine.types import TokenId

_LEAD = "\n"
_BYTE = re.compile(r"<0x([0-9A-F]{2})>")


class GgufVocabulary:
    """llama.cpp's tokenizer of a file, without its weights; close it after use."""

    def __init__(self, path: Path) -> None:
        self._library: Any = load_library()
        parameters = self._library.llama_model_default_params()
        parameters.vocab_only = True
        self._model = self._library.llama_model_load_from_file(os.fsencode(path), parameters)
        if self._model is None:
            raise ModelCorrupt(f"{path.name} has no usable vocabulary; download it again.")
        vocabulary = self._library.llama_model_get_vocab(self._model)
        self.tokenizer = LlamaTokenizer(self._library, vocabulary)

    @property
    def chat_template(self) -> str:
        """The file's jinja2 chat template; empty if it has none."""
        raw = self._library.llama_model_chat_template(self._model, None)
        return raw.decode("utf-8", "replace") if raw else ""

    def close(self) -> None:
        """Frees the vocabulary; the tokenizer can't be used afterwards."""
        if self._model is not None:
            self._library.llama_model_free(self._model)
            self._model = None


class FolderTokenizer:
    """The tokenizer of a Hugging Face folder, by the `tokenizers` library.

    Raises:
        ModelNotFound: the folder has no tokenizer.json.
        ModelCorrupt: it can't be read.
    """

    def __init__(self, folder: ModelFolder) -> None:
        from tokenizers import Tokenizer

        if not folder.tokenizer.is_file():
            raise ModelNotFound(f"{folder.tokenizer} is missing; get the model again.")
        try:
            self._tokenizer = Tokenizer.from_file(str(folder.tokenizer))
        except Exception as error:  # the library raises no other
            raise ModelCorrupt(f"{folder.tokenizer} can't be read; get the model again.") from error
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        added = self._tokenizer.get_added_tokens_decoder()
        self._special = {number for number, token in added.items() if token.special}
        self._added = {number: token.content for number, token in added.items()}
        decoder = json.loads(self._tokenizer.to_str()).get("decoder")
        self._bytes = _byte_alphabet() if '"ByteLevel"' in json.dumps(decoder) else {}
        self._end_tokens = self._ids_of_ends(folder)
        self._begin_token = self._id_of_begin()
        first = self._ids("a", special=False)[:1]
        self._lead = self._ids(_LEAD, special=False) if self._puts_space(first) else []

    @property
    def end_tokens(self) -> frozenset[TokenId]:
        return self._end_tokens

    @property
    def begin_token(self) -> TokenId | None:
        return self._begin_token

    def encode(self, text: str, *, special: bool = False) -> list[TokenId]:
        """Ids of `text`, without BOS and without a space that isn't in the text."""
        if not text:
            return []
        if self._lead:
            ids = self._ids(_LEAD + text, special=special)
            if ids[: len(self._lead)] == self._lead:
                return ids[len(self._lead) :]
        return self._ids(text, special=special)

    def piece(self, token: TokenId) -> bytes:
        """Raw bytes of a token; empty for a control token."""
        if token in self._special:
            return b""
        if token in self._added:
            return self._added[token].encode()
        text = self._tokenizer.id_to_token(token)
        if text is None:
            raise ValueError(f"token {token} isn't in the vocabulary")
        if self._bytes:
            return bytes(self._bytes[character] for character in text)
        match = _BYTE.fullmatch(text)
        return bytes([int(match[1], 16)]) if match else str(text).replace("▁", " ").encode()

    def _ids(self, text: str, *, special: bool) -> list[TokenId]:
        self._tokenizer.encode_special_tokens = not special  # the library's sense: as plain text
        return list(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def _puts_space(self, ids: list[TokenId]) -> bool:
        return any(self.piece(token).startswith(b" ") for token in ids)

    def _ids_of_ends(self, folder: ModelFolder) -> frozenset[TokenId]:
        found: set[TokenId | None] = set()
        for settings in (folder.generation, folder.config):
            value = settings.get("eos_token_id")
            found.update(value if isinstance(value, list) else [value])
        named = folder.tokenizer_config.get("eos_token")
        name = named.get("content") if isinstance(named, dict) else named
        if name:
            found.add(self._tokenizer.token_to_id(name))
        return frozenset(token for token in found if token is not None)

    def _id_of_begin(self) -> TokenId | None:
        """What the tokenizer itself puts before a text."""
        plain = self._tokenizer.encode("a", add_special_tokens=False).ids
        whole = self._tokenizer.encode("a", add_special_tokens=True).ids
        first = whole[0] if len(whole) > len(plain) else None
        return int(first) if first in self._special else None


def _byte_alphabet() -> dict[str, int]:
    """GPT-2's one character for each byte, the other way round."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    alphabet = {chr(byte): byte for byte in printable}
    alphabet.update({chr(256 + number): byte for number, byte in enumerate(others)})
    return alphabet
