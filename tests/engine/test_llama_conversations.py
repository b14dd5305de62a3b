"""Conversations with the default model: what is reused, and that answers stay right."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from engine.engine import Engine
from engine.load import load_backend
from engine.types import EngineOptions, Finished, Prefilling, SamplingOptions, TextDelta, Turn
from tests.engine.conversations import ask

pytestmark = pytest.mark.model

CLAUSE = (
    "Clause 7. The Supplier's total liability under this Agreement is limited to the price paid "
    "in the twelve months before the claim. Clause 8. Invoices are due sixty days after receipt. "
)
QUESTIONS = (
    "What is the limit of liability?",
    "When are invoices due?",
    "Say it in one word.",
    "Who is liable?",
    "Thank you. Is anything else in clause 8?",
)
# Activations are rounded to 8 bits, so a last bit can change a logit by about this much.
NOISE = 1.0


def engine_of(model: Path, kv_type: str, window: int = 1024) -> Engine:
    options = EngineOptions(
        model, "llama.cpp", window=window, kv_type=kv_type, threads=1, batch=64, cells=1536
    )
    return Engine(load_backend(options), options)


@pytest.fixture(scope="module")
def plain(model_path: Path) -> Iterator[Engine]:
    engine = engine_of(model_path, "f16")
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def exact(model_path: Path) -> Iterator[Engine]:
    """With q8_0 keys and values no bit depends on how the words came into the cache."""
    engine = engine_of(model_path, "q8_0")
    yield engine
    engine.close()


@pytest.fixture(autouse=True)
def _forget(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    for name in ("plain", "exact"):
        if name in request.fixturenames:
            engine = request.getfixturevalue(name)
            for conversation in engine.conversations():
                engine.delete(conversation)
            assert engine.cache_report().device_bytes == 0


def test_five_turns_reuse_everything_before(plain: Engine) -> None:
    before = None
    reused = 0
    for number, question in enumerate(QUESTIONS):
        stats = ask(plain, "a", (CLAUSE if not number else "") + question, most=20).stats
        if before:
            expected = before.prompt_tokens + before.generated_tokens - 1
            assert stats.reused_tokens == expected
            assert stats.prefilled_tokens < 40
        before, reused = stats, reused + stats.reused_tokens
    assert reused > 300


def test_greedy_answers_are_repeatable(plain: Engine) -> None:
    found = []
    for _ in range(2):
        texts = [ask(plain, "a", q, most=20).text for q in (CLAUSE + QUESTIONS[0], QUESTIONS[1])]
        plain.delete("a")
        found.append(texts)
    assert found[0] == found[1]
    assert all(found[0])


@pytest.mark.slow
def test_warm_answers_equal_cold_ones(exact: Engine) -> None:
    for number, question in enumerate(QUESTIONS):
        text = (CLAUSE if not number else "") + question
        warm = ask(exact, "warm", text, most=16)
        cold = ask(exact, "cold", text, most=16, use_cache=False)
        assert warm.text == cold.text
        assert cold.stats.reused_tokens == 0
    warm_ids, cold_ids = (exact._register.known(name).transcript.ids for name in ("warm", "cold"))
    assert warm_ids == cold_ids


def test_warm_logits_equal_cold_ones_up_to_rounding(plain: Engine) -> None:
    backend = plain._backend
    for question in (CLAUSE + QUESTIONS[0], QUESTIONS[1], QUESTIONS[2]):
        ask(plain, "a", question, most=20)
    conversation = plain._register.known("a")
    ids = conversation.visible_ids()
    sequence = backend.new_sequence()
    for at in range(0, len(ids), 64):
        cold = backend.forward(sequence, ids[at : at + 64], at)
    warm = backend.forward(conversation.sequence or 0, ids[conversation.held :], conversation.held)
    conversation.mark_read(conversation.pending)
    backend.free_sequence(sequence)
    top = np.sort(cold)[-2:]
    assert np.abs(warm - cold).max() < 2 * NOISE
    assert warm.argmax() == cold.argmax() or top[1] - top[0] < NOISE


def test_conversations_side_by_side_answer_as_alone(exact: Engine) -> None:
    alone = [ask(exact, "alone", q, most=20).text for q in (CLAUSE + QUESTIONS[0], QUESTIONS[1])]
    exact.delete("alone")
    found = []
    for question in (CLAUSE + QUESTIONS[0], QUESTIONS[1]):
        ask(exact, "other", "The password is swordfish. " + question, most=20)
        found.append(ask(exact, "one", question, most=20).text)
        ask(exact, "", "Make a title.", most=5)
    assert found == alone


def test_a_fork_answers_as_its_source(exact: Engine) -> None:
    ask(exact, "a", CLAUSE + QUESTIONS[0], most=20)
    free = exact._backend.free_cells
    exact.fork("a", "b")
    assert exact._backend.free_cells == free
    other = ask(exact, "b", "Forget all that. What is the capital of France?", most=20)
    mine = ask(exact, "a", QUESTIONS[1], most=20)
    exact.rewind("b", 1)
    assert ask(exact, "b", QUESTIONS[1], most=20).text == mine.text
    assert other.stats.reused_tokens > 60


def test_after_a_stop_the_next_answer_is_right(exact: Engine) -> None:
    events = exact.ask("a", Turn(CLAUSE * 3 + QUESTIONS[0]), SamplingOptions(max_tokens=60))
    for event in events:
        if isinstance(event, Prefilling):
            exact.stop("a")
    assert isinstance(event, Finished)
    assert (event.reason, event.text) == ("stopped", "")
    assert event.stats.prefilled_tokens == 64
    pieces = 0
    for event in exact.ask("a", Turn(QUESTIONS[1]), SamplingOptions(max_tokens=60)):
        pieces += isinstance(event, TextDelta)
        if pieces == 4:
            exact.stop("a")
    assert isinstance(event, Finished)
    assert event.reason == "stopped"
    exact.fork("a", "b")
    warm = ask(exact, "a", QUESTIONS[4], most=16)
    cold = ask(exact, "b", QUESTIONS[4], most=16, use_cache=False)
    assert warm.text == cold.text
    assert warm.stats.reused_tokens > 100


def test_closing_the_stream_leaves_a_whole_conversation(exact: Engine) -> None:
    with contextlib.closing(exact.ask("a", Turn(CLAUSE + QUESTIONS[0]))) as events:
        for event in events:
            if isinstance(event, TextDelta):
                break
    exact.fork("a", "b")
    warm = ask(exact, "a", QUESTIONS[1], most=20)
    assert warm.text == ask(exact, "b", QUESTIONS[1], most=20, use_cache=False).text


@pytest.mark.slow
def test_thirty_turns_in_a_small_window(plain: Engine) -> None:
    trims = 0
    for number in range(30):
        last = ask(plain, "a", f"Point {number}. {CLAUSE} {QUESTIONS[number % 5]}", most=16)
        trims += last.stats.trimmed_tokens > 0
        assert last.stats.prompt_tokens + last.stats.generated_tokens <= 1024
        assert last.text
        if number and not last.stats.trimmed_tokens:
            assert last.stats.prefilled_tokens < 90
    conversation = plain._register.known("a")
    assert conversation.window.next_position > 2048
    assert 2 <= trims <= 10
    assert plain.conversation("a").turns[-1].in_window


def test_choices_and_scores_agree(plain: Engine) -> None:
    turn = Turn(
        CLAUSE + "Is liability limited? Answer yes or no.",
        choices=("Yes", "No"),
        stop_after_choice=True,
    )
    scores = plain.score("", turn, ["Yes", "No"])
    last = list(plain.ask("", turn))[-1]
    assert isinstance(last, Finished)
    assert last.text == ("Yes" if scores[0] > scores[1] else "No")


def test_quotations_are_verbatim(plain: Engine) -> None:
    turn = Turn(CLAUSE + "Quote the limit of liability.", prefix='It says "', spans=(CLAUSE,))
    last = list(plain.ask("", turn, SamplingOptions(max_tokens=40)))[-1]
    assert isinstance(last, Finished)
    quotation = last.text.split('"')[1]
    assert quotation
    assert quotation in CLAUSE


def test_the_score_leaves_the_conversation_alone(plain: Engine) -> None:
    ask(plain, "a", CLAUSE + QUESTIONS[0], most=10)
    before = plain.conversation("a"), plain._backend.free_cells
    scores = plain.score("a", Turn("Is that much?"), ["Yes, it is.", "Banana"])
    assert scores[0] > scores[1]
    assert (plain.conversation("a"), plain._backend.free_cells) == before
