"""One conversation's keys and values in a file: read, append, remove, compact.

The format stands in `cache_format`. This module knows files, but neither backends nor which
conversation deserves its place on disk. A `CacheFile` belongs to one thread at a time.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

import numpy as np

from engine.cache_format import (
    HEAD_SIZE,
    SECTOR,
    BlockEntry,
    Head,
    Index,
    pack_head,
    pack_index,
    stated_identity,
    unpack_head,
    unpack_index,
)
from engine.cache_identity import CacheIdentity, Signer
from engine.disk import Buffer, Disk, read_exactly
from engine.types import TokenId

WASTE_SHARE = 0.02
WASTE_FLOOR = 16 << 10


@dataclass(frozen=True, slots=True)
class Block:
    """Keys and values of consecutive positions, as `Backend.save` gave them.

    Attributes:
        position: of the first token. place: its index in the transcript; the two differ only
            after a conversation was renumbered.
        ids: the tokens. exact: written by prefill, so equal to what reading them again gives.
        state: the backend's bytes. context: digest of the transcript's ids before `place`.
    """

    position: int
    place: int
    ids: tuple[TokenId, ...]
    exact: bool
    state: Buffer
    context: bytes = bytes(16)

    @property
    def stop(self) -> int:
        """The position behind the block."""
        return self.position + len(self.ids)

    @property
    def nbytes(self) -> int:
        """Bytes of keys and values."""
        return memoryview(self.state).nbytes


class CacheFile:
    """An open cache file: its index in memory, its blocks on disk."""

    def __init__(self, path: Path, identity: CacheIdentity, disk: Disk | None = None) -> None:
        """Prepares for the file at `path`; call `read_index`, or `commit` to make a new one."""
        self.path = path
        self.identity = identity
        self.index = Index()
        self._disk = disk or Disk()
        self._signer = Signer(identity)
        self._head: Head | None = None

    def read_index(self, *, anyones: bool = False) -> Index:
        """Reads head and index, checking everything but the blocks' own bytes.

        Args:
            anyones: take model, prompt and layout from the file instead of comparing them; for
                reports. The owner must match in any case.

        Raises:
            FileNotFoundError: there is no file.
            CacheFileError: it is damaged, or another conversation's or model's.
        """
        with self._disk.open_read(self.path) as file:
            size = file.seek(0, 2)
            file.seek(0)
            head = unpack_head(file.read(HEAD_SIZE), size)
            raw = memoryview(bytearray(head.index_size))
            read_exactly(file, head.index_at, raw)
        self._signer.check(raw, head.nonce, head.tag)
        if anyones:
            self.identity = stated_identity(raw, self.identity)
        self.index = unpack_index(raw, self.identity, head.end)
        self._head = head
        return self.index

    def read_blocks(self, entries: Sequence[BlockEntry] | None = None) -> list[Block]:
        """Reads blocks (all of them by default) and checks their tags.

        Raises:
            CacheFileError: a block is damaged; none is returned.
        """
        wanted = self.index.entries if entries is None else entries
        blocks: list[Block] = []
        # One array for all: numpy's allocator asks for huge pages, which halves the time.
        room = np.empty(sum(entry.size for entry in wanted), np.uint8).data
        with self._disk.open_read(self.path) as file:
            for entry in wanted:
                state, room = room[: entry.size], room[entry.size :]
                read_exactly(file, entry.offset, state)
                self._signer.check(state, entry.nonce, entry.tag)
                blocks.append(
                    Block(entry.position, entry.place, entry.ids, entry.exact, state, entry.context)
                )
        return blocks

    def commit(
        self,
        add: Iterable[Block] = (),
        *,
        keep: Sequence[BlockEntry] | None = None,
        shared: str | None = None,
    ) -> None:
        """Makes the file hold the blocks of `keep` (by default all it has) and `add`, durably.

        After an OSError the file still holds what it held before.

        Raises:
            OSError: no space, or the device fails.
            ValueError: the blocks overlap.
        """
        add = list(add)
        kept = {entry.position for entry in (self.index.entries if keep is None else keep)}
        stays = [entry for entry in self.index.entries if entry.position in kept]
        ranges = [(entry.position, entry.stop) for entry in stays]
        _check_apart([*ranges, *((block.position, block.stop) for block in add)])
        index = Index((), self.index.shared if shared is None else shared)
        if self._head is None:
            self._write_new(add, index)
            return
        if self._disk.names(self.path) > 1:
            self.compact()  # a fork reads these bytes under the other name
        with self._disk.open_write(self.path) as file:
            try:
                self._append(file, self._head, kept, add, index)
            except OSError:
                with contextlib.suppress(OSError):
                    file.truncate(self._head.end)
                raise
        if self.wasted > max(WASTE_FLOOR, int(WASTE_SHARE * self.nbytes)):
            self.compact()

    def compact(self, identity: CacheIdentity | None = None) -> None:
        """Writes the file anew without its holes; under another `identity` if one is given.

        With another identity the file that is replaced stays as it was under its other names: this
        is how a fork stops sharing its parent's file.
        """
        signer = self._signer if identity is None else Signer(identity)
        # One block at a time, so that no memory is needed for the whole.
        blocks = (self.read_blocks([entry])[0] for entry in self.index.entries)
        self._write_new(blocks, self.index, signer, identity or self.identity)

    @property
    def nbytes(self) -> int:
        """Size of the file as of the last commit; 0 if there is none."""
        return 0 if self._head is None else self._head.end

    @property
    def wasted(self) -> int:
        """Bytes of the file that hold nothing."""
        if self._head is None:
            return 0
        live = sum(entry.size for entry in self.index.entries)
        return self._head.end - HEAD_SIZE - self._head.index_size - live

    def _append(
        self,
        file: BinaryIO,
        head: Head,
        kept: set[int],
        add: list[Block],
        index: Index,
    ) -> None:
        free = _FreeSpace(self.index.entries, head)
        placed = [entry for entry in self.index.entries if entry.position in kept]
        for block in add:
            offset = free.take(block.nbytes)
            placed.append(self._write_block(file, offset, block, self._signer))
        index = replace(index, entries=_ordered(placed))
        raw = pack_index(self.identity, index)
        index_at = free.take(len(raw))
        self._disk.write_at(file, index_at, [raw])
        self._disk.sync(file)
        live = [(entry.offset, entry.size) for entry in index.entries] + [(index_at, len(raw))]
        end = max(offset + size for offset, size in live)
        nonce, tag = self._signer.sign(raw)
        head = Head(head.commits + 1, index_at, len(raw), end, nonce, tag)
        self._disk.write_at(file, 0, [pack_head(head)[:SECTOR]])
        self._disk.sync(file)
        self.index, self._head = index, head
        file.truncate(end)

    def _write_new(
        self,
        blocks: Iterable[Block],
        index: Index,
        signer: Signer | None = None,
        identity: CacheIdentity | None = None,
    ) -> None:
        signer, identity = signer or self._signer, identity or self.identity
        temporary = self.path.with_name(f"{self.path.name}.tmp")
        self._disk.make_folder(self.path.parent)
        self._disk.remove(temporary)
        try:
            with self._disk.open_write(temporary, create=True) as file:
                placed: list[BlockEntry] = []
                end = HEAD_SIZE
                for block in blocks:
                    placed.append(self._write_block(file, end, block, signer))
                    end += block.nbytes
                index = replace(index, entries=_ordered(placed))
                raw = pack_index(identity, index)
                self._disk.write_at(file, end, [raw])
                nonce, tag = signer.sign(raw)
                commits = 1 + (self._head.commits if self._head else 0)
                head = Head(commits, end, len(raw), end + len(raw), nonce, tag)
                self._disk.write_at(file, 0, [pack_head(head)])
                self._disk.sync(file)
            self._disk.replace(temporary, self.path)
        except BaseException:
            self._disk.remove(temporary)
            raise
        self.index, self._head, self._signer, self.identity = index, head, signer, identity

    def _write_block(self, file: BinaryIO, offset: int, block: Block, signer: Signer) -> BlockEntry:
        self._disk.write_at(file, offset, [block.state])
        nonce, tag = signer.sign(block.state)
        return BlockEntry(
            block.position, block.place, block.ids, block.exact, block.context, offset,
            block.nbytes, nonce, tag,
        )  # fmt: skip


class _FreeSpace:
    """Holes of a committed file, handed out first fit; then the space behind its end."""

    def __init__(self, entries: Sequence[BlockEntry], head: Head) -> None:
        used = [(entry.offset, entry.size) for entry in entries]
        used = sorted([*used, (head.index_at, head.index_size), (head.end, 0)])
        self._holes: list[tuple[int, int]] = []
        at = HEAD_SIZE
        for offset, size in used:
            if offset > at:
                self._holes.append((at, offset - at))
            at = max(at, offset + size)
        self._end = head.end

    def take(self, size: int) -> int:
        for number, (offset, room) in enumerate(self._holes):
            if room >= size:
                self._holes[number] = (offset + size, room - size)
                return offset
        offset, self._end = self._end, self._end + size
        return offset


def _ordered(entries: list[BlockEntry]) -> tuple[BlockEntry, ...]:
    return tuple(sorted(entries, key=lambda entry: entry.position))


def _check_apart(ranges: Iterable[tuple[int, int]]) -> None:
    for before, after in itertools.pairwise(sorted(ranges)):
        if before[1] > after[0]:
            raise ValueError(f"blocks overlap at position {after[0]}")


def open_cache(path: Path, identity: CacheIdentity, disk: Disk | None = None) -> CacheFile:
    """The file at `path` with its index read. Raises as `CacheFile.read_index` does."""
    file = CacheFile(path, identity, disk)
    file.read_index()
    return file
