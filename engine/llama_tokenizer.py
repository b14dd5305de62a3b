"""llama.cpp's tokenizer of a loaded model. It knows a vocabulary and no context."""

from __future__ import annotations

import ctypes
from typing import Any

from engine.types import TokenId

_SENTENCEPIECE = 1
_LEAD = "\n"


class LlamaTokenizer:
    """Implements `engine.backend.Tokenizer`.

    Args:
        library: llama.cpp's functions.
        vocabulary: the model's `llama_vocab`, which must outlive this object.
    """

    def __init__(self, library: Any, vocabulary: Any) -> None:
        self._library, self._vocabulary = library, vocabulary
        self._size = library.llama_vocab_n_tokens(vocabulary)
        self._end_tokens = frozenset(
            token for token in range(self._size) if library.llama_vocab_is_eog(vocabulary, token)
        )
        self._lead: list[TokenId] = []
        if library.llama_vocab_type(vocabulary) == _SENTENCEPIECE:
            # Such a tokenizer puts a space before every text; behind a line break it doesn't.
            self._lead = self._tokenize(_LEAD, special=False)

    @property
    def end_tokens(self) -> frozenset[TokenId]:
        return self._end_tokens

    @property
    def begin_token(self) -> TokenId | None:
        if not self._library.llama_vocab_get_add_bos(self._vocabulary):
            return None
        token = int(self._library.llama_vocab_bos(self._vocabulary))
        return token if token >= 0 else None

    @property
    def marks(self) -> tuple[str, str]:
        """Texts of the BOS and EOS tokens, for chat templates that write them."""
        begin = self._library.llama_vocab_bos(self._vocabulary)
        end = self._library.llama_vocab_eos(self._vocabulary)
        return self._text(begin), self._text(end)

    def encode(self, text: str, *, special: bool = False) -> list[TokenId]:
        """Ids of `text`, without BOS."""
        if not text:
            return []
        if self._lead:
            ids = self._tokenize(_LEAD + text, special=special)
            if ids[: len(self._lead)] == self._lead:
                return ids[len(self._lead) :]
        return self._tokenize(text, special=special)

    def piece(self, token: TokenId) -> bytes:
        """Raw bytes of a token; empty for a control token."""
        if not 0 <= token < self._size:
            raise ValueError(f"token {token} isn't in the vocabulary of {self._size}")
        size = 32
        while True:
            buffer = (ctypes.c_char * size)()
            written = self._library.llama_token_to_piece(
                self._vocabulary, token, buffer, size, 0, False
            )
            if written >= 0:
                return buffer.raw[:written]
            size = -written

    def _text(self, token: TokenId) -> str:
        if token < 0:
            return ""
        raw = self._library.llama_vocab_get_text(self._vocabulary, token)
        return raw.decode("utf-8", "replace") if raw else ""

    def _tokenize(self, text: str, *, special: bool) -> list[TokenId]:
        data = text.encode("utf-8", "replace")
        room = len(data) + 8
        while True:
            buffer = (ctypes.c_int32 * room)()
            count = self._library.llama_tokenize(
                self._vocabulary, data, len(data), buffer, room, False, special
            )
            if count >= 0:
                return buffer[:count]
            room = -count
