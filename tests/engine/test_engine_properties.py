"""Whatever is done to conversations, in any order, answers are those of a fresh engine."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.errors import ContextTooLong, OutOfCells
from engine.types import Finished, Prefilling, TextDelta, Turn
from tests.engine.conversations import (
    Fake,
    check_device,
    expected_cells,
    fake_engine,
    fresh_greedy,
    start,
)

WORDS = " the supplier shall deliver goods within thirty days of notice "
NAMES = st.sampled_from("aaab")
LENGTHS = st.integers(1, 150)
OPERATIONS = st.one_of(
    st.tuples(st.just("ask"), NAMES, LENGTHS, st.integers(1, 40)),
    st.tuples(st.just("ask"), NAMES, LENGTHS, st.integers(1, 40)),
    st.tuples(st.just("ask"), NAMES, LENGTHS, st.integers(1, 40)),
    st.tuples(st.just("cold"), NAMES, LENGTHS, st.integers(1, 20)),
    st.tuples(st.just("break"), NAMES, LENGTHS, st.integers(0, 12)),
    st.tuples(st.just("stop"), NAMES, LENGTHS, st.integers(0, 12)),
    st.tuples(st.just("rewind"), NAMES, st.integers(0, 3), st.just(0)),
    st.tuples(st.just("fork"), NAMES, NAMES, st.integers(0, 3)),
    st.tuples(st.just("delete"), NAMES, st.just(0), st.just(0)),
    st.tuples(st.just("evict"), st.just(""), st.just(0), st.just(0)),
    st.tuples(st.just("scratch"), st.just(""), LENGTHS, st.integers(1, 20)),
    st.tuples(st.just("score"), NAMES, LENGTHS, st.just(0)),
    st.tuples(st.just("together"), NAMES, NAMES, LENGTHS),
)
Operation = tuple[str, str, int | str, int]


def question(length: int) -> str:
    return ((WORDS + "; ") * 4)[:length].strip() or "q"


def run_checked(fake: Fake, name: str, length: int, most: int, use_cache: bool = True) -> int:
    """Asks, and compares the answer with a fresh backend's; how many tokens were reused."""
    events = start(fake.engine, name, question(length), most, use_cache=use_cache)
    before: dict[int, int] = {}
    hidden: list[tuple[int, int]] = []
    conversation = None
    for event in events:
        conversation = fake.engine._register.find(name)
        if conversation and use_cache:
            check_device(fake)
        if isinstance(event, Prefilling) and conversation:
            before, hidden = expected_cells(conversation), list(conversation.window.hidden)
            assert conversation.held == len(before)
        if isinstance(event, Finished) and conversation and use_cache:
            turn = conversation.transcript.turns[-1]
            written = turn.segments[-1].ids[: event.stats.generated_tokens]
            if conversation.window.hidden == hidden:
                assert list(written) == fresh_greedy(before, most)
            assert event.stats.prompt_tokens <= fake.engine.window
            return event.stats.reused_tokens
    return 0


def perform(fake: Fake, operation: Operation) -> int:
    what, name, one, two = operation
    engine = fake.engine
    known = engine.conversations()
    if what in ("ask", "cold", "scratch"):
        return run_checked(fake, name, int(one), two, use_cache=what != "cold")
    if what == "break":
        with contextlib.closing(start(engine, name, question(int(one)))) as events:
            for _, _ in zip(range(two), events, strict=False):
                check_device(fake)
    elif what == "stop":
        for number, _ in enumerate(start(engine, name, question(int(one)))):
            if number == two:
                engine.stop(name)
    elif what == "rewind" and name in known:
        engine.rewind(name, int(one))
    elif what == "fork" and name in known and one not in known:
        engine.fork(name, str(one), two or None)
    elif what == "delete" and name in known:
        engine.delete(name)
    elif what == "evict":
        engine._device.evict_one()
    elif what == "score":
        engine.score(name, Turn(question(int(one))), ["yes", "not within days"])
    elif what == "together" and name != one:
        streams = [start(engine, name, question(two)), start(engine, str(one), question(two // 2))]
        while streams:
            for stream in list(streams):
                try:
                    if next(stream, None) is None:
                        streams.remove(stream)
                except OutOfCells:
                    streams.remove(stream)
    return 0


@pytest.mark.parametrize("can_trim", [True, False])
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(operations=st.lists(OPERATIONS, min_size=4, max_size=16))
def test_any_sequence_of_operations(can_trim: bool, operations: list[Operation]) -> None:
    fake = fake_engine(window=256, sequences=5, cells=380, batch=16, can_trim=can_trim)
    for operation in operations:
        before = {
            name: list(fake.conversation(name).transcript.ids)
            for name in fake.engine.conversations()
        }
        with contextlib.suppress(ContextTooLong, OutOfCells):
            perform(fake, operation)
        check_device(fake)
        changed = {operation[1], operation[2]} if operation[0] == "together" else {operation[1]}
        for name, old in before.items():
            if name not in fake.engine.conversations():
                assert operation[0] == "delete" or operation[:2] == ("rewind", name)
                continue
            now = fake.conversation(name).transcript.ids
            if name not in changed:
                assert now == old
            elif operation[0] != "rewind":
                assert now[: len(old)] == old
    for name in list(fake.engine.conversations()):
        fake.engine.delete(name)
    assert fake.backend.free_cells == 380


@settings(max_examples=30, deadline=None)
@given(lengths=st.lists(st.integers(5, 60), min_size=2, max_size=8))
def test_follow_ups_reuse_all_but_the_last_words(lengths: list[int]) -> None:
    fake = fake_engine(window=2048)
    tokens = 0
    for number, length in enumerate(lengths):
        before = fake.conversation("a").held if number else 0
        reused = run_checked(fake, "a", length, 30)
        assert reused == before
        if number:
            assert 0 <= tokens - reused <= 3  # the last token written and what closes the answer
        tokens = len(fake.conversation("a").transcript.ids)


def test_text_is_streamed_and_kept() -> None:
    fake = fake_engine()
    events = list(start(fake.engine, "a", "When?"))
    kinds = [type(event) for event in events]
    assert kinds[0] is Prefilling
    assert TextDelta in kinds
    assert kinds[-1] is Finished
