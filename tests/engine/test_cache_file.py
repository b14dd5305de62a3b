"""The cache file: what is written comes back, and anything else is refused."""

from __future__ import annotations

import contextlib
import os
import random
import stat
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.cache_file import Block, CacheFile, open_cache
from engine.cache_format import (
    HEAD_SIZE,
    SECTOR,
    BlockEntry,
    Index,
    check_entries,
    pack_index,
    unpack_index,
)
from engine.cache_identity import CacheIdentity, Signer
from engine.disk import Disk
from engine.errors import CacheFileError

BYTES = 64


def identity(conversation: str = "a", salt: bytes = b"s" * 16, **changes: str) -> CacheIdentity:
    named = {"fingerprint": "f", "prompt": "p", "layout": "l", **changes}
    return CacheIdentity(conversation, salt, bytes_per_token=BYTES, **named)


def block(position: int, length: int, *, exact: bool = True, seed: int = 0) -> Block:
    state = np.random.default_rng((position, length, seed)).bytes(length * BYTES)
    ids = tuple(range(position, position + length))
    return Block(position, position, ids, exact, state)


def contents(file: CacheFile) -> list[tuple[int, tuple[int, ...], bool, bytes]]:
    return [(b.position, b.ids, b.exact, bytes(b.state)) for b in file.read_blocks()]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "张 三 📄" / "cache"


@pytest.fixture
def written(path: Path) -> CacheFile:
    """A file of three turns."""
    file = CacheFile(path, identity())
    for position in (0, 40, 60):
        file.commit([block(position, 20)])
    return file


def test_blocks_come_back_from_another_start(path: Path, written: CacheFile) -> None:
    again = open_cache(path, identity())
    assert contents(again) == contents(written)
    assert [entry.position for entry in again.index.entries] == [0, 40, 60]
    assert again.index.tokens == 60


def test_shared_is_kept_until_changed(path: Path) -> None:
    file = CacheFile(path, identity())
    file.commit([block(0, 4)], shared="key")
    file.commit([block(4, 4)])
    assert open_cache(path, identity()).index.shared == "key"
    file.commit(shared="")
    assert open_cache(path, identity()).index.shared == ""


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX modes")
def test_only_the_user_can_read_it(path: Path, written: CacheFile) -> None:
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_size_is_close_to_the_states(path: Path) -> None:
    file = CacheFile(path, identity())
    for turn in range(30):
        file.commit([block(turn * 50, 50)])
    tokens = file.index.tokens
    assert tokens == 1500
    assert path.stat().st_size <= 1.05 * BYTES * tokens + (64 << 10)


def test_removed_blocks_leave_and_their_space_is_used_again(path: Path) -> None:
    file = CacheFile(path, identity())
    file.commit([block(0, 4000), block(4000, 200)])
    before = file.nbytes
    file.commit([block(4200, 200)], keep=[file.index.entries[0]])
    assert [entry.position for entry in file.index.entries] == [0, 4200]
    file.commit([block(4400, 150)])
    assert file.nbytes <= before + 250 * BYTES + 4096
    assert contents(open_cache(path, identity())) == contents(file)


def test_compaction_pays_for_trims(path: Path) -> None:
    file = CacheFile(path, identity())
    file.commit([block(at, 500) for at in range(0, 5000, 500)])
    full = path.stat().st_size
    file.commit(keep=file.index.entries[5:])
    assert path.stat().st_size < 0.6 * full
    assert file.wasted == 0
    assert [entry.position for entry in file.index.entries] == [2500, 3000, 3500, 4000, 4500]
    assert contents(open_cache(path, identity())) == contents(file)


