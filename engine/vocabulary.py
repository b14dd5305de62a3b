"""All tokens of a tokenizer by their bytes, read once. It knows no model and no constraint."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from engine.backend import Tokenizer
from engine.types import TokenId


class Vocabulary:
    """The pieces of a tokenizer, and the tokens that spell the beginning of a text.

    Args:
        tokenizer: whose tokens.
        size: V; ids run from 0 to size - 1.

    Attributes:
        pieces: bytes of each token; empty for control tokens.
        end_tokens: ids that end an answer.
    """

    def __init__(self, tokenizer: Tokenizer, size: int) -> None:
        self.tokenizer = tokenizer
        self.pieces = [tokenizer.piece(token) for token in range(size)]
        self.end_tokens = tokenizer.end_tokens
        self._ids: dict[bytes, list[TokenId]] = {}
        self._longest: dict[bytes, int] = {}
        self._found: dict[tuple[str, bytes], list[TokenId]] = {}
        for token, piece in enumerate(self.pieces):
            if piece:
                self._ids.setdefault(piece, []).append(token)
                begin = piece[:2]
                self._longest[begin] = max(self._longest.get(begin, 1), len(piece))

    def __len__(self) -> int:
        return len(self.pieces)

    def spelled_by(self, piece: bytes) -> list[TokenId]:
        """Tokens whose bytes are exactly `piece`."""
        return self._ids.get(piece, [])

    def beginnings(self, text: bytes, start: int, stop: int) -> Iterator[TokenId]:
        """Tokens that spell text[start:n] for some n ≤ stop."""
        ids = self._ids
        longest = max(1, self._longest.get(text[start : start + 2], 1))
        for end in range(start + 1, min(stop, start + longest) + 1):
            found = ids.get(text[start:end])
            if found:
                yield from found

    def containing(self, mark: bytes) -> list[TokenId]:
        """Tokens with `mark` anywhere in their bytes; found once, then remembered."""
        return self._remember("containing", mark, lambda piece: mark in piece)

    def beginning_with(self, mark: bytes) -> list[TokenId]:
        """Tokens whose bytes begin with `mark`."""
        return self._remember("beginning", mark, lambda piece: piece.startswith(mark))

    def ending_with(self, mark: bytes) -> list[TokenId]:
        """Tokens whose bytes end with `mark`."""
        return self._remember("ending", mark, lambda piece: piece.endswith(mark))

    def _remember(self, how: str, mark: bytes, fits: Callable[[bytes], bool]) -> list[TokenId]:
        if (how, mark) not in self._found:
            found = [token for token, piece in enumerate(self.pieces) if fits(piece)]
            self._found[how, mark] = found
        return self._found[how, mark]
