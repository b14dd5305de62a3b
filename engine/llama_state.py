"""How llama.cpp's saved states are wrapped: what they hold, checked before the library sees them.

llama.cpp trusts a state's content; positions out of range would end the process. So each state
says which positions it holds, and the list inside it is compared with that.

    b"LLKV", version u32, form u64 (of the layout), count of ranges u32, count of parts u32,
    ranges: start u32, stop u32; parts: size u64; then the parts, each for one or more ranges
"""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass

import numpy as np

from engine.errors import RestoreError

MAGIC, VERSION = b"LLKV", 1
MOST_RANGES = 1 << 16
_HEAD = struct.Struct("<4sIQII")
_RANGE = struct.Struct("<II")
_SIZE = struct.Struct("<Q")
_PART = struct.Struct("<IiII")  # llama.cpp's mark and sequence; streams, cells
_CELL = np.dtype([("position", "<i4"), ("sequences", "<u4"), ("sequence", "<i4")])
_CUT = "The saved state is cut short or too long."


@dataclass(frozen=True, slots=True)
class State:
    """A saved state, taken apart."""

    ranges: list[tuple[int, int]]
    parts: list[memoryview]

    @property
    def count(self) -> int:
        """Cells that it holds."""
        return sum(stop - start for start, stop in self.ranges)


def form_of(layout: str) -> int:
    """A number for a layout."""
    return int.from_bytes(hashlib.blake2b(layout.encode(), digest_size=8).digest(), "little")


def pack_head(form: int, ranges: list[tuple[int, int]], sizes: list[int]) -> bytes:
    """What stands before the parts."""
    head = _HEAD.pack(MAGIC, VERSION, form, len(ranges), len(sizes))
    return head + b"".join(
        [_RANGE.pack(*one) for one in ranges] + [_SIZE.pack(size) for size in sizes]
    )


def unpack(state: bytes | bytearray | memoryview, form: int) -> State:
    """Takes a state apart. Raises RestoreError."""
    data = memoryview(state).cast("B")
    if len(data) < _HEAD.size:
        raise RestoreError(_CUT)
    magic, version, found, ranges, parts = _HEAD.unpack_from(data)
    if magic != MAGIC or version != VERSION or found != form:
        raise RestoreError("The saved state belongs to another model, build or kind of cache.")
    at = _HEAD.size
    body = at + ranges * _RANGE.size + parts * _SIZE.size
    if max(ranges, parts) > MOST_RANGES or body > len(data):
        raise RestoreError(_CUT)
    spans = [_RANGE.unpack_from(data, at + n * _RANGE.size) for n in range(ranges)]
    at += ranges * _RANGE.size
    sizes = [_SIZE.unpack_from(data, at + n * _SIZE.size)[0] for n in range(parts)]
    if body + sum(sizes) != len(data):
        raise RestoreError(_CUT)
    last = -1
    for start, stop in spans:
        if not last <= start < stop <= 1 << 31:
            raise RestoreError("The saved state's positions are damaged.")
        last = stop
    pieces = []
    for size in sizes:
        pieces.append(data[body : body + size])
        body += size
    return State([(start, stop) for start, stop in spans], pieces)


def check_positions(state: State) -> None:
    """Compares the positions inside the parts with those outside. Raises RestoreError.

    Only for models with plain attention, whose parts begin with one list of cells.
    """
    found: list[np.ndarray] = []
    for part in filter(len, state.parts):
        if len(part) < _PART.size:
            raise RestoreError(_CUT)
        _, _, streams, count = _PART.unpack_from(part)
        if streams != 1 or _PART.size + count * _CELL.itemsize > len(part):
            raise RestoreError("The saved state is damaged.")
        cells = np.frombuffer(part, dtype=_CELL, count=count, offset=_PART.size)
        if np.any(cells["sequences"] != 1):
            raise RestoreError("The saved state is damaged.")
        found.append(cells["position"])
    wanted = [np.arange(start, stop) for start, stop in state.ranges]
    inside = np.sort(np.concatenate(found)) if found else np.empty(0)
    outside = np.concatenate(wanted) if wanted else np.empty(0)
    if not np.array_equal(inside, outside):
        raise RestoreError("The saved state's positions are damaged.")
