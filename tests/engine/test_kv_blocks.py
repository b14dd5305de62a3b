"""Blocks, the budget of cells, and one sequence's blocks."""

from __future__ import annotations

from typing import NoReturn

import numpy as np
import pytest
import torch
from torch import Tensor

from engine.errors import OutOfCells, RestoreError
from engine.kv_blocks import BlockPool, BlockShape
from engine.kv_quantize import PackedBlock
from engine.torch_cells import Cells

TOKENS = 16
SHAPE = BlockShape(2, 2, TOKENS, 8, torch.float32)
PACKED = BlockShape(2, 2, TOKENS, 8, torch.float32, packed=True)
CPU = torch.device("cpu")


def pool_of(cells: int = 256, shape: BlockShape = SHAPE) -> BlockPool:
    return BlockPool(shape, cells, CPU)


def append(cells: Cells, count: int, seed: int = 0) -> None:
    """Writes random keys and values of `count` more tokens."""
    generator = torch.Generator().manual_seed(seed + cells.stop)
    while count:
        index, start = divmod(cells.stop, TOKENS)
        stop = min(TOKENS, start + count)
        entry = cells.prepare(index)
        assert isinstance(entry.block.data, Tensor)
        rows = entry.block.data[..., start:stop, :]
        rows.copy_(torch.randn(rows.shape, generator=generator))
        cells.commit(len(cells.entries) - 1, start, stop)
        count -= stop - start


def contents(pool: BlockPool, cells: Cells) -> Tensor:
    """All tokens' keys and values (L, 2, K, T, D)."""
    parts = [
        pool.contents(entry.block)[..., torch.from_numpy(entry.rows), :] for entry in cells.entries
    ]
    return torch.cat(parts, -2)


def test_shapes_are_checked() -> None:
    with pytest.raises(ValueError, match="300"):
        BlockShape(1, 1, 300, 8, torch.float32)
    assert SHAPE.token_nbytes == 2 * 2 * 2 * 8 * 4


def test_cells_are_counted_and_come_back() -> None:
    pool = pool_of(64)
    cells = Cells(pool)
    append(cells, 40)
    assert (cells.count, cells.stop, pool.free_cells) == (40, 40, 24)
    assert cells.nbytes == 40 * SHAPE.token_nbytes
    with pytest.raises(OutOfCells, match="25 cells are needed, 24 are free"):
        pool.need(25)
    cells.trim(10, 20)
    assert (cells.count, pool.free_cells) == (30, 34)
    assert cells.ranges() == [(0, 10), (20, 40)]
    cells.clear()
    assert (cells.count, cells.stop, pool.free_cells) == (0, 0, 64)
    assert cells.ranges() == []


def test_a_block_is_used_again_and_is_clean() -> None:
    pool = pool_of()
    cells = Cells(pool)
    append(cells, TOKENS)
    memory = cells.entries[0].block.data
    assert isinstance(memory, Tensor)
    cells.clear()
    assert pool.new().data is memory
    assert not memory.any()
    pool.trim()
    assert pool.new().data is not memory


def test_holes_are_known() -> None:
    cells = Cells(pool_of())
    append(cells, 40)
    assert not cells.has_holes
    cells.trim(36, 40)
    assert not cells.has_holes  # the end isn't a hole
    cells.trim(TOKENS, 2 * TOKENS)
    assert not cells.has_holes  # a whole block gone leaves none
    cells.trim(3, 5)
    assert cells.has_holes
    assert cells.ranges() == [(0, 3), (5, TOKENS), (2 * TOKENS, 36)]
    cells.trim(0, TOKENS)
    assert not cells.has_holes


def test_reading_on_behind_a_trimmed_end_leaves_a_hole() -> None:
    cells = Cells(pool_of())
    append(cells, 20)
    cells.trim(18, 20)
    cells.stop = 20  # as if positions went on counting
    append(cells, 2)
    assert cells.has_holes
    assert cells.ranges() == [(0, 18), (20, 22)]


def test_a_fork_shares_until_one_side_writes() -> None:
    pool = pool_of()
    cells = Cells(pool)
    append(cells, 40)
    before = contents(pool, cells).clone()
    copy = cells.fork()
    assert pool.used == 40
    assert [e.block for e in copy.entries] == [e.block for e in cells.entries]
    append(copy, 3, seed=9)
    assert [a.block is b.block for a, b in zip(cells.entries, copy.entries, strict=True)] == [
        True,
        True,
        False,
    ]
    assert torch.equal(contents(pool, cells), before)
    assert torch.equal(contents(pool, copy)[..., :40, :], before)
    cells.clear()
    assert copy.ranges() == [(0, 43)]
    copy.clear()
    assert pool.used == 0


def test_a_forks_trim_doesnt_touch_the_other() -> None:
    pool = pool_of()
    cells = Cells(pool)
    append(cells, 40)
    copy = cells.fork()
    copy.trim(0, 30)
    assert (cells.ranges(), copy.ranges(), pool.used) == ([(0, 40)], [(30, 40)], 40)
    cells.clear()
    assert pool.used == 10


def test_an_abandoned_block_leaves_nothing() -> None:
    cells = Cells(pool_of())
    append(cells, TOKENS)
    cells.prepare(1)
    assert len(cells.entries) == 2
    cells.abandon()
    assert len(cells.entries) == 1
    cells.abandon()
    assert cells.ranges() == [(0, TOKENS)]


def test_snapshot_and_restore() -> None:
    pool = pool_of()
    cells, other = Cells(pool), Cells(pool)
    append(cells, 50)
    cells.trim(4, 9)
    parts = [cells.snapshot(0, 20), cells.snapshot(20, 50)]
    for part in parts:
        other.restore(part)
    assert other.ranges() == cells.ranges()
    assert torch.equal(contents(pool, other), contents(pool, cells))
    assert cells.snapshot(4, 9) == []


