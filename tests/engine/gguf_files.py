"""Writes small GGUF files for tests of what reads them."""

from __future__ import annotations

import struct
from pathlib import Path

Values = dict[str, object]


def string(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def value(item: object) -> bytes:
    if isinstance(item, bool):
        return struct.pack("<I?", 7, item)
    if isinstance(item, int):
        return struct.pack("<II", 4, item)
    if isinstance(item, float):
        return struct.pack("<If", 6, item)
    if isinstance(item, str):
        return struct.pack("<I", 8) + string(item)
    assert isinstance(item, list)
    kind = {str: 8, float: 6}.get(type(item[0]) if item else int, 5)
    forms = {8: string, 6: struct.Struct("<f").pack, 5: struct.Struct("<i").pack}
    body = b"".join(forms[kind](one) for one in item)
    return struct.pack("<IIQ", 9, kind, len(item)) + body


def gguf(
    values: Values,
    tensors: list[tuple[str, list[int], int]] | None = None,
    *,
    version: int = 3,
    data: bytes | None = None,
) -> bytes:
    """A GGUF file; the tensors are F32 or whatever type number is given, 32-byte aligned."""
    tensors = [("token_embd.weight", [8, 4], 0)] if tensors is None else tensors
    head = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(values))
    head += b"".join(string(key) + value(item) for key, item in values.items())
    offset = 0
    for name, shape, kind in tensors:
        head += string(name) + struct.pack("<I", len(shape))
        head += b"".join(struct.pack("<Q", size) for size in shape)
        head += struct.pack("<IQ", kind, offset)
        elements = 1
        for size in shape:
            elements *= size
        offset += -(-elements * 4 // 32) * 32
    head += b"\0" * (-len(head) % 32)
    return head + (bytes(range(256)) * (offset // 256 + 1) if data is None else data)[:offset]


def model_values(**more: object) -> Values:
    return {
        "general.architecture": "llama",
        "general.name": "Tiny",
        "llama.block_count": 2,
        "llama.context_length": 512,
        "llama.embedding_length": 64,
        "llama.attention.head_count": 4,
        "llama.attention.head_count_kv": 2,
        "tokenizer.ggml.tokens": ["a", "b", "c"],
        "tokenizer.ggml.token_type": [1, 1, 3],
        "tokenizer.ggml.scale": 0.5,
        "tokenizer.ggml.add_bos_token": False,
    } | {key.replace("__", "."): item for key, item in more.items()}


def write_model(path: Path, **more: object) -> Path:
    path.write_bytes(gguf(model_values(**more)))
    return path
