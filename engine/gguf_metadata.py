"""Reads what a GGUF file says of itself: metadata and the places of its tensors.

Every length is checked against the file before anything is taken from it, so that a damaged or
hostile file costs an error and nothing else. It reads no tensor and knows no model.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from engine.errors import ModelCorrupt

MAGIC = b"GGUF"
VERSIONS = (2, 3)
MOST_ENTRIES = 1 << 16
MOST_TENSORS = 1 << 20
MOST_DIMENSIONS = 8
KEPT_ARRAY = 1024
_STRING, _ARRAY = 8, 9
_SCALARS = {
    0: struct.Struct("<B"), 1: struct.Struct("<b"), 2: struct.Struct("<H"),
    3: struct.Struct("<h"), 4: struct.Struct("<I"), 5: struct.Struct("<i"),
    6: struct.Struct("<f"), 7: struct.Struct("<?"), 10: struct.Struct("<Q"),
    11: struct.Struct("<q"), 12: struct.Struct("<d"),
}  # fmt: skip
# Elements and bytes of a block, by ggml's type numbers.
BLOCKS = {
    0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34),
    9: (32, 36), 10: (256, 84), 11: (256, 110), 12: (256, 144), 13: (256, 176), 14: (256, 210),
    15: (256, 292), 16: (256, 66), 17: (256, 74), 18: (256, 98), 19: (256, 50), 20: (32, 18),
    21: (256, 110), 22: (256, 82), 23: (256, 136), 24: (1, 1), 25: (1, 2), 26: (1, 4), 27: (1, 8),
    28: (1, 8), 29: (256, 56), 30: (1, 2), 34: (256, 54), 35: (256, 66), 39: (32, 17),
}  # fmt: skip

Scalar = int | float | bool | str
Value = Scalar | list[Scalar]


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor's name, element count, and bytes start ≤ b < stop in the file.

    `stop` is `start` if the type is one this program doesn't know.

    Attributes:
        shape: rows first (the file has them last).
        kind: ggml's number of the type.
    """

    name: str
    elements: int
    start: int
    stop: int
    shape: tuple[int, ...] = ()
    kind: int = 0


@dataclass(frozen=True, slots=True)
class Metadata:
    """What stands before the tensors.

    Attributes:
        values: by key; of long arrays (a vocabulary) the first KEPT_ARRAY entries.
        lengths: lengths of the arrays, by key.
        data_start: where the tensors' bytes begin.
    """

    values: dict[str, Value]
    lengths: dict[str, int]
    tensors: tuple[Tensor, ...]
    data_start: int

    def number(self, key: str, default: int = 0) -> int:
        """A whole number, or the largest of an array of them."""
        value = self.values.get(key, default)
        if isinstance(value, list):
            numbers = [one for one in value if isinstance(one, int)]
            return max(numbers, default=default)
        return value if isinstance(value, int) else default

    def text(self, key: str) -> str:
        """A string, or ""."""
        value = self.values.get(key, "")
        return value if isinstance(value, str) else ""


def read_metadata(data: memoryview) -> Metadata:
    """Reads the head of a GGUF file that is mapped whole. Raises ModelCorrupt."""
    if bytes(data[:4]) != MAGIC:
        raise ModelCorrupt("it isn't a GGUF file")
    reader = _Reader(data)
    version, tensors, entries = reader.number(4), reader.number(10), reader.number(10)
    if version not in VERSIONS:
        raise ModelCorrupt(f"it has GGUF version {version}, not one of {VERSIONS}")
    if tensors > MOST_TENSORS or entries > MOST_ENTRIES:
        raise ModelCorrupt("its header is damaged")
    values: dict[str, Value] = {}
    lengths: dict[str, int] = {}
    for _ in range(entries):
        key = reader.string()
        kind = reader.number(4)
        if kind == _ARRAY:
            values[key], lengths[key] = reader.array()
        else:
            values[key] = reader.scalar(kind)
    heads = [reader.tensor() for _ in range(tensors)]
    alignment = values.get("general.alignment", 32)
    if not isinstance(alignment, int) or alignment < 1 or alignment > 1 << 20:
        raise ModelCorrupt("its header is damaged")
    start = -(-reader.at // alignment) * alignment
    return Metadata(values, lengths, tuple(_place(*head, start) for head in heads), start)


def _place(name: str, shape: list[int], kind: int, offset: int, start: int) -> Tensor:
    elements = 1
    for size in shape:
        elements *= size
    block, nbytes = BLOCKS.get(kind, (1, 0))
    begin = start + offset
    stop = begin + elements // block * nbytes
    return Tensor(name, elements, begin, stop, tuple(reversed(shape)), kind)


class _Reader:
    """Takes values from the head, one after another."""

    def __init__(self, data: memoryview) -> None:
        self._data = data
        self.at = 4

    def number(self, kind: int) -> int:
        value = self.scalar(kind)
        assert isinstance(value, int)
        return value

    def scalar(self, kind: int) -> Scalar:
        if kind == _STRING:
            return self.string()
        form = _SCALARS.get(kind)
        if form is None:
            raise ModelCorrupt(f"its header has an unknown type, {kind}")
        value: Scalar = form.unpack(self._take(form.size))[0]
        return value

    def string(self) -> str:
        length = self.number(10)
        return bytes(self._take(length)).decode("utf-8", "replace")

    def array(self) -> tuple[list[Scalar], int]:
        """The first entries, and how many there are."""
        kind, count = self.number(4), self.number(10)
        if kind == _ARRAY or count > len(self._data):
            raise ModelCorrupt("its header is damaged")
        kept = [self.scalar(kind) for _ in range(min(count, KEPT_ARRAY))]
        left = count - len(kept)
        if kind == _STRING:
            self._skip_strings(left)
        else:
            self._take(left * _SCALARS[kind].size if left else 0)
        return kept, count

    def tensor(self) -> tuple[str, list[int], int, int]:
        """Name, shape, type and offset."""
        name = self.string()
        dimensions = self.number(4)
        if dimensions > MOST_DIMENSIONS:
            raise ModelCorrupt("its header is damaged")
        shape = [self.number(10) for _ in range(dimensions)]
        return name, shape, self.number(4), self.number(10)

    def _skip_strings(self, count: int) -> None:
        data, size, at = self._data, len(self._data), self.at
        unpack = struct.Struct("<Q").unpack_from
        for _ in range(count):
            if at + 8 > size:
                raise ModelCorrupt("it is cut short")
            at += 8 + unpack(data, at)[0]
        self.at = at
        self._take(0)

    def _take(self, size: int) -> memoryview:
        stop = self.at + size
        if stop > len(self._data):
            raise ModelCorrupt("it is cut short")
        piece = self._data[self.at : stop]
        self.at = stop
        return piece
