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
from engine.speculation import Pace, PromptLookup, Stepper
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
    stepper = Stepper(
        backend, sequence, len(ids), PromptLookup(ids) if lookup else None, pace, ticking()
    )
    sampler = Sampler(SamplingOptions(temperature=heat, seed=3))
    answer: list[int] = []
    while len(answer) < most:
        token = sampler.sample(logits)
        if token == TURN_END:
            break
        answer.append(token)
        logits = stepper.step(token)
    stepper.settle()
    assert backend.positions(sequence) == [(0, len(ids) + len(answer))]
    assert stepper.position == len(ids) + len(answer)
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


def test_dear_batches_are_not_used():
    pace = keen()
    for _ in range(30):
        pace.read(8, 9.0)  # more than a second for each further token
    assert pace.length(8) == 0


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
    stepper = Stepper(backend, ahead, len(ids), PromptLookup(ids), AlwaysMost())
    for place, token in enumerate(backend.tokenizer.encode("the supplier of the goods")):
        expected = backend.forward(plain, [token], len(ids) + place)
        assert np.array_equal(stepper.step(token), expected)
    assert stepper.guessed > stepper.accepted > 0


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


def test_a_model_that_cannot_drop_tokens_is_read_token_by_token():
    backend = FakeBackend(reply=QUOTE, can_trim=False)
    answer, stepper = decoded(backend, lookup=True, pace=AlwaysMost())
    assert answer == backend.tokenizer.encode(QUOTE)
    assert stepper.guessed == 0


def test_no_guess_is_longer_than_a_batch():
    backend = FakeBackend(reply=QUOTE, batch=128)
    small = FakeBackend(reply=QUOTE, batch=2)
    ids = prompt(backend)
    sequence = small.new_sequence()
    for place, token in enumerate(ids):
        small.forward(sequence, [token], place)
    stepper = Stepper(small, sequence, len(ids), PromptLookup(ids), AlwaysMost())
    for token in small.tokenizer.encode(QUOTE):
        stepper.step(token)
    assert 0 < stepper.guessed <= small.forwards