def test_overlapping_blocks_are_refused_and_change_nothing(path: Path, written: CacheFile) -> None:
    before = path.read_bytes()
    with pytest.raises(ValueError, match="overlap at position 70"):
        written.commit([block(70, 5)])
    assert path.read_bytes() == before
    written.commit([block(80, 5)])
    assert open_cache(path, identity()).index.tokens == 65


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (identity("b"), "another conversation"),
        (identity(salt=b"t" * 16), "another conversation"),
        (identity(fingerprint="g"), "another fingerprint"),
        (identity(prompt="q"), "another prompt"),
        (identity(layout="m"), "another layout"),
    ],
)
def test_another_owner_or_model_is_refused(
    path: Path, written: CacheFile, other: CacheIdentity, message: str
) -> None:
    with pytest.raises(CacheFileError, match=message):
        open_cache(path, other)


def test_a_block_copied_from_another_conversation_is_refused(path: Path) -> None:
    ours, theirs = CacheFile(path, identity()), CacheFile(path.with_name("b"), identity("b"))
    ours.commit([block(0, 20)])
    theirs.commit([block(0, 20, seed=1)])
    mine, foreign = ours.index.entries[0], theirs.index.entries[0]
    raw = bytearray(path.read_bytes())
    raw[mine.offset : mine.offset + mine.size] = theirs.read_blocks()[0].state
    path.write_bytes(raw)
    forged = [replace(mine, nonce=foreign.nonce, tag=foreign.tag)]
    with pytest.raises(CacheFileError, match="another conversation"):
        ours.read_blocks(forged)


