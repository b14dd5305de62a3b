from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import OutOfCells
from engine.fake_backend import FakeBackend
from engine.fake_tokenizer import TURN_END
from engine.sampling import Sampler
from engine.speculation import Lookahead, Pace, PromptLookup, Stepper, rows_alike
from engine.types import SamplingOptions

QUOTE = "the supplier shall deliver the goods within thirty days of the notice"


def prompt(backend: FakeBackend, text: str = QUOTE) -> list[int]:
    tokens = backend.tokenizer.encode
    ask = tokens("<|im_start|>user\n" + text + "<|im_end|>\n", special=True)
    return ask + tokens("<|im_start|>assistant\n", special=True)


def decoded(
    backend: FakeBackend,
    lookup: bool,
    pace: Pace | None = None,
    heat: float = 0.0,
    most: int = 80,
) -> tuple[list[int], Stepper]:
    """Tokens of an answer, and the stepper that read them."""
    ids = prompt(backend)
    sequence = backend.new_sequence()
    logits = backend.forward(sequence, ids, 0)
    known = PromptLookup(ids) if lookup else None
    stepper = Stepper(backend, backend.forward, known, pace or Pace(), 8, ticking())
    sampler = Sampler(SamplingOptions(temperature=heat, seed=3))
    answer: list[int] = []
    while len(answer) < most:
        token = sampler.sample(logits)
        if token == TURN_END:
            break
        logits = stepper.step(sequence, token, len(ids) + len(answer))
        answer.append(token)
    stepper.settle()
    assert backend.positions(sequence) == [(0, len(ids) + len(answer))]
    return answer, stepper


def ticking():
    """A clock by which every forward takes one second."""
    ticks = itertools.count()
    return lambda: float(next(ticks))


def keen() -> Pace:
    """A pace that has seen guesses come true."""
    pace = Pace()
    pace.read(1, 1.0)
    pace.judged(8, 8)
    return pace


class AlwaysMost(Pace):
    def length(self, most: int) -> int:
        return most


# ------------------------------------------------------------------ guesses


def test_the_guess_follows_the_longest_match():
    lookup = PromptLookup([1, 2, 3, 4, 5, 9, 2, 3, 7, 7, 1, 2, 3])
    assert lookup.guess(3) == [4, 5, 9]  # after 1 2 3, though 2 3 stood later
    lookup.append(4)
    assert lookup.guess(2) == [5, 9]


def test_of_equal_matches_the_last_counts():
    assert PromptLookup([1, 2, 5, 1, 2, 6, 1, 2]).guess(1) == [6]


def test_nothing_like_it_stood_before():
    assert PromptLookup([1, 2, 3]).guess(4) == []
    assert PromptLookup([]).guess(4) == []
    assert PromptLookup([1]).guess(4) == []


def test_a_guess_may_run_into_the_newest_tokens():
    assert PromptLookup([1, 1, 1]).guess(4) == [1]


@given(st.lists(st.integers(0, 3), max_size=30), st.integers(1, 6))
def test_a_guess_stands_after_the_newest_tokens_somewhere(tokens, most):
    guess = PromptLookup(tokens).guess(most)
    if guess:
        pair = tokens[-2:]
        places = [n for n in range(len(tokens) - 2) if tokens[n : n + 2] == pair]
        assert any(tokens[n + 2 : n + 2 + len(guess)] == guess for n in places)


# --------------------------------------------------------------------- pace


def test_nothing_is_guessed_before_the_cost_of_one_token_is_known():
    pace = Pace()
    assert pace.length(8) == 0
    pace.read(4, 1.0)
    assert pace.length(8) == 0
    pace.read(1, 1.0)
    assert pace.length(8) > 0


def test_right_guesses_grow_and_wrong_ones_shrink_to_nothing():
    pace = keen()
    for _ in range(4):
        pace.judged(8, 8)
    assert pace.length(8) >= 6
    for _ in range(30):
        pace.judged(2, 0)
    assert pace.acceptance < 0.15
    assert pace.length(8) == 0


def test_after_a_while_it_is_tried_again():
    pace = keen()
    for _ in range(30):
        pace.judged(2, 0)
    assert any(pace.length(8) for _ in range(200))


def test_dear_batches_are_not_used_but_tried_again():
    pace = keen()
    for _ in range(9):
        pace.read(8, 9.0)  # more than a second for each further token
    assert pace.length(8) == 0
    assert any(pace.length(8) for _ in range(200))


def test_a_single_slow_batch_changes_nothing():
    pace = keen()
    for seconds in (3.0, 90.0, 3.0):
        pace.read(8, seconds)
    assert pace.extra == pytest.approx(2 / 7)
    assert pace.length(8) > 0


def test_free_batches_are_used_in_full():
    pace = keen()
    for _ in range(30):
        pace.read(8, 1.0)
    assert pace.length(8) == 8


# ------------------------------------------------------------------ stepper


