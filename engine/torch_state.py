"""Saved keys and values as bytes, and back.

A header with everything the bytes depend on, then block by block: index, which rows, whether
packed, and the rows themselves. Nothing is unpickled. The bytes carry no checksum (the cache file
has one a block) but their form is checked to the last byte.
"""

from __future__ import annotations

import struct
import zlib

import numpy as np
import torch
from torch import Tensor

from engine.backend import SavedState
from engine.errors import RestoreError
from engine.kv_blocks import BlockShape, Rows
from engine.kv_quantize import PackedBlock, empty_packed
from engine.torch_cells import Piece

_HEADER = struct.Struct("<4sII")  # magic, CRC of the layout, pieces
_PIECE = struct.Struct("<I?3x")  # block index, packed
_MAGIC = b"CBT1"


def encode_state(pieces: list[Piece], shape: BlockShape, layout: str) -> bytes:
    """The bytes of `pieces`, for a backend of the same layout."""
    parts = [_HEADER.pack(_MAGIC, zlib.crc32(layout.encode()), len(pieces))]
    for piece in pieces:
        packed = isinstance(piece.data, PackedBlock)
        parts += [_PIECE.pack(piece.index, packed), np.packbits(piece.rows).tobytes()]
        rows = torch.from_numpy(piece.rows)
        if isinstance(piece.data, PackedBlock):
            parts += [
                _bytes(piece.data.key_exponents),
                _bytes(piece.data.value_exponents[..., rows]),
                _bytes(piece.data.numbers[..., rows, :]),
            ]
        else:
            whole = bool(piece.rows.all())
            parts.append(_bytes(piece.data if whole else piece.data[..., rows, :]))
    return b"".join(parts)


def decode_state(state: SavedState, shape: BlockShape, layout: str) -> list[Piece]:
    """The pieces that `encode_state` wrote, each in memory of its own.

    Raises RestoreError where the bytes are cut short, too long or of another layout.
    """
    reader = _Reader(state)
    magic, checksum, count = _HEADER.unpack(reader.take(_HEADER.size))
    if magic != _MAGIC or checksum != zlib.crc32(layout.encode()):
        raise RestoreError("The saved state belongs to another model, type or version.")
    pieces = [_decode_piece(reader, shape) for _ in range(count)]
    reader.finish()
    return pieces


class _Reader:
    """Bytes taken from the front; never more than there are."""

    def __init__(self, state: SavedState) -> None:
        self._view, self._at = memoryview(state), 0

    def take(self, size: int) -> memoryview:
        part = self._view[self._at : self._at + size]
        if len(part) != size:
            raise RestoreError("The saved state is cut short.")
        self._at += size
        return part

    def tensor(self, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
        """A copy of the next bytes as a tensor."""
        part = self.take(int(np.prod(shape)) * dtype.itemsize)
        numbers = np.frombuffer(part, np.uint8).copy()
        return torch.from_numpy(numbers).view(dtype).view(shape)

    def finish(self) -> None:
        if self._at != len(self._view):
            raise RestoreError("The saved state is longer than it should be.")


def _decode_piece(reader: _Reader, shape: BlockShape) -> Piece:
    index, packed = _PIECE.unpack(reader.take(_PIECE.size))
    bits = np.frombuffer(reader.take(shape.tokens // 8), np.uint8)
    rows: Rows = np.unpackbits(bits).astype(np.bool_)
    layers, _, kv_heads, _, head_dim = shape.dims
    count, chosen = int(np.count_nonzero(rows)), torch.from_numpy(rows)
    if packed and not shape.packed:
        raise RestoreError("The saved state belongs to another model, type or version.")
    if packed:
        block = empty_packed(shape.dims, torch.device("cpu"))
        block.storage.zero_()
        block.key_exponents.copy_(reader.tensor((layers, kv_heads, head_dim), torch.int8))
        block.value_exponents[..., chosen] = reader.tensor((layers, kv_heads, count), torch.int8)
        numbers = reader.tensor((layers, 2, kv_heads, count, head_dim), torch.int8)
        block.numbers[..., chosen, :] = numbers
        return Piece(index, rows, block)
    values = reader.tensor((layers, 2, kv_heads, count, head_dim), shape.dtype)
    if count == shape.tokens:
        return Piece(index, rows, values)
    data = torch.zeros(shape.dims, dtype=shape.dtype)
    data[..., chosen, :] = values
    return Piece(index, rows, data)


def _bytes(tensor: Tensor) -> bytes:
    return tensor.contiguous().view(torch.uint8).numpy().tobytes()