def test_a_snapshot_is_a_copy() -> None:
    pool = pool_of()
    cells = Cells(pool)
    append(cells, 5)
    (piece,) = cells.snapshot(0, 5)
    assert isinstance(piece.data, Tensor)
    before = piece.data.clone()
    cells.trim(3, 5)
    append(cells, 2, seed=5)
    assert torch.equal(piece.data, before)


def test_restore_is_all_or_nothing() -> None:
    pool = pool_of(64)
    cells, other = Cells(pool), Cells(pool)
    append(cells, 40)
    pieces = cells.snapshot(0, 40)
    append(other, 4)
    with pytest.raises(RestoreError, match="doesn't follow"):
        other.restore(pieces)
    assert other.ranges() == [(0, 4)]
    other.clear()
    with pytest.raises(OutOfCells):
        other.restore(pieces)
    assert (other.ranges(), pool.used) == ([], 40)


def test_a_full_device_raises_and_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = pool_of()
    cells = Cells(pool)
    append(cells, TOKENS)

    def full(*_: object, **__: object) -> NoReturn:
        raise torch.OutOfMemoryError("no memory")

    monkeypatch.setattr(torch, "empty", full)
    with pytest.raises(OutOfCells, match="no memory for more tokens"):
        cells.prepare(1)
    assert cells.ranges() == [(0, TOKENS)]


class TestPacked:
    """8 bits: every block but the newest and the first, each once."""

    def kinds(self, cells: Cells) -> list[bool]:
        return [entry.block.is_packed for entry in cells.entries]

    def test_which_blocks_are_packed(self) -> None:
        cells = Cells(pool_of(shape=PACKED))
        append(cells, 3 * TOKENS)
        assert self.kinds(cells) == [False, True, False]
        append(cells, 1)
        assert self.kinds(cells) == [False, True, True, False]

    def test_each_block_is_packed_once(self) -> None:
        cells = Cells(pool_of(shape=PACKED))
        append(cells, 2 * TOKENS + 1)
        packed = cells.entries[1].block.data
        append(cells, 5 * TOKENS)
        assert cells.entries[1].block.data is packed

    def test_bytes_are_about_half(self) -> None:
        shapes = [BlockShape(2, 2, 64, 64, torch.float16, packed) for packed in (False, True)]
        sizes = []
        for shape in shapes:
            pool = BlockPool(shape, 8192, CPU)
            cells = Cells(pool)
            for index in range(64):
                cells.prepare(index)
                cells.commit(len(cells.entries) - 1, 0, 64)
            sizes.append(cells.nbytes)
        assert sizes[1] / sizes[0] < 0.525  # 4,096 tokens, 128 of them in 16 bits

    def test_going_back_into_a_packed_block_unpacks_it(self) -> None:
        pool = pool_of(shape=PACKED)
        cells = Cells(pool)
        append(cells, 3 * TOKENS)
        before = contents(pool, cells)[..., : TOKENS + 4, :].clone()
        cells.trim(TOKENS + 4, 3 * TOKENS)
        append(cells, 3)
        assert self.kinds(cells) == [False, False]
        assert torch.equal(contents(pool, cells)[..., : TOKENS + 4, :], before)

    def test_packing_a_shared_block_leaves_the_other_its_own(self) -> None:
        pool = pool_of(shape=PACKED)
        cells = Cells(pool)
        append(cells, 2 * TOKENS)
        copy = cells.fork()
        append(copy, 1)
        assert (self.kinds(cells), self.kinds(copy)) == ([False] * 2, [False, True, False])

    def test_rows_saved_before_packing_come_back_packed_alike(self) -> None:
        pool = pool_of(shape=PACKED)
        cells, other = Cells(pool), Cells(pool)
        append(cells, 20)
        early = cells.snapshot(0, 20)
        append(cells, 20)
        for pieces in (early, cells.snapshot(20, 40)):
            other.restore(pieces)
        assert self.kinds(other) == self.kinds(cells) == [False, True, False]
        assert torch.equal(contents(pool, other), contents(pool, cells))

    def test_rows_that_dont_fit_the_later_scales_are_kept_whole(self) -> None:
        pool = pool_of(shape=PACKED)
        cells, other = Cells(pool), Cells(pool)
        append(cells, 20)
        (first, second) = cells.snapshot(0, 20)
        append(cells, 20)
        later = cells.snapshot(20, 40)
        assert isinstance(second.data, Tensor)
        second.data *= 100
        expected = second.data[..., :4, :].clone()
        for pieces in ([first, second], later[:1]):
            other.restore(pieces)
        assert torch.equal(contents(pool, other)[..., TOKENS : TOKENS + 4, :], expected)

    def test_both_parts_packed_with_the_same_scales(self) -> None:
        pool = pool_of(shape=PACKED)
        cells, other = Cells(pool), Cells(pool)
        append(cells, 40)
        for pieces in (cells.snapshot(0, 20), cells.snapshot(20, 40)):
            other.restore(pieces)
        assert isinstance(other.entries[1].block.data, PackedBlock)
        assert torch.equal(contents(pool, other), contents(pool, cells))
        assert bool(np.all(other.entries[1].rows))

    def test_a_packed_part_before_a_plain_one(self) -> None:
        pool = pool_of(shape=PACKED)
        cells, other = Cells(pool), Cells(pool)
        append(cells, 40)
        early = cells.snapshot(0, 20)
        cells.trim(20, 40)
        append(cells, 6, seed=3)
        for pieces in (early, cells.snapshot(20, 26)):
            other.restore(pieces)
        assert torch.equal(contents(pool, other), contents(pool, cells))
