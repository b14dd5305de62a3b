from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from engine.errors import EngineError
from engine.sampling import Sampler, log_probability
from engine.types import SamplingOptions

LOGITS = hnp.arrays(np.float32, st.integers(2, 40), elements=st.floats(-20, 20, width=32))


def options(**changes) -> SamplingOptions:
    return SamplingOptions(**{"temperature": 1.0, "seed": 7, **changes})


def drawn(logits: np.ndarray, count: int = 300, **changes) -> list[int]:
    sampler = Sampler(options(**changes))
    return [sampler.sample(logits) for _ in range(count)]


def reference(logits: np.ndarray, k: int, p: float, min_p: float) -> set[int]:
    """The candidates, in the plainest way."""
    order = sorted(range(len(logits)), key=lambda i: (-float(logits[i]), i))
    order = order[: k or len(order)]
    chances = np.exp(np.array([float(logits[i]) - float(logits[order[0]]) for i in order]))
    mass = np.cumsum(chances) / chances.sum()
    if p < 1:
        order = order[: int(np.searchsorted(mass, p)) + 1]
    return {i for n, i in enumerate(order) if chances[n] >= min_p * (1 - 1e-12)}


@given(LOGITS)
def test_temperature_zero_is_the_first_of_the_likeliest(logits):
    assert Sampler(SamplingOptions()).sample(logits) == int(np.argmax(logits))


@given(LOGITS, st.integers(0, 10), st.floats(0.05, 1.0), st.floats(0, 1.0), st.integers(0, 99))
def test_only_candidates_of_top_k_top_p_and_min_p_are_drawn(logits, k, p, min_p, seed):
    sampler = Sampler(options(top_k=k, top_p=p, min_p=min_p, seed=seed))
    # A hair wider: the reference adds in another order.
    wanted = reference(logits, k, min(p + 1e-9, 1.0), max(min_p - 1e-9, 0.0))
    assert {sampler.sample(logits) for _ in range(20)} <= wanted


def test_chances_follow_the_softmax():
    logits = np.log(np.array([0.5, 0.3, 0.2], dtype=np.float32))
    counts = np.bincount(drawn(logits, 4000), minlength=3) / 4000
    assert np.allclose(counts, [0.5, 0.3, 0.2], atol=0.03)


def test_a_low_temperature_sharpens_and_a_high_one_flattens():
    logits = np.array([1.0, 0.0], dtype=np.float32)
    cold = drawn(logits, temperature=0.05).count(0)
    hot = drawn(logits, temperature=100.0).count(0)
    assert cold == 300
    assert 110 < hot < 190


def test_top_p_looks_beyond_the_few_best_when_it_must():
    logits = np.zeros(2000, dtype=np.float32)
    found = set(drawn(logits, 2000, top_p=0.9))
    assert max(found) > 600
    assert max(found) < 1800


def test_the_same_seed_gives_the_same_tokens_and_another_seed_others():
    logits = np.zeros(1000, dtype=np.float32)
    assert drawn(logits, 20) == drawn(logits, 20)
    assert drawn(logits, 20) != drawn(logits, 20, seed=8)
    assert drawn(logits, 20, seed=None) != drawn(logits, 20, seed=None)


def test_a_saved_state_goes_on_with_the_same_choices():
    # given a sampler in the middle of an answer
    logits = np.zeros(1000, dtype=np.float32)
    sampler = Sampler(options(repetition_penalty=1.2))
    for _ in range(5):
        sampler.accept(sampler.sample(logits))
    # when its state goes through JSON into another one
    other = Sampler(options(repetition_penalty=1.2, seed=99))
    other.restore(json.loads(json.dumps(sampler.state())))
    # then both go on alike
    assert [other.sample(logits) for _ in range(9)] == [sampler.sample(logits) for _ in range(9)]
    assert other.state()["seen"] == sampler.state()["seen"]


@pytest.mark.parametrize("state", [{}, {"generator": {}, "seen": []}, {"generator": 3, "seen": 1}])
def test_what_is_no_state_is_refused(state):
    with pytest.raises(ValueError, match="not a sampler's state"):
        Sampler(options()).restore(state)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_repetition_penalty_makes_used_tokens_less_likely(sign):
    logits = np.array([1.0, 0.9], dtype=np.float32) * sign
    sampler = Sampler(SamplingOptions(repetition_penalty=1.5))
    best = int(np.argmax(logits))
    assert sampler.sample(logits) == best
    sampler.accept(best)
    assert sampler.sample(logits) == 1 - best
    assert sampler.sample(logits, np.array([best, 1 - best])) == 1 - best


def test_tokens_given_as_seen_are_penalised_and_ids_out_of_range_ignored():
    sampler = Sampler(SamplingOptions(repetition_penalty=2.0), seen=[0, 5])
    assert sampler.sample(np.array([1.0, 0.9], dtype=np.float32)) == 1


@given(LOGITS, st.data())
def test_only_allowed_tokens_are_chosen(logits, data):
    mask = data.draw(hnp.arrays(np.bool_, len(logits)).filter(lambda m: bool(m.any())))
    heat = data.draw(st.sampled_from([0.0, 1.0]))
    for allowed in (mask, np.flatnonzero(mask)):
        token = Sampler(options(temperature=heat, top_p=0.9)).sample(logits, allowed)
        assert mask[token]
        if heat == 0:
            assert logits[token] == logits[mask].max()


@pytest.mark.parametrize("allowed", [np.zeros(2, dtype=np.bool_), np.array([], dtype=np.int64)])
def test_no_allowed_token_is_an_error(allowed):
    with pytest.raises(EngineError, match="no usable next token"):
        Sampler(options()).sample(np.zeros(2, dtype=np.float32), allowed)


def test_logits_that_are_not_numbers():
    mixed = np.array([np.nan, -1.0, -np.inf], dtype=np.float32)
    assert Sampler(SamplingOptions()).sample(mixed) == 1
    with pytest.raises(EngineError, match="no usable next token"):
        Sampler(SamplingOptions()).sample(np.full(3, np.nan, dtype=np.float32))


def test_an_impossible_last_token_is_never_drawn():
    logits = np.array([0.0, 0.0, -np.inf], dtype=np.float32)
    assert set(drawn(logits, 500)) == {0, 1}


def test_log_probability_is_the_softmax_of_the_logits():
    chances = np.array([0.7, 0.2, 0.1])
    logits = np.log(chances).astype(np.float32) + 5
    found = [np.exp(log_probability(logits, token)) for token in range(3)]
    assert np.allclose(found, chances, atol=1e-6)