@pytest.mark.parametrize("reply", ["", QUOTE, "the supplier shall pay", "none of it"])
@pytest.mark.parametrize("heat", [0.0, 0.8])
@pytest.mark.parametrize("pace", [Pace, keen, AlwaysMost])
def test_the_answer_is_the_same_with_and_without(reply, heat, pace):
    plain, _ = decoded(FakeBackend(reply=reply), lookup=False, heat=heat)
    ahead, _ = decoded(FakeBackend(reply=reply), lookup=True, pace=pace(), heat=heat)
    assert ahead == plain


def test_a_quotation_takes_fewer_forwards():
    plain, ahead = FakeBackend(reply=QUOTE), FakeBackend(reply=QUOTE)
    answer, _ = decoded(plain, lookup=False)
    _, stepper = decoded(ahead, lookup=True, pace=keen())
    assert plain.forwards == 1 + len(answer)
    assert ahead.forwards < plain.forwards / 2
    assert stepper.accepted > len(answer) / 2
    assert stepper.guessed >= stepper.accepted


def test_logits_are_those_of_a_plain_forward():
    backend = FakeBackend(reply="the supplier shall pay")
    ids = prompt(backend)
    ahead, plain = backend.new_sequence(), backend.new_sequence()
    backend.forward(ahead, ids, 0)
    backend.forward(plain, ids, 0)
    stepper = Stepper(backend, backend.forward, PromptLookup(ids), AlwaysMost())
    for place, token in enumerate(backend.tokenizer.encode("the supplier of the goods")):
        expected = backend.forward(plain, [token], len(ids) + place)
        assert np.array_equal(stepper.step(ahead, token, len(ids) + place), expected)
    assert stepper.guessed > stepper.accepted > 0


def test_a_position_that_does_not_follow_makes_a_guess_void():
    backend = FakeBackend()
    ids = prompt(backend)
    sequence = backend.new_sequence()
    backend.forward(sequence, ids, 0)
    stepper = Stepper(backend, backend.forward, PromptLookup(ids), AlwaysMost())
    the, supplier, shall, *_ = backend.tokenizer.encode(QUOTE)
    stepper.step(sequence, the, len(ids))
    stepper.step(sequence, supplier, len(ids) + 1)
    assert stepper.guessed > 0
    with pytest.raises(ValueError, match="doesn't follow"):
        stepper.step(sequence, shall, 500)
    stepper.settle()
    assert backend.positions(sequence) == [(0, len(ids) + 2)]


def test_a_full_device_reads_token_by_token():
    backend = FakeBackend(reply=QUOTE)
    room = len(prompt(backend)) + len(backend.tokenizer.encode(QUOTE))
    answer, stepper = decoded(FakeBackend(reply=QUOTE, cells=room), lookup=True, pace=keen())
    assert answer == backend.tokenizer.encode(QUOTE)
    assert stepper.guessed > 0


def test_a_device_with_no_cell_at_all_says_so():
    backend = FakeBackend(cells=len(prompt(FakeBackend())))
    with pytest.raises(OutOfCells):
        decoded(backend, lookup=True, pace=AlwaysMost())


# ---------------------------------------------------------------- lookahead


class Rounded(FakeBackend):
    """Reads several tokens at once with other last bits, from the third on."""

    def forward(self, sequence, tokens, start, *, every=False):
        logits = super().forward(sequence, tokens, start, every=every)
        if every:
            logits[2:] += 1e-3
        return logits


def undeclared() -> FakeBackend:
    backend = FakeBackend()
    backend.rows_alike = 1
    return backend


@pytest.mark.parametrize(
    ("backend", "mode", "most"),
    [
        (FakeBackend(), "auto", 8),
        (FakeBackend(), "off", 0),
        (FakeBackend(batch=4), "auto", 3),
        (FakeBackend(can_trim=False), "always", 0),
        (Rounded(), "auto", 1),
        (Rounded(), "always", 8),
        (undeclared(), "auto", 0),
        (FakeBackend(cells=4), "auto", 0),
    ],
)
def test_how_far_answers_are_read_ahead(backend, mode, most):
    lookahead = Lookahead(backend, mode)
    assert lookahead.most == most
    forwards = backend.forwards
    assert lookahead.most == most
    assert backend.forwards == forwards  # it is tried once


def test_the_trial_leaves_nothing_behind():
    backend = FakeBackend()
    assert rows_alike(backend, 9) == 9
    assert backend.free_cells == FakeBackend().free_cells


def test_without_a_sequence_to_try_it_nothing_is_read_ahead():
    backend = FakeBackend(sequences=1)
    backend.new_sequence()
    assert rows_alike(backend, 9) == 1


def test_the_lookahead_makes_steppers_that_share_a_pace():
    backend = FakeBackend()
    ids = prompt(backend)
    lookahead = Lookahead(backend)
    lookahead.pace.read(1, 1e9)  # whatever a batch takes, it is cheaper
    sequence = backend.new_sequence()
    backend.forward(sequence, ids, 0)
    stepper = lookahead.stepper(backend.forward, lambda: ids)
    for place, token in enumerate(backend.tokenizer.encode(QUOTE)):
        stepper.step(sequence, token, len(ids) + place)
    assert stepper.accepted > 0
    off = Lookahead(backend, "off").stepper(backend.forward, lambda: ids)
    off.settle()
    assert off.guessed == 0
