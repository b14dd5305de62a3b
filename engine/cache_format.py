"""The cache file's format: how its head and index are laid out, checked and signed.

It knows bytes only: no paths, no backends. `cache_file` reads and writes files of this format.

A cache file holds the keys and values of one conversation (version 1, little endian):

    offset 0       head, 4,096 bytes, of which 80 are used:
                     magic      8s   b"CLAUSEKV"
                     version    u32
                     spare      u32  zero
                     commits    u64  commits since the file was made
                     index_at   u64  where the index is
                     index_size u64
                     end        u64  bytes that belong to the file as of this commit
                     nonce      12s  of the index
                     tag        16s  of the index
                     crc        u32  crc32 of the 76 bytes before
    anywhere after  blocks and one index, without overlap

    index          header_size u32, header: JSON object (at most 64 KiB): conversation, model
                     fingerprint, prompt hash (tokenizer and chat template), layout (backend,
                     build, KV types, everything the state's bytes depend on), bytes_per_token,
                     shared (key of the shared prefix file, or "")
                   count u32, then `count` entries of 80 bytes, in order of position:
                     position u32, length u32 (tokens), place u32 (index of the first token in the
                     transcript), flags u32 (1: written by prefill, so exact), offset u64,
                     size u64, nonce 12s, tag 16s, spare u32, context 16s (digest of the
                     transcript's ids before the block, which its keys and values depend on)
                   ids u32 × the sum of the lengths
    block          what `Backend.save` gave for the positions, verbatim

A commit writes new blocks and a new index into free space, syncs, and then overwrites the head's
first 512 bytes, which are one sector and so written whole or not at all: either the old state or
the new one is there, and a torn append is simply space that the head doesn't mention. The space
of removed blocks is used again; when it is more than a small part of the file, the file is
written anew beside the old one and renamed.

A tag is AES-128-GCM's over no plaintext, with the bytes as associated data. That was chosen as
the checksum because it is the fastest one at hand (19 GB/s here; crc32 4, sha256 1.5, blake2b
0.8), because 128 bits leave no chance of an undetected error, and because it has a key: it comes
from the conversation's id and salt, so that a block of another conversation can't pass for one's
own even where its index entry has been copied along. The salt is kept with the transcript. It is
no encryption.
"""

from __future__ import annotations

import itertools
import json
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.cache_identity import CacheIdentity
from engine.disk import Buffer
from engine.errors import CacheFileError, CacheFileForeign
from engine.types import TokenId

MAGIC = b"CLAUSEKV"
VERSION = 1
HEAD_SIZE = 4096
SECTOR = 512
MAX_HEADER = 64 << 10
MAX_BLOCKS = 1 << 17
MAX_TOKENS = 1 << 24
MAX_INDEX = 4 + MAX_HEADER + 4 + MAX_BLOCKS * 80 + MAX_TOKENS * 4
MAX_BLOCK_SIZE = 1 << 34
EXACT = 1

_HEAD = struct.Struct("<8sIIQQQQ12s16s")
_CRC = struct.Struct("<I")
_COUNT = struct.Struct("<I")
_ENTRY = struct.Struct("<IIIIQQ12s16sI16s")


@dataclass(frozen=True, slots=True)
class BlockEntry:
    """Where a block is and what it holds; `offset` 0 means it hasn't been written yet."""

    position: int
    place: int
    ids: tuple[TokenId, ...]
    exact: bool
    context: bytes = bytes(16)
    offset: int = 0
    size: int = 0
    nonce: bytes = bytes(12)
    tag: bytes = bytes(16)

    @property
    def stop(self) -> int:
        """The position behind the block."""
        return self.position + len(self.ids)


@dataclass(frozen=True, slots=True)
class Index:
    """The whole content of a file but for the blocks' bytes."""

    entries: tuple[BlockEntry, ...] = ()
    shared: str = ""

    @property
    def tokens(self) -> int:
        """Tokens whose keys and values are in the file."""
        return sum(len(entry.ids) for entry in self.entries)


@dataclass(frozen=True, slots=True)
class Head:
    """The file's first bytes."""

    commits: int
    index_at: int
    index_size: int
    end: int
    nonce: bytes
    tag: bytes


def pack_head(head: Head) -> bytes:
    """The head's 4,096 bytes."""
    raw = _HEAD.pack(
        MAGIC, VERSION, 0, head.commits, head.index_at, head.index_size, head.end, head.nonce,
        head.tag,
    )  # fmt: skip
    return (raw + _CRC.pack(zlib.crc32(raw))).ljust(HEAD_SIZE, b"\0")


def unpack_head(raw: bytes, file_size: int) -> Head:
    """Reads and checks a head against the file's real size."""
    if len(raw) < HEAD_SIZE:
        raise CacheFileError("the file is cut short")
    magic, version, _, *rest = _HEAD.unpack_from(raw)
    if magic != MAGIC:
        raise CacheFileError("it isn't a cache file")
    if version != VERSION:
        raise CacheFileForeign(f"it has version {version}, this program reads {VERSION}")
    if _CRC.unpack_from(raw, _HEAD.size)[0] != zlib.crc32(raw[: _HEAD.size]):
        raise CacheFileError("its head is damaged")
    if any(raw[_HEAD.size + _CRC.size :]):
        raise CacheFileError("its head is damaged")
    head = Head(*rest)
    if head.end > file_size:
        raise CacheFileError("the file is cut short")
    if head.index_size > MAX_INDEX or not _inside(head.index_at, head.index_size, head.end):
        raise CacheFileError("its index lies outside the file")
    return head