def test_missing_file_is_no_damage(path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        open_cache(path, identity())


def test_a_folder_or_link_in_its_place_is_refused(path: Path, written: CacheFile) -> None:
    moved = path.rename(path.with_name("moved"))
    path.symlink_to(moved)
    with pytest.raises(CacheFileError):
        open_cache(path, identity())
    path.unlink()
    path.mkdir()
    with pytest.raises(CacheFileError):
        open_cache(path, identity())
    assert Disk().set_aside(path) == path.with_name("cache.1.bad")
    assert not path.exists()


def test_few_files_are_kept_aside(path: Path) -> None:
    path.parent.mkdir()
    for number in range(5):
        path.write_bytes(bytes([number]))
        Disk().set_aside(path)
    kept = {old.name: old.read_bytes() for old in path.parent.iterdir()}
    assert kept == {"cache.4.bad": b"\x03", "cache.5.bad": b"\x04"}
    assert Disk().set_aside(path) is None


@pytest.mark.parametrize("torn", [b"", b"\0" * 5000, b"junk" * 5000])
def test_a_torn_append_is_ignored(path: Path, written: CacheFile, torn: bytes) -> None:
    with path.open("ab") as file:
        file.write(torn)
    again = open_cache(path, identity())
    assert contents(again) == contents(written)
    again.commit([block(80, 20)])
    assert open_cache(path, identity()).index.tokens == 80
    assert path.stat().st_size == again.nbytes


class CrashingDisk(Disk):
    """Stops like a killed process: after `left` bytes nothing more is written."""

    def __init__(self, left: int) -> None:
        self.left = left

    def write_at(self, file, offset, parts):  # type: ignore[no-untyped-def]
        data = b"".join(bytes(part) for part in parts)
        if self.left < len(data) <= SECTOR:
            self.left = 0  # a sector is written whole or not at all
        taken, self.left = data[: self.left], max(0, self.left - len(data))
        end = super().write_at(file, offset, [taken])
        if len(taken) < len(data):
            raise KeyboardInterrupt
        return end

    def remove(self, path: Path) -> None:
        if self.left:
            super().remove(path)


@pytest.mark.parametrize("compacts", [False, True])
def test_a_crash_at_any_byte_leaves_the_old_state_or_the_new(
    path: Path, written: CacheFile, compacts: bool
) -> None:
    before = path.read_bytes()
    old = contents(written)
    rng = random.Random(4)
    seen = set()
    for left in [0, 1, *(rng.randrange(1, 12_000) for _ in range(150)), 100_000]:
        path.write_bytes(before)
        file = CacheFile(path, identity(), CrashingDisk(left))
        file.read_index()
        with contextlib.suppress(KeyboardInterrupt):
            file.compact() if compacts else file.commit([block(80, 10)])
        again = open_cache(path, identity())
        assert contents(again)[:3] == old
        seen.add(len(again.index.entries))
        again.commit([block(100, 3)])
        assert contents(open_cache(path, identity()))[-1][0] == 100
    assert seen == ({3} if compacts else {3, 4})


class FullDisk(Disk):
    """Has no space left after `left` bytes."""

    def __init__(self, left: int) -> None:
        self.left = left

    def write_at(self, file, offset, parts):  # type: ignore[no-untyped-def]
        data = b"".join(bytes(part) for part in parts)
        if len(data) > self.left:
            super().write_at(file, offset, [data[: self.left]])
            raise OSError(28, "No space left on device")
        self.left -= len(data)
        return super().write_at(file, offset, [data])


@pytest.mark.parametrize("left", [0, 100, 20 * BYTES + 50])
def test_a_full_disk_damages_nothing(path: Path, written: CacheFile, left: int) -> None:
    before = contents(written)
    file = CacheFile(path, identity(), FullDisk(left))
    file.read_index()
    with pytest.raises(OSError, match="No space"):
        file.commit([block(80, 20)])
    assert path.stat().st_size == file.nbytes
    assert contents(file) == contents(open_cache(path, identity())) == before
    with pytest.raises(OSError, match="No space"):
        file.compact()
    assert [name.name for name in path.parent.iterdir()] == ["cache"]
    assert contents(open_cache(path, identity())) == before


def test_a_fork_shares_the_bytes_until_it_differs(path: Path, written: CacheFile) -> None:
    target = path.with_name("fork")
    Disk().link_or_copy(path, target)
    fork = open_cache(target, identity())
    assert target.stat().st_ino == path.stat().st_ino

    fork.compact(identity("fork"))
    fork.commit([block(80, 5)])
    written.commit([block(90, 5)])
    assert [entry.position for entry in fork.index.entries] == [0, 40, 60, 80]
    assert [b[0] for b in contents(open_cache(target, identity("fork")))] == [0, 40, 60, 80]
    assert [b[0] for b in contents(open_cache(path, identity()))] == [0, 40, 60, 90]


def test_the_original_of_a_fork_may_change_first(path: Path, written: CacheFile) -> None:
    target = path.with_name("fork")
    Disk().link_or_copy(path, target)
    written.commit([block(80, 5)], keep=written.index.entries[:2])
    assert [b[0] for b in contents(open_cache(path, identity()))] == [0, 40, 80]
    assert [b[0] for b in contents(open_cache(target, identity()))] == [0, 40, 60]


def test_copies_where_links_are_unknown(
    path: Path, written: CacheFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(95, "not supported")

    monkeypatch.setattr(os, "link", refuse)
    Disk().link_or_copy(path, path.with_name("fork"))
    assert path.with_name("fork").read_bytes() == path.read_bytes()
    assert path.with_name("fork").stat().st_ino != path.stat().st_ino


def corrupt(raw: bytes, rng: random.Random, others: list[bytes]) -> bytes:
    """One of the things that happen to files."""
    kind = rng.randrange(6)
    if kind == 0:
        return raw[: rng.randrange(len(raw))]
    if kind == 1:
        at = rng.randrange(len(raw))
        return raw[:at] + bytes([raw[at] ^ (1 << rng.randrange(8))]) + raw[at + 1 :]
    if kind == 2:
        at, length = rng.randrange(len(raw)), rng.randrange(1, 600)
        return (raw[:at] + bytes(length) + raw[at + length :])[: len(raw)]
    if kind == 3:
        at, length = rng.randrange(len(raw)), rng.randrange(1, 600)
        return (raw[:at] + rng.randbytes(length) + raw[at + length :])[: len(raw)]
    if kind == 4:
        at, length = rng.randrange(len(raw)), rng.randrange(1, 600)
        return raw[:at] + raw[at + length :]
    return rng.choice(others)


def test_a_thousand_corruptions_are_all_refused(path: Path) -> None:
    # given a compact file (so that every byte means something), and others like it
    CacheFile(path, identity()).commit([block(at, 20) for at in (0, 20, 60)])
    raw = path.read_bytes()
    others = [b"", b"\0" * len(raw), raw[:HEAD_SIZE]]
    for other in (identity("b"), identity(fingerprint="g"), identity(layout="m")):
        swapped = CacheFile(path.with_name("other"), other)
        swapped.commit([block(at, 20) for at in (0, 20, 60)])
        others.append(swapped.path.read_bytes())
        swapped.path.unlink()
    others.append(raw[:8] + b"\2" + raw[9:])
    good = contents(open_cache(path, identity()))
    rng = random.Random(20)
    refused = 0
    while refused < 1000:
        # when it is changed at random
        damaged = corrupt(raw, rng, others)
        path.write_bytes(damaged)
        # then it is refused with the one exception, unless nothing was changed
        try:
            read = contents(open_cache(path, identity()))
        except CacheFileError:
            refused += 1
        else:
            assert damaged == raw
            assert read == good


@settings(max_examples=200, deadline=None)
@given(data=st.binary(max_size=9000), head=st.booleans())
def test_any_bytes_are_refused(tmp_path_factory: pytest.TempPathFactory, data: bytes, head: bool):
    path = tmp_path_factory.mktemp("any") / "cache"
    if head:
        data = b"CLAUSEKV\1\0\0\0" + data
    path.write_bytes(data)
    with pytest.raises(CacheFileError):
        open_cache(path, identity())


def signed(entries: tuple[BlockEntry, ...]) -> bytes:
    return pack_index(identity(), Index(entries))


def entry(position: int, length: int, offset: int, size: int) -> BlockEntry:
    ids = tuple(range(1, 1 + length))
    return BlockEntry(position, position, ids, True, offset=offset, size=size)


@pytest.mark.parametrize(
    "entries",
    [
        (entry(0, 2, HEAD_SIZE, 9999), entry(1, 1, 20_000, 9)),
        (entry(0, 0, HEAD_SIZE, 10),),
        (entry(0, 1, 10, 10),),
        (entry(0, 1, HEAD_SIZE, 0),),
        (entry(0, 1, HEAD_SIZE, 1 << 22),),
        (entry(0, 1, 99_999, 10),),
        (entry(0, 1, HEAD_SIZE, 10), entry(1, 1, HEAD_SIZE, 9)),
    ],
)
def test_impossible_blocks_are_refused(entries: tuple[BlockEntry, ...]) -> None:
    with pytest.raises(CacheFileError):
        unpack_index(signed(entries), identity(), 50_000)
    with pytest.raises(CacheFileError):
        check_entries(entries, BYTES, 50_000)


def test_a_shortened_index_is_refused_at_every_length() -> None:
    raw = signed((entry(0, 3, HEAD_SIZE, 10),))
    assert unpack_index(raw, identity(), 50_000).tokens == 3
    for length in range(len(raw)):
        with pytest.raises(CacheFileError):
            unpack_index(raw[:length], identity(), 50_000)


@pytest.mark.parametrize("header", [b"[]", b"{", b"\xff", b'{"shared": 1}'])
def test_a_header_that_is_no_object_is_refused(header: bytes) -> None:
    raw = len(header).to_bytes(4, "little") + header
    with pytest.raises(CacheFileError):
        unpack_index(raw + bytes(4), identity(), 50_000)


def test_a_header_too_large_is_not_written(path: Path) -> None:
    with pytest.raises(ValueError, match="the header has"):
        CacheFile(path, identity()).commit(shared="y" * (65 << 10))
    assert not path.exists()


def test_tags_differ_by_owner() -> None:
    nonce, tag = Signer(identity()).sign(b"data")
    Signer(identity()).check(b"data", nonce, tag)
    with pytest.raises(CacheFileError):
        Signer(identity()).check(b"date", nonce, tag)
    with pytest.raises(CacheFileError):
        Signer(identity("b")).check(b"data", nonce, tag)
