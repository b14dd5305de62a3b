"""A tokenizer for tests whose tokens are cut where real ones are cut badly."""

from __future__ import annotations

from engine.vocabulary import Vocabulary

ODD = [
    b"",
    b"the ",
    b" the",
    b' "',
    b'"the',
    b'."',
    b'",',
    b'","',
    b'""',
    b'"x',
    b'a" b',
    "“".encode(),
    " “T".encode(),
    "”".encode(),
    "e” ".encode(),
    "”“".encode(),
    "”x“".encode(),
    b"\xe2\x80",
    b" \xe2\x80",
    b"\x9d.",
    b"\x9cthe",
    b"\x9d\xe2\x80",
    "第十".encode()[1:],
    "条款".encode()[:4],
]


class OddTokenizer:
    begin_token = None
    end_tokens = frozenset({256})

    def __init__(self, pieces: list[bytes] | None = None) -> None:
        self.pieces = [bytes([byte]) for byte in range(256)] + ODD if pieces is None else pieces

    def encode(self, text: str, *, special: bool = False) -> list[int]:
        return list(text.encode())

    def piece(self, token: int) -> bytes:
        return self.pieces[token]

    def vocabulary(self) -> Vocabulary:
        return Vocabulary(self, len(self.pieces))