def pack_index(identity: CacheIdentity, index: Index) -> bytes:
    """The index's bytes."""
    header = {**identity.header(), "shared": index.shared}
    text = json.dumps(header, separators=(",", ":")).encode()
    if len(text) > MAX_HEADER:
        raise ValueError(f"the header has {len(text)} bytes, more than {MAX_HEADER}")
    parts = [_COUNT.pack(len(text)), text, _COUNT.pack(len(index.entries))]
    for entry in index.entries:
        flags = EXACT if entry.exact else 0
        parts.append(
            _ENTRY.pack(
                entry.position, len(entry.ids), entry.place, flags, entry.offset, entry.size,
                entry.nonce, entry.tag, 0, entry.context,
            )
        )  # fmt: skip
    parts += [np.asarray(entry.ids, "<u4").tobytes() for entry in index.entries]
    return b"".join(parts)


def unpack_index(raw: Buffer, identity: CacheIdentity, end: int) -> Index:
    """Reads an index whose tag was right, and checks everything it says."""
    header, rest = _split_header(raw)
    for name, wanted in identity.header().items():
        if header.get(name) != wanted:
            raise CacheFileForeign(f"it was made with another {name.replace('_', ' ')}")
    shared = header.get("shared")
    if not isinstance(shared, str):
        raise CacheFileError("its header is damaged")
    if len(rest) < _COUNT.size:
        raise CacheFileError("its index is cut short")
    (count,) = _COUNT.unpack_from(rest)
    table = rest[_COUNT.size :]
    if count > MAX_BLOCKS or len(table) < count * _ENTRY.size or len(table) % 4:
        raise CacheFileError("its index is cut short")
    ids = np.frombuffer(table[count * _ENTRY.size :].tobytes(), "<u4")
    entries = _unpack_entries(table, count, ids)
    check_entries(entries, identity.bytes_per_token, end)
    return Index(entries, shared)


def check_entries(entries: Sequence[BlockEntry], bytes_per_token: int, end: int) -> None:
    """Raises CacheFileError unless blocks are in order, apart, inside and of a likely size."""
    position = 0
    for entry in entries:
        if not entry.ids or entry.position < position:
            raise CacheFileError("its blocks overlap")
        position = entry.stop
        most = 2 * bytes_per_token * len(entry.ids) + (1 << 20)
        if entry.size > min(most, MAX_BLOCK_SIZE) or not _inside(entry.offset, entry.size, end):
            raise CacheFileError("a block lies outside the file")
    extents = sorted((entry.offset, entry.offset + entry.size) for entry in entries)
    if any(before[1] > after[0] for before, after in itertools.pairwise(extents)):
        raise CacheFileError("its blocks overlap")


def stated_identity(raw: Buffer, owner: CacheIdentity) -> CacheIdentity:
    """The owner, and of what an index with a good tag says that it was made with."""
    header, _ = _split_header(raw)
    number = header.get("bytes_per_token")
    return CacheIdentity(
        owner.conversation,
        owner.salt,
        fingerprint=str(header.get("fingerprint", "")),
        prompt=str(header.get("prompt", "")),
        layout=str(header.get("layout", "")),
        bytes_per_token=number if isinstance(number, int) else 0,
    )


def _split_header(raw: Buffer) -> tuple[dict[str, object], memoryview]:
    view = memoryview(raw)
    if len(view) < _COUNT.size:
        raise CacheFileError("its index is cut short")
    (size,) = _COUNT.unpack_from(view)
    if size > MAX_HEADER or len(view) < _COUNT.size + size:
        raise CacheFileError("its header is cut short")
    try:
        header = json.loads(bytes(view[_COUNT.size : _COUNT.size + size]))
    except ValueError as error:
        raise CacheFileError("its header is damaged") from error
    if not isinstance(header, dict):
        raise CacheFileError("its header is damaged")
    return header, view[_COUNT.size + size :]


def _unpack_entries(
    table: memoryview, count: int, ids: NDArray[np.uint32]
) -> tuple[BlockEntry, ...]:
    rows = [_ENTRY.unpack_from(table, row * _ENTRY.size) for row in range(count)]
    if sum(row[1] for row in rows) != len(ids):
        raise CacheFileError("its token ids don't match its blocks")
    entries: list[BlockEntry] = []
    used = 0
    for position, length, place, flags, offset, size, nonce, tag, _, context in rows:
        block = tuple(ids[used : used + length].tolist())
        used += length
        exact = bool(flags & EXACT)
        entries.append(BlockEntry(position, place, block, exact, context, offset, size, nonce, tag))
    return tuple(entries)


def _inside(offset: int, size: int, end: int) -> bool:
    return size > 0 and offset >= HEAD_SIZE and offset + size <= end
