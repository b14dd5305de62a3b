"""The torch backend beside the contract: memory that runs out, what states depend on, its edges."""

from __future__ import annotations

from typing import NoReturn

import numpy as np
import pytest
import torch

from engine.errors import OutOfCells, RestoreError
from engine.kv_blocks import BlockShape
from engine.torch_backend import TorchBackend
from engine.torch_cells import Cells
from engine.torch_state import decode_state
from engine.torch_workspace import Workspace
from tests.engine.torch_backends import Counting, backend_of, read
from tests.engine.torch_models import random_tokens, small_decoder

BLOCK = 16


@pytest.fixture(scope="module")
def decoder() -> Counting:
    return Counting(small_decoder())


class Failing(Counting):
    """A device whose memory runs out in the middle of a forward."""

    left = 0

    def hidden(self, *arguments: object) -> torch.Tensor:
        if self.left == 0:
            raise torch.OutOfMemoryError("no memory")
        self.left -= 1
        return super().hidden(*arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("together", [1, 2])
@pytest.mark.parametrize("blocks_read", [0, 1, 2])
def test_out_of_memory_in_the_middle_appends_nothing(blocks_read: int, together: int) -> None:
    failing = Failing(small_decoder())
    backend = backend_of(failing, block=BLOCK, together=together)
    tokens, sequence = random_tokens(60 + 20 * together), backend.new_sequence()
    failing.left = 100
    read(backend, sequence, tokens[:20])
    before = backend.positions(sequence), backend.free_cells
    failing.left = blocks_read
    with pytest.raises(OutOfCells, match="no memory for more tokens"):
        backend.forward(sequence, tokens[20:], 20)
    assert (backend.positions(sequence), backend.free_cells) == before
    failing.left = 100
    again = read(backend, sequence, tokens[20:], 20)  # the operation is tried again
    assert np.array_equal(again, read(backend, backend.new_sequence(), tokens)[20:])


def test_out_of_memory_on_the_first_token_leaves_an_empty_sequence() -> None:
    failing = Failing(small_decoder())
    backend = backend_of(failing)
    sequence = backend.new_sequence()
    with pytest.raises(OutOfCells):
        backend.forward(sequence, [1], 0)
    assert backend.positions(sequence) == []
    assert backend.free_cells == 1024


def test_out_of_memory_while_restoring(decoder: Counting, monkeypatch: pytest.MonkeyPatch) -> None:
    backend = backend_of(decoder)
    sequence = backend.new_sequence()
    read(backend, sequence, random_tokens(40))
    state, other = backend.save(sequence, 0, 40), backend.new_sequence()

    def full(*_: object) -> NoReturn:
        raise torch.OutOfMemoryError("no memory")

    with monkeypatch.context() as patch:
        patch.setattr(type(backend._pool), "from_host", full)
        with pytest.raises(OutOfCells):
            backend.load(other, state)
    assert backend.positions(other) == []
    backend.load(other, state)
    assert backend.positions(other) == [(0, 40)]


def test_too_many_partly_filled_blocks_are_out_of_cells(decoder: Counting) -> None:
    backend = backend_of(decoder, cells=64, batch=64, block=BLOCK)
    sequence = backend.new_sequence()
    for at in range(0, 8 * BLOCK, BLOCK):
        backend.forward(sequence, random_tokens(BLOCK), at)
        backend.remove(sequence, at, at + BLOCK - 1)
    with pytest.raises(OutOfCells, match="more than the device's window"):
        backend.forward(sequence, [1], 8 * BLOCK)
    assert len(backend.positions(sequence)) == 8


def test_going_on_with_the_same_sequence_copies_no_block(
    decoder: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new block is copied in once; a fork costs the blocks in which it differs."""
    copied: list[int] = []
    original = Workspace._copy_in

    def count(self: Workspace, slot: int, entry: object) -> None:
        copied.append(slot)
        original(self, slot, entry)  # type: ignore[arg-type]

    monkeypatch.setattr(Workspace, "_copy_in", count)
    backend = backend_of(decoder, block=BLOCK)
    sequence = backend.new_sequence()
    read(backend, sequence, random_tokens(5 * BLOCK + 3))
    assert copied == [0, 1, 2, 3, 4, 5]
    backend.forward(sequence, [1], 5 * BLOCK + 3)
    assert len(copied) == 6
    fork = backend.fork(sequence)
    backend.forward(fork, [2], 5 * BLOCK + 4)
    assert copied[6:] == [5]
    backend.forward(sequence, [3], 5 * BLOCK + 4)
    assert copied[7:] == [5]


def test_memory_of_a_forward_serves_a_restore(decoder: Counting) -> None:
    """Blocks that were filled while computing are used again while loading."""
    backend = backend_of(decoder, block=BLOCK)
    sequence = backend.new_sequence()
    expected = read(backend, sequence, random_tokens(40))
    parts = [backend.save(sequence, 0, 20), backend.save(sequence, 20, 38)]
    backend.free_sequence(sequence)
    restored = backend.new_sequence()
    for part in parts:
        backend.load(restored, part)
    assert np.array_equal(read(backend, restored, random_tokens(40)[38:], 38), expected[38:])


def test_another_layout_doesnt_load(decoder: Counting) -> None:
    backends = [
        backend_of(decoder),
        backend_of(decoder, dtype=torch.float16),
        backend_of(decoder, packed=True),
        backend_of(decoder, block=32),
        backend_of(small_decoder(layers=3)),
        backend_of(small_decoder(dtype=torch.bfloat16)),
    ]
    assert len({backend.layout for backend in backends}) == len(backends)
    for backend in backends:
        sequence = backend.new_sequence()
        read(backend, sequence, random_tokens(20))
        state = backend.save(sequence, 0, 20)
        for other in backends:
            target = other.new_sequence()
            if other is backend:
                other.load(target, state)
                assert other.positions(target) == [(0, 20)]
            else:
                with pytest.raises(RestoreError, match="another model, type or version"):
                    other.load(target, state)


@pytest.mark.parametrize("packed", [False, True])
def test_every_cut_of_a_state_is_noticed(decoder: Counting, packed: bool) -> None:
    backend = backend_of(decoder, packed=packed)
    sequence = backend.new_sequence()
    read(backend, sequence, random_tokens(40))
    state = bytes(backend.save(sequence, 3, 40))
    config = decoder.config
    shape = BlockShape(
        config.layers, config.kv_heads, BLOCK, config.head_dim, torch.float32, packed
    )
    assert len(decode_state(memoryview(state), shape, backend.layout)) == 3
    for stop in {*range(40), *range(0, len(state), 997), len(state) - 1}:
        with pytest.raises(RestoreError, match=r"cut short|another model"):
            decode_state(state[:stop], shape, backend.layout)
    with pytest.raises(RestoreError, match="longer than it should be"):
        decode_state(state + b"\0", shape, backend.layout)


def test_a_packed_piece_in_a_plain_state_is_refused(decoder: Counting) -> None:
    packed = backend_of(decoder, packed=True)
    sequence = packed.new_sequence()
    read(packed, sequence, random_tokens(40))
    state = bytes(packed.save(sequence, 0, 40))
    config = decoder.config
    shape = BlockShape(config.layers, config.kv_heads, BLOCK, config.head_dim, torch.float32)
    with pytest.raises(RestoreError, match="another model, type or version"):
        decode_state(state, shape, packed.layout)


def test_16_bits_kept_for_a_32_bit_model(decoder: Counting) -> None:
    whole, half = backend_of(decoder), backend_of(decoder, dtype=torch.float16)
    assert half.info.kv_bytes_per_token * 2 == whole.info.kv_bytes_per_token
    tokens = random_tokens(50)
    left, right = (read(one, one.new_sequence(), tokens) for one in (whole, half))
    assert 0 < np.abs(left - right).max() < 0.02


def test_8_bits_are_about_as_good(decoder: Counting) -> None:
    whole, packed = backend_of(decoder), backend_of(decoder, packed=True)
    tokens = random_tokens(200)
    left, right = (
        torch.from_numpy(read(one, one.new_sequence(), tokens)).double().log_softmax(-1)
        for one in (whole, packed)
    )
    loss = (left.exp() * (left - right)).sum(-1).mean()
    assert 0 < loss < 0.005
    assert packed.nbytes(0) < 0.5 * whole.nbytes(0)


def test_info_and_closing(decoder: Counting) -> None:
    backend = backend_of(decoder, batch=48)
    assert backend.name == "torch"
    assert backend.batch == 48
    assert backend.info.parameters == decoder.parameters > 0
    assert backend.info.can_trim
    read(backend, backend.new_sequence(), random_tokens(20))
    backend.close()
    assert backend.free_cells == 1024
    with pytest.raises(KeyError):
        backend.positions(0)


def test_a_sequence_may_begin_anywhere(decoder: Counting) -> None:
    """Positions go on counting after the first tokens have been dropped."""
    backend = backend_of(decoder, block=BLOCK)
    sequence = backend.new_sequence()
    read(backend, sequence, random_tokens(10), 1000)
    assert backend.positions(sequence) == [(1000, 1010)]
    shifted = read(backend, sequence, random_tokens(30, 1), 1010)
    other = backend.new_sequence()
    read(backend, other, random_tokens(10), 0)
    # RoPE depends on distance alone
    assert np.abs(read(backend, other, random_tokens(30, 1), 10) - shifted).max() < 1e-3
    with pytest.raises(ValueError, match="position -1"):
        backend.forward(backend.new_sequence(), [1], -1)


@pytest.mark.parametrize("static", [False, True])
def test_a_stale_number_that_isnt_one_stays_in_its_sequence(
    decoder: Counting, static: bool
) -> None:
    """Slots of another conversation are overwritten before they are read, even as 0 · NaN."""
    backend = backend_of(decoder, block=BLOCK, static=static)
    bad = backend.new_sequence()
    read(backend, bad, random_tokens(3 * BLOCK))
    _poison(backend, backend._sequences[bad])
    backend.forward(bad, [1], 3 * BLOCK)
    good = backend.new_sequence()
    assert np.isfinite(read(backend, good, random_tokens(20))).all()
    assert np.isfinite(backend.forward(good, [1], 20)).all()
    backend.free_sequence(bad)
    assert np.isfinite(read(backend, backend.new_sequence(), random_tokens(60))).all()


def _poison(backend: TorchBackend, cells: Cells) -> None:
    with torch.inference_mode():
        for entry in cells.entries:
            assert isinstance(entry.block.data, torch.Tensor)
            entry.block.data.fill_(float("nan"))
            entry.block.touch()
