"""What every backend must do, run against each of them.

A backend joins by adding a `Case` to CASES: a name and a function that makes a fresh backend with
the given cells, sequences and batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from engine.backend import Backend
from engine.errors import CannotTrim, NoFreeSequence, OutOfCells, RestoreError
from engine.fake_backend import FakeBackend
from engine.fake_tokenizer import FakeTokenizer


@dataclass(frozen=True)
class Case:
    """A backend under test.

    exact: the same tokens read in other pieces, or into cells further on, give the same bits; else
    within `tolerance`. The tolerance of a model with quantised weights is large: the last bit of a
    sum decides how an activation is rounded to 8 bits, and the difference grows from layer to
    layer up to the noise of that rounding.
    """

    name: str
    make: Callable[[Path, int, int, int], Backend]
    marks: tuple[pytest.MarkDecorator, ...] = ()
    exact: bool = True
    tolerance: float = 0.0


def _fake(model: Path, cells: int, sequences: int, batch: int) -> Backend:
    return FakeBackend(cells=cells, sequences=sequences, batch=batch)


def _llama(kv_type: str) -> Callable[[Path, int, int, int], Backend]:
    def make(model: Path, cells: int, sequences: int, batch: int) -> Backend:
        from engine.llama_backend import LlamaBackend
        from engine.model_file import read_model_file

        return LlamaBackend(
            read_model_file(model),
            cells=cells,
            sequences=sequences,
            batch=batch,
            kv_type=kv_type,
            threads=1,
        )

    return make


def _torch(dtype: str) -> Callable[[Path, int, int, int], Backend]:
    def make(model: Path, cells: int, sequences: int, batch: int) -> Backend:
        torch = pytest.importorskip("torch")
        from tests.engine.torch_backends import backend_of
        from tests.engine.torch_models import small_decoder

        decoder = small_decoder(dtype=getattr(torch, dtype), vocabulary=FakeTokenizer().vocabulary)
        return backend_of(decoder, cells=cells, sequences=sequences, batch=batch)

    return make


CASES = [
    Case("fake", _fake),
    Case("torch", _torch("float32")),
    Case("torch-bf16", _torch("bfloat16")),
    Case("llama.cpp", _llama("f16"), (pytest.mark.model,), exact=False, tolerance=1.5),
    Case("llama.cpp-q8_0", _llama("q8_0"), (pytest.mark.model,), tolerance=1.5),
]

TEXT = "The Supplier shall deliver the goods within thirty days of the order. "


@pytest.fixture(scope="module", params=[pytest.param(c, id=c.name, marks=c.marks) for c in CASES])
def case(request: pytest.FixtureRequest) -> Case:
    return request.param


@pytest.fixture(scope="module")
def shared(case: Case, request: pytest.FixtureRequest) -> Iterator[Backend]:
    path = request.getfixturevalue("model_path") if case.marks else Path()
    backend = case.make(path, 1024, 5, 64)
    yield backend
    backend.close()


@pytest.fixture
def backend(shared: Backend) -> Iterator[Backend]:
    """The shared backend, with every sequence freed afterwards."""
    free = shared.free_cells
    made: list[int] = []
    originals = shared.new_sequence, shared.fork

    def new_sequence() -> int:
        made.append(originals[0]())
        return made[-1]

    def fork(sequence: int) -> int:
        made.append(originals[1](sequence))
        return made[-1]

    shared.new_sequence, shared.fork = new_sequence, fork  # type: ignore[method-assign]
    yield shared
    shared.new_sequence, shared.fork = originals  # type: ignore[method-assign]
    for sequence in set(made):
        try:
            shared.positions(sequence)
        except (KeyError, ValueError):
            continue
        shared.free_sequence(sequence)
    assert shared.free_cells == free


def read(backend: Backend, sequence: int, tokens: list[int], start: int = 0) -> np.ndarray:
    """Reads tokens in batches; the last logits."""
    logits = np.empty(0)
    for at in range(0, len(tokens), backend.batch):
        logits = backend.forward(sequence, tokens[at : at + backend.batch], start + at)
    return logits


def same(case: Case, left: np.ndarray, right: np.ndarray) -> bool:
    return bool(np.array_equal(left, right)) if case.exact else near(case, left, right)


def near(case: Case, left: np.ndarray, right: np.ndarray) -> bool:
    """For cells in another order, which no real backend sums up to the same bits."""
    return bool(np.abs(left - right).max() <= case.tolerance)


def tokens_of(backend: Backend, count: int) -> list[int]:
    return (backend.tokenizer.encode(TEXT) * count)[:count]


def test_logits_have_the_vocabularys_shape(backend: Backend) -> None:
    sequence = backend.new_sequence()
    last = backend.forward(sequence, tokens_of(backend, 5), 0)
    every = backend.forward(sequence, tokens_of(backend, 3), 5, every=True)
    assert last.shape == (backend.info.vocabulary,)
    assert every.shape == (3, backend.info.vocabulary)
    assert last.dtype == every.dtype == np.float32


def test_returned_logits_stay_as_they_are(backend: Backend) -> None:
    sequence = backend.new_sequence()
    first = backend.forward(sequence, tokens_of(backend, 5), 0)
    copy = first.copy()
    backend.forward(sequence, tokens_of(backend, 5), 5)
    assert np.array_equal(first, copy)


def test_same_tokens_same_logits(case: Case, backend: Backend) -> None:
    one, two = backend.new_sequence(), backend.new_sequence()
    tokens = tokens_of(backend, 30)
    first = read(backend, one, tokens)
    backend.remove(one, 0, 30)
    assert np.array_equal(first, read(backend, one, tokens))
    assert same(case, read(backend, two, tokens), first)


def test_split_equals_whole(case: Case, backend: Backend) -> None:
    tokens = tokens_of(backend, 100)
    whole, split = backend.new_sequence(), backend.new_sequence()
    expected = read(backend, whole, tokens)
    backend.remove(whole, 0, 100)
    read(backend, split, tokens[:41])
    assert same(case, read(backend, split, tokens[41:], 41), expected)


def test_every_token_and_place_matters(backend: Backend) -> None:
    tokens = tokens_of(backend, 20)
    sequence = backend.new_sequence()
    expected = read(backend, sequence, tokens)
    for change in (0, 10, 19):
        other = list(tokens)
        other[change] = (other[change] + 7) % 200
        backend.remove(sequence, 0, 20)
        assert not np.array_equal(read(backend, sequence, other), expected)
    backend.remove(sequence, 0, 20)
    read(backend, sequence, tokens[1:2])
    swapped = backend.forward(sequence, [tokens[0], *tokens[2:]], 1)
    assert not np.array_equal(swapped, expected)


def test_positions_are_ranges(backend: Backend) -> None:
    sequence = backend.new_sequence()
    assert backend.positions(sequence) == []
    read(backend, sequence, tokens_of(backend, 40))
    assert backend.positions(sequence) == [(0, 40)]
    backend.remove(sequence, 8, 24)
    assert backend.positions(sequence) == [(0, 8), (24, 40)]
    backend.forward(sequence, tokens_of(backend, 2), 40)
    assert backend.positions(sequence) == [(0, 8), (24, 42)]


def test_removed_cells_are_free_again(backend: Backend) -> None:
    free = backend.free_cells
    sequence = backend.new_sequence()
    read(backend, sequence, tokens_of(backend, 40))
    assert backend.free_cells == free - 40
    assert backend.nbytes(sequence) == 40 * backend.info.kv_bytes_per_token
    backend.remove(sequence, 10, 20)
    assert backend.free_cells == free - 30
    assert backend.nbytes(sequence) == 30 * backend.info.kv_bytes_per_token


def test_removed_tail_can_be_read_again(case: Case, backend: Backend) -> None:
    tokens = tokens_of(backend, 50)
    sequence = backend.new_sequence()
    expected = read(backend, sequence, tokens)
    backend.remove(sequence, 30, 50)
    assert same(case, read(backend, sequence, tokens[30:], 30), expected)


def test_save_and_load_give_the_same_logits(case: Case, backend: Backend) -> None:
    tokens, more = tokens_of(backend, 70), tokens_of(backend, 5)
    sequence = backend.new_sequence()
    read(backend, sequence, tokens)
    state = backend.save(sequence, 0, 70)
    expected = backend.forward(sequence, more, 70)
    backend.free_sequence(sequence)
    restored = backend.new_sequence()
    backend.load(restored, state)
    assert backend.positions(restored) == [(0, 70)]
    assert same(case, backend.forward(restored, more, 70), expected)


def test_load_appends_ranges_saved_one_by_one(case: Case, backend: Backend) -> None:
    tokens, more = tokens_of(backend, 60), tokens_of(backend, 5)
    sequence = backend.new_sequence()
    read(backend, sequence, tokens)
    backend.remove(sequence, 10, 20)
    parts = [backend.save(sequence, 0, 30), backend.save(sequence, 30, 60)]
    expected = backend.forward(sequence, more, 60)
    backend.free_sequence(sequence)
    restored = backend.new_sequence()
    for part in parts:
        backend.load(restored, part)
    assert backend.positions(restored) == [(0, 10), (20, 60)]
    assert near(case, backend.forward(restored, more, 60), expected)


def test_saving_changes_nothing(case: Case, backend: Backend) -> None:
    tokens = tokens_of(backend, 40)
    sequence = backend.new_sequence()
    expected = read(backend, sequence, tokens)
    free = backend.free_cells
    first, second = backend.save(sequence, 0, 40), backend.save(sequence, 0, 40)
    assert first == second
    assert backend.free_cells == free
    backend.remove(sequence, 38, 40)  # one token alone may be computed in another way
    assert same(case, backend.forward(sequence, tokens[38:], 38), expected)


def test_state_has_an_honest_size(backend: Backend) -> None:
    sequence = backend.new_sequence()
    read(backend, sequence, tokens_of(backend, 200))
    cost = 200 * backend.info.kv_bytes_per_token
    assert cost <= len(backend.save(sequence, 0, 200)) <= 1.05 * cost + 4096


@pytest.mark.parametrize("damage", ["empty", "short", "long", "noise"])
def test_a_damaged_state_leaves_the_sequence_empty(backend: Backend, damage: str) -> None:
    sequence, other = backend.new_sequence(), backend.new_sequence()
    read(backend, sequence, tokens_of(backend, 40))
    bystander = backend.positions(sequence)
    state = bytes(backend.save(sequence, 0, 40))
    broken = {
        "empty": b"",
        "short": state[: len(state) // 2],
        "long": state + b"\0" * 64,
        "noise": b"\xff" * len(state),
    }[damage]
    free = backend.free_cells
    with pytest.raises(RestoreError):
        backend.load(other, broken)
    assert backend.positions(other) == []
    assert backend.free_cells == free
    assert backend.positions(sequence) == bystander


def test_a_state_must_follow_what_is_there(backend: Backend) -> None:
    sequence, other = backend.new_sequence(), backend.new_sequence()
    read(backend, sequence, tokens_of(backend, 40))
    read(backend, other, tokens_of(backend, 20))
    with pytest.raises(RestoreError):
        backend.load(other, backend.save(sequence, 10, 40))
    assert backend.positions(other) == []


def test_a_fork_shares_cells_until_it_differs(case: Case, backend: Backend) -> None:
    tokens, mine, yours = tokens_of(backend, 60), [111, 112, 113], [121, 122, 123]
    alone = backend.new_sequence()
    read(backend, alone, tokens)
    expected = backend.forward(alone, mine, 60)
    backend.free_sequence(alone)
    sequence = backend.new_sequence()
    read(backend, sequence, tokens)
    free = backend.free_cells
    copy = backend.fork(sequence)
    assert backend.free_cells == free
    backend.forward(copy, yours, 60)
    assert same(case, backend.forward(sequence, mine, 60), expected)
    backend.remove(copy, 0, 30)
    assert backend.positions(sequence) == [(0, 63)]
    backend.free_sequence(sequence)
    assert backend.positions(copy) == [(30, 63)]


def test_other_sequences_dont_matter(case: Case, backend: Backend) -> None:
    tokens = tokens_of(backend, 60)
    alone = backend.new_sequence()
    expected = read(backend, alone, tokens)
    backend.free_sequence(alone)
    one, two = backend.new_sequence(), backend.new_sequence()
    mixed = np.empty(0)
    for at in range(0, 60, 20):
        backend.forward(two, tokens_of(backend, 20)[::-1], at)
        mixed = backend.forward(one, tokens[at : at + 20], at)
    assert same(case, mixed, expected)


def test_no_room_changes_nothing(backend: Backend) -> None:
    sequence = backend.new_sequence()
    read(backend, sequence, tokens_of(backend, 64))
    saved = backend.save(sequence, 0, 64)
    blockers = [backend.new_sequence()]
    while backend.free_cells >= backend.batch:
        last = backend.positions(blockers[0])[-1][1] if backend.positions(blockers[0]) else 0
        backend.forward(blockers[0], tokens_of(backend, backend.batch), last)
    before = backend.positions(sequence), backend.free_cells
    with pytest.raises(OutOfCells):
        backend.forward(sequence, tokens_of(backend, backend.free_cells + 1), 64)
    assert (backend.positions(sequence), backend.free_cells) == before
    late = backend.new_sequence()
    with pytest.raises(OutOfCells):
        backend.load(late, saved)
    assert backend.positions(late) == []
    assert (backend.positions(sequence), backend.free_cells) == before


def test_sequences_run_out_and_come_back(backend: Backend) -> None:
    made = [backend.new_sequence() for _ in range(5)]
    assert len(set(made)) == 5
    with pytest.raises(NoFreeSequence):
        backend.new_sequence()
    with pytest.raises(NoFreeSequence):
        backend.fork(made[0])
    backend.free_sequence(made[2])
    assert backend.new_sequence() == made[2]


def test_wrong_calls_are_refused(backend: Backend) -> None:
    sequence = backend.new_sequence()
    with pytest.raises(ValueError, match="tokens"):
        backend.forward(sequence, [], 0)
    with pytest.raises(ValueError, match="tokens"):
        backend.forward(sequence, tokens_of(backend, backend.batch + 1), 0)
    backend.forward(sequence, tokens_of(backend, 4), 0)
    for wrong in (3, 5):
        with pytest.raises(ValueError, match="position"):
            backend.forward(sequence, [5], wrong)
    with pytest.raises(ValueError, match="vocabulary"):
        backend.forward(sequence, [backend.info.vocabulary], 4)
    assert backend.positions(sequence) == [(0, 4)]


def test_info_names_the_model(backend: Backend) -> None:
    info = backend.info
    assert info.name
    assert info.fingerprint
    assert info.kv_bytes_per_token > 0
    assert info.trained_context >= 1024
    assert backend.batch == 64
    assert backend.layout
    assert "im_start" in backend.chat_template


def test_tokenizer_goes_there_and_back(backend: Backend) -> None:
    tokenizer = backend.tokenizer
    text = "Clause 7.2 — liability ≤ €1,000; 违约责任 <|im_end|>"
    ids = tokenizer.encode(text)
    assert b"".join(map(tokenizer.piece, ids)).decode() == text
    assert not tokenizer.end_tokens & set(ids)
    special = tokenizer.encode("<|im_start|>user", special=True)
    assert tokenizer.piece(special[0]) == b""
    assert tokenizer.encode("<|im_end|>", special=True)[0] in tokenizer.end_tokens


def test_a_model_that_cannot_trim_says_so() -> None:
    backend = FakeBackend(can_trim=False)
    sequence = backend.new_sequence()
    backend.forward(sequence, [1, 2, 3, 4], 0)
    with pytest.raises(CannotTrim):
        backend.remove(sequence, 1, 2)
    with pytest.raises(CannotTrim):
        backend.save(sequence, 0, 2)
    assert backend.positions(sequence) == [(0, 4)]
    copy = backend.fork(sequence)
    state = backend.save(sequence, 0, 4)
    backend.remove(sequence, 0, 4)
    backend.load(sequence, state)
    one, two = backend.forward(sequence, [5], 4), backend.forward(copy, [5], 4)
    assert np.array_equal(one, two)
    with pytest.raises(RestoreError):
        backend.load(sequence, state)
    assert backend.positions(sequence) == []
