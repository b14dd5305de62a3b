"""What exact means, for the torch backend: six proofs, property-based, each counting its hits."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from engine import torch_attention
from engine.kv_blocks import BlockShape
from engine.torch_backend import TorchBackend
from engine.torch_cells import Piece
from engine.torch_config import RopeSpec
from engine.torch_model import Decoder
from engine.torch_rope import frequencies
from engine.torch_state import decode_state, encode_state
from tests.engine.torch_backends import Counting, backend_of, naive_logits, read
from tests.engine.torch_models import random_tokens, small_config, small_decoder

BLOCK = 16
TYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
SEEN = settings(max_examples=25, deadline=None, derandomize=True)


@pytest.fixture(scope="module")
def decoders() -> dict[torch.dtype, Decoder]:
    return {
        torch.float32: small_decoder(dtype=torch.float32),
        torch.bfloat16: small_decoder(dtype=torch.bfloat16),
    }


def cut(tokens: list[int], places: list[int]) -> list[tuple[int, list[int]]]:
    """The tokens in pieces, each with its start."""
    edges = [0, *sorted({place % len(tokens) for place in places} - {0}), len(tokens)]
    return [(a, tokens[a:b]) for a, b in pairwise(edges)]


# 1. Restored equals live.


@TYPES
@pytest.mark.parametrize("packed", [False, True])
@given(turns=st.lists(st.integers(2, 60), min_size=1, max_size=4), trim=st.integers(0, 100))
@SEEN
def test_restored_equals_live(
    decoders: dict[torch.dtype, Decoder],
    dtype: torch.dtype,
    packed: bool,
    turns: list[int],
    trim: int,
) -> None:
    """Saved turn by turn while the conversation goes on, then restored in another backend."""
    decoder = Counting(decoders[dtype])
    live, other = (backend_of(decoder, block=BLOCK, packed=packed) for _ in range(2))
    sequence, states, start = live.new_sequence(), [], 0
    for number, length in enumerate(turns):
        read(live, sequence, random_tokens(length, number), start)
        live.forward(sequence, [5], start + length)
        states.append(live.save(sequence, start, start + length + 1))
        start += length + 1
    restored = other.new_sequence()
    for state in states:
        other.load(restored, state)
    for backend, own in ((live, sequence), (other, restored)):
        backend.remove(own, trim % start, trim % start + 9)
    if trim % start + 9 >= start:
        return  # the tail was trimmed: nothing to go on from at `start`
    assert live.positions(sequence) == other.positions(restored)
    decoder.rows = 0
    again = read(other, restored, [7, 8, 9], start)
    assert decoder.rows <= 2 * BLOCK  # nothing of the history was computed again
    assert np.array_equal(again, read(live, sequence, [7, 8, 9], start))
    one = other.forward(restored, [4], start + 3)
    assert np.array_equal(one, live.forward(sequence, [4], start + 3))


# 2. Split equals whole.


@TYPES
@pytest.mark.parametrize(("packed", "together"), [(False, 1), (False, 3), (True, 1)])
@given(
    length=st.integers(2, 130),
    places=st.lists(st.integers(0, 200), max_size=8),
    restore=st.booleans(),
)
@SEEN
def test_split_equals_whole(
    decoders: dict[torch.dtype, Decoder],
    dtype: torch.dtype,
    packed: bool,
    together: int,
    length: int,
    places: list[int],
    restore: bool,
) -> None:
    """A prompt read in any pieces, saved and restored between them, gives one reading's bits.

    Also the bits of one block after the other, where several are read at once.
    """
    single = backend_of(decoders[dtype], block=BLOCK, packed=packed, together=1)
    backend = backend_of(decoders[dtype], block=BLOCK, packed=packed, together=together)
    tokens = random_tokens(length)
    whole = read(single, single.new_sequence(), tokens)
    sequence, found, loads = backend.new_sequence(), [], 0
    for start, piece in cut(tokens, places):
        if restore and start:
            state = backend.save(sequence, 0, start)
            backend.free_sequence(sequence)
            sequence = backend.new_sequence()
            backend.load(sequence, state)
            loads += 1
        assert backend.positions(sequence) == ([(0, start)] if start else [])
        found.append(read(backend, sequence, piece, start))
    assert np.array_equal(np.concatenate(found), whole)
    assert loads == (len(found) - 1 if restore else 0)


def test_several_blocks_are_computed_at_once(decoders: dict[torch.dtype, Decoder]) -> None:
    seen: list[int] = []

    class Watched(Counting):
        def hidden(self, tokens: Tensor, *others: object) -> Tensor:
            seen.append(len(tokens))
            return super().hidden(tokens, *others)  # type: ignore[arg-type]

    backend = backend_of(Watched(decoders[torch.bfloat16]), block=BLOCK, together=3)
    sequence = backend.new_sequence()
    backend.forward(sequence, random_tokens(20), 0)
    backend.forward(sequence, random_tokens(70), 20)
    assert seen == [2 * BLOCK, 3 * BLOCK, 2 * BLOCK]
    packed = backend_of(Watched(decoders[torch.bfloat16]), block=BLOCK, together=3, packed=True)
    packed.forward(packed.new_sequence(), random_tokens(20), 0)
    assert seen[3:] == [BLOCK, BLOCK]


@given(
    length=st.integers(2 * BLOCK, 130),
    places=st.lists(st.integers(0, 200), max_size=4),
    trim=st.one_of(st.none(), st.tuples(st.integers(0, 100), st.integers(1, 40))),
)
@SEEN
def test_past_and_own_block_apart(
    decoders: dict[torch.dtype, Decoder],
    length: int,
    places: list[int],
    trim: tuple[int, int] | None,
) -> None:
    """What is computed in two parts is what one mask gives; a hole is only in the mask."""
    calls, tokens, more = 0, random_tokens(length), random_tokens(BLOCK + 3, 1)
    kernel = torch_attention.two_part_attention

    def counted(*arguments: Any) -> Tensor:
        nonlocal calls
        calls += 1
        return kernel(*arguments)

    found = []
    for least in (BLOCK, 10**6):
        backend = backend_of(decoders[torch.float32], block=BLOCK, together=2)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(torch_attention, "_MANY_SLOTS", least)
            patch.setattr(torch_attention, "two_part_attention", counted)
            sequence = backend.new_sequence()
            for start, piece in cut(tokens, places):
                read(backend, sequence, piece, start)
            calls = 0
            if trim and trim[0] < length - 1:
                backend.remove(sequence, trim[0], min(sum(trim), length - 1))
            has_holes = backend._sequences[sequence].has_holes
            found.append(read(backend, sequence, more, length))
        assert (calls > 0) == (least == BLOCK and not has_holes)
    assert np.abs(found[0] - found[1]).max() <= 1e-4


def test_the_last_logits_dont_depend_on_the_split(decoders: dict[torch.dtype, Decoder]) -> None:
    backend = backend_of(decoders[torch.bfloat16], block=BLOCK)
    tokens, results = random_tokens(75), []
    for first in (75, 40, 73, 2):
        sequence = backend.new_sequence()
        if first < 75:
            backend.forward(sequence, tokens[:first], 0)
        results.append(backend.forward(sequence, tokens[first % 75 :], first % 75))
    assert all(np.array_equal(result, results[0]) for result in results)


# 3. Cold against warm.


@TYPES
@given(length=st.integers(1, 60), answer=st.integers(1, 30))
@SEEN
def test_cold_equals_warm_but_for_last_bits(
    decoders: dict[torch.dtype, Decoder], dtype: torch.dtype, length: int, answer: int
) -> None:
    """Greedy answers: the same token unless the two best are within the tolerance."""
    tolerance = 1e-4 if dtype == torch.float32 else 0.3
    backend = backend_of(decoders[dtype], block=BLOCK)
    prompt, sequence = random_tokens(length), backend.new_sequence()
    warm = [read(backend, sequence, prompt)[-1]]
    ids: list[int] = []
    for at in range(answer):
        ids.append(int(warm[-1].argmax()))
        warm.append(backend.forward(sequence, [ids[-1]], length + at))
    cold = read(backend, backend.new_sequence(), prompt + ids)[length - 1 :]
    for left, right in zip(warm, cold, strict=True):
        assert np.abs(left - right).max() <= tolerance
        if left.argmax() != right.argmax():
            best = np.sort(right)[-2:]
            assert best[1] - best[0] <= tolerance


def test_reading_the_answer_again_makes_a_conversation_exact(
    decoders: dict[torch.dtype, Decoder],
) -> None:
    decoder = Counting(decoders[torch.bfloat16])
    backend = backend_of(decoder, block=BLOCK)
    tokens, sequence = random_tokens(60), backend.new_sequence()
    read(backend, sequence, tokens[:40])
    for at in range(40, 57):
        backend.forward(sequence, [tokens[at]], at)
    backend.remove(sequence, 40, 57)
    decoder.rows = 0
    again = read(backend, sequence, tokens[40:], 40)
    assert decoder.rows == 2 * BLOCK  # the prompt wasn't read again
    assert np.array_equal(again, read(backend, backend.new_sequence(), tokens)[40:])


# 4. Trimmed equals masked.


@pytest.mark.parametrize("family", ["plain", "sliding"])
@given(
    length=st.integers(20, 120),
    trims=st.lists(st.tuples(st.integers(0, 119), st.integers(1, 40)), min_size=1, max_size=3),
)
@SEEN
def test_trimmed_equals_masked(family: str, length: int, trims: list[tuple[int, int]]) -> None:
    changes = {"sliding_window": 24, "local_layers": (True, False)} if family == "sliding" else {}
    decoder = Counting(small_decoder(**changes))
    backend = backend_of(decoder, block=BLOCK)
    tokens, more = random_tokens(length), random_tokens(5, 1)
    sequence = backend.new_sequence()
    read(backend, sequence, tokens)
    gone: set[int] = set()
    for start, count in trims:
        stop = min(start + count, length - 1)  # the last token stays: the next follows it
        backend.remove(sequence, start, stop)
        gone |= set(range(start, stop))
    expected = naive_logits(decoder, tokens + more, length, gone)
    decoder.rows = 0
    found = [
        read(backend, sequence, more[:3], length),
        *(backend.forward(sequence, [more[at]], length + at)[None] for at in (3, 4)),
    ]
    assert decoder.rows <= 2 * BLOCK + 2
    assert np.abs(np.concatenate(found) - expected[length:]).max() <= 1e-4


# 5. One layer: trim and renumber equals fresh.

ROPES = {
    "plain": RopeSpec(10000.0, 16),
    "partial": RopeSpec(10000.0, 8),
    "linear": RopeSpec(10000.0, 16, "linear", 4.0),
    "llama3": RopeSpec(10000.0, 16, "llama3", 8.0, 1.0, 4.0, 64),
    "factors": RopeSpec(
        10000.0, 16, "factors", factors=tuple(1 + i / 3 for i in range(8)), attention_factor=1.2
    ),
}


@pytest.mark.parametrize("rope", ROPES)
@given(head=st.integers(1, 40), gap=st.integers(1, 50), tail=st.integers(2, 40))
@SEEN
def test_one_layer_trim_and_renumber_equals_fresh(
    rope: str, head: int, gap: int, tail: int
) -> None:
    """With one layer keys and values depend on token and position alone."""
    decoder = small_decoder(layers=1, rope=ROPES[rope])
    backend = backend_of(decoder, block=BLOCK)
    tokens, more = random_tokens(head + gap + tail), random_tokens(4, 1)
    sequence = backend.new_sequence()
    read(backend, sequence, tokens)
    backend.remove(sequence, head, head + gap)
    assert backend.positions(sequence) == [(0, head), (head + gap, head + gap + tail)]
    kept, renumbered = tokens[:head] + tokens[head + gap :], backend.new_sequence()
    backend.load(renumbered, renumber(backend, sequence, ROPES[rope], head, gap, tail))
    fresh = read(backend, backend.new_sequence(), kept + more)[len(kept) :]
    assert backend.positions(renumbered) == [(0, head + tail)]
    assert np.abs(read(backend, renumbered, more, len(kept)) - fresh).max() <= 1e-4


def renumber(
    backend: TorchBackend, sequence: int, rope: RopeSpec, head: int, gap: int, tail: int
) -> bytes:
    """The saved state with the tokens behind the gap moved down by it, keys turned back."""
    config = small_config(layers=1)
    shape = BlockShape(1, config.kv_heads, BLOCK, config.head_dim, torch.float32)
    stop = head + gap + tail
    pieces = decode_state(bytes(backend.save(sequence, 0, stop)), shape, backend.layout)
    cells = torch.zeros(1, 2, config.kv_heads, -(-stop // BLOCK) * BLOCK, config.head_dim)
    for piece in pieces:
        cells[:, :, :, piece.index * BLOCK : (piece.index + 1) * BLOCK] = piece.data
    moved = cells[:, :, :, head + gap : stop].clone()
    moved[:, 0] = turned(moved[:, 0], rope, -gap)
    dense = torch.zeros_like(cells)
    dense[:, :, :, :head] = cells[:, :, :, :head]
    dense[:, :, :, head : head + tail] = moved
    present = np.arange(dense.shape[3]) < head + tail
    blocks = range(-(-(head + tail) // BLOCK))
    runs = [slice(index * BLOCK, (index + 1) * BLOCK) for index in blocks]
    moved_pieces = [
        Piece(index, present[run], dense[:, :, :, run].contiguous())
        for index, run in enumerate(runs)
    ]
    return encode_state(moved_pieces, shape, backend.layout)


def turned(keys: Tensor, rope: RopeSpec, by: int) -> Tensor:
    """Keys (…, D) rotated by `by` positions, in real numbers."""
    angles = frequencies(rope) * by
    first, second = keys[..., 0 : rope.dimension : 2], keys[..., 1 : rope.dimension : 2]
    result = keys.clone()
    result[..., 0 : rope.dimension : 2] = first * angles.cos() - second * angles.sin()
    result[..., 1 : rope.dimension : 2] = first * angles.sin() + second * angles.cos()
    return result


# 6. Conversations don't matter to each other.


@TYPES
@pytest.mark.parametrize("packed", [False, True])
def test_canaries_never_cross(
    decoders: dict[torch.dtype, Decoder], dtype: torch.dtype, packed: bool
) -> None:
    """Two interleaved conversations give the bits that each gives alone."""
    backend = backend_of(decoders[dtype], block=BLOCK, packed=packed)
    canaries = [random_tokens(90, seed) for seed in (1, 2)]
    alone: list[list[np.ndarray]] = []
    for canary in canaries:
        lonely = backend_of(decoders[dtype], block=BLOCK, packed=packed)
        own = lonely.new_sequence()
        prompt = read(lonely, own, canary[:70])
        alone.append([*prompt, *(lonely.forward(own, [canary[at]], at) for at in range(70, 90))])
    sequences = [backend.new_sequence(), backend.new_sequence()]
    mixed: list[list[np.ndarray]] = [[], []]
    for start in range(0, 70, 14):
        for number in (0, 1):
            piece = canaries[number][start : start + 14]
            mixed[number] += list(read(backend, sequences[number], piece, start))
    for at in range(70, 90):
        for number in (0, 1):
            mixed[number].append(backend.forward(sequences[number], [canaries[number][at]], at))
    for together, lonely_logits in zip(mixed, alone, strict=True):
        assert np.array_equal(np.stack(together), np.stack(lonely_logits))
    assert not np.array_equal(np.stack(mixed[0]), np.stack(mixed[1]))


def test_another_base_gives_other_logits() -> None:
    """The proofs above can fail: a rotation by another base is seen."""
    tokens = random_tokens(40)
    left = naive_logits(small_decoder(), tokens, 40, set())
    right = naive_logits(small_decoder(rope=RopeSpec(9000.0, 16)), tokens, 40, set())
    assert np.abs(left - right).max() > 1e-3
