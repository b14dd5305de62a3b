"""Reading safetensors files by rows, without mapping them into memory.

A safetensors file is eight bytes of length, a JSON header and the tensors one after another.
Mapped pages would count towards the process's memory until the kernel takes them back; reading
slices keeps the peak at the model plus one slice.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from engine.errors import ModelCorrupt, UnsupportedModel

_TYPES = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}
_LONGEST_HEADER = 100 << 20


@dataclass(frozen=True, slots=True)
class _Stored:
    file: Path
    dtype: torch.dtype
    shape: tuple[int, ...]
    offset: int


class SafetensorsFile:
    """The tensors of one or more safetensors files as one `TensorFile`."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._stored: dict[str, _Stored] = {}
        for path in paths:
            self._stored.update(_read_header(path))

    def names(self) -> Iterable[str]:
        """Every tensor's name."""
        return self._stored.keys()

    def shape(self, name: str) -> tuple[int, ...]:
        """The tensor's shape, rows first."""
        return self._stored[name].shape

    def rows(self, name: str, start: int, stop: int) -> Tensor:
        """Rows start … stop, in the file's type."""
        stored = self._stored[name]
        columns = 1
        for size in stored.shape[1:]:
            columns *= size
        width = columns * stored.dtype.itemsize
        data = bytearray((stop - start) * width)
        with stored.file.open("rb") as file:
            file.seek(stored.offset + start * width)
            if file.readinto(data) != len(data):
                raise ModelCorrupt(f"{stored.file.name} is cut short; get the model again.")
        return torch.frombuffer(data, dtype=stored.dtype).view(stop - start, *stored.shape[1:])


def _read_header(path: Path) -> dict[str, _Stored]:
    damaged = ModelCorrupt(f"{path.name} isn't a safetensors file or is cut short; get it again.")
    size = path.stat().st_size
    with path.open("rb") as file:
        start = file.read(8)
        length = struct.unpack("<Q", start)[0] if len(start) == 8 else 0
        if not 2 <= length <= min(_LONGEST_HEADER, size - 8):
            raise damaged
        try:
            header = json.loads(file.read(length))
            return {
                name: _stored(path, name, entry, 8 + length, size)
                for name, entry in header.items()
                if name != "__metadata__"
            }
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise damaged from error


def _stored(path: Path, name: str, entry: dict[str, Any], base: int, size: int) -> _Stored:
    kind = str(entry["dtype"])
    if kind not in _TYPES:
        raise UnsupportedModel(
            f"The tensor {name} is stored as {kind}, which the torch decoder doesn't read; "
            "choose the model in 16 or 32 bits, or a GGUF file."
        )
    shape = tuple(int(side) for side in entry["shape"])
    start, stop = entry["data_offsets"]
    numbers = 1
    for side in shape:
        numbers *= side
    if stop - start != numbers * _TYPES[kind].itemsize or base + stop > size:
        raise ModelCorrupt(f"{path.name} is cut short; get the model again.")
    return _Stored(path, _TYPES[kind], shape, base + start)
