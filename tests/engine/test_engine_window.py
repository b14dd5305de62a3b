"""Window and device: old turns are trimmed, idle conversations make room, positions go on."""

from __future__ import annotations

import contextlib

import pytest

from engine.conversation import Conversation
from engine.errors import ContextTooLong, EngineError
from engine.types import (
    Finished,
    Prefilling,
)
from tests.engine.conversations import (
    LONG,
    Fake,
    ask,
    check_device,
    expected_cells,
    fake_engine,
    fresh_greedy,
    start,
)


def test_trimming_drops_old_turns_and_keeps_the_system_prompt() -> None:
    fake = fake_engine(window=512)
    trimmed = []
    for number in range(12):
        last = ask(fake.engine, "a", f"{number} {LONG[:150]}", most=30)
        trimmed.append(last.stats.trimmed_tokens)
        check_device(fake)
        assert last.stats.prompt_tokens + last.stats.generated_tokens <= 512
    conversation = fake.conversation("a")
    system = len(conversation.transcript.turns[0].segments[0].ids)
    assert conversation.window.visible(0, system)
    turns = fake.engine.conversation("a").turns
    assert [turn.in_window for turn in turns] == sorted(turn.in_window for turn in turns)
    assert turns[-1].in_window
    assert not turns[1].in_window
    trims = [count for count in trimmed if count]
    assert trims
    assert min(trims) >= 512 // 4
    assert len(trims) < 6


def trimmed_conversation() -> tuple[Fake, Conversation]:
    """A conversation "a" whose oldest turns don't fit any more."""
    fake = fake_engine(window=512)
    for number in range(9):
        ask(fake.engine, "a", f"{number} {LONG[:150]}", most=30)
    conversation = fake.conversation("a")
    assert conversation.window.hidden
    return fake, conversation


def test_positions_go_on_counting_after_a_trim() -> None:
    fake, conversation = trimmed_conversation()
    assert conversation.window.next_position == len(conversation.transcript.ids) > 512
    assert all(run.position == run.start for run in conversation.window.runs)
    before = conversation.held
    assert ask(fake.engine, "a", "Short?", most=5).stats.reused_tokens == before


def test_a_trim_is_the_same_as_a_mask() -> None:
    fake, conversation = trimmed_conversation()
    for event in start(fake.engine, "a", "And?", most=10):
        if isinstance(event, Prefilling):
            cells = expected_cells(conversation)
    written = conversation.transcript.turns[-1].segments[-1].ids[:10]
    assert fresh_greedy(cells, 10) == list(written)[: len(fresh_greedy(cells, 10))]


def test_a_question_longer_than_the_window_is_refused_and_changes_nothing() -> None:
    fake = fake_engine(window=256)
    ask(fake.engine, "a", "One?")
    ids = list(fake.conversation("a").transcript.ids)
    with pytest.raises(ContextTooLong) as caught:
        ask(fake.engine, "a", LONG * 3)
    assert caught.value.window == 256
    assert caught.value.tokens > 256
    assert fake.conversation("a").transcript.ids == ids
    check_device(fake)
    assert ask(fake.engine, "a", "Two?").stats.reused_tokens > 0
    with pytest.raises(ContextTooLong):
        ask(fake.engine, "new", LONG * 3)
    assert fake.engine.conversations() == ["a"]


def test_an_answer_that_fills_the_window_drops_old_turns_and_goes_on() -> None:
    fake = fake_engine(window=256, reply="no " * 400)
    ask(fake.engine, "a", LONG[:60], most=20)
    last = ask(fake.engine, "a", LONG[:60], most=2000)
    check_device(fake)
    assert last.reason == "length"
    assert last.stats.trimmed_tokens > 0
    info = fake.engine.conversation("a")
    assert not info.turns[0].in_window
    assert info.window_tokens <= 256 + 2
    assert ask(fake.engine, "a", "Next?", most=5).reason == "length"


def test_a_smaller_window_trims_at_the_next_turn() -> None:
    fake = fake_engine(window=1024)
    for number in range(4):
        ask(fake.engine, "a", f"{number} {LONG[:200]}", most=20)

    class Short:
        window = 300

        def check(self) -> list[str]:
            return []

    fake.engine.house._governor = Short()  # type: ignore[assignment]
    last = ask(fake.engine, "a", "Short?", most=10)
    assert last.stats.trimmed_tokens > 0
    assert last.stats.prompt_tokens <= 300
    assert fake.engine.conversation("a").window == 300


def test_at_the_trained_limit_the_window_is_renumbered() -> None:
    fake = fake_engine(window=256, trained_context=400)
    for number in range(12):
        last = ask(fake.engine, "a", f"{number} {LONG[:100]}", most=20)
        check_device(fake)
        assert fake.conversation("a").window.next_position <= 400
        assert last.reason in ("end", "length")
    assert len(fake.conversation("a").transcript.ids) > 400


def test_the_window_is_never_longer_than_the_model_was_trained_for() -> None:
    fake = fake_engine(window=1024, trained_context=300)
    ask(fake.engine, "a", "One?", most=5)
    assert fake.engine.conversation("a").window == 300


@pytest.mark.parametrize("can_trim", [True, False])
def test_thirty_turns_in_a_small_window(can_trim: bool) -> None:
    fake = fake_engine(window=256, can_trim=can_trim)
    for number in range(30):
        last = ask(fake.engine, "a", f"{number} {LONG[: 20 + number * 3]}", most=24)
        check_device(fake)
        assert last.stats.prompt_tokens <= 256
    assert len(fake.engine.conversation("a").turns) == 30


def test_an_answer_ends_where_the_model_was_trained_to() -> None:
    fake = fake_engine(window=300, trained_context=300, reply="no " * 400)
    last = ask(fake.engine, "a", "One?", most=2000)
    assert last.reason == "length"
    assert fake.conversation("a").window.next_position <= 302
    other = fake_engine(window=300, can_trim=False, reply="no " * 400)
    ask(other.engine, "a", "One?", most=5)
    assert ask(other.engine, "a", "Two?", most=2000).stats.trimmed_tokens == 0


def test_idle_conversations_make_room_the_oldest_first() -> None:
    fake = fake_engine(window=512, cells=512)
    for name in "abc":
        ask(fake.engine, name, f"{name} {LONG[:300]}", most=20)
    ask(fake.engine, "d", LONG, most=20)
    assert fake.engine.conversation("a").tier == "none"
    assert fake.engine.conversation("d").tier == "device"
    check_device(fake)
    again = ask(fake.engine, "a", "And?", most=20).stats
    assert (again.reused_tokens, again.restored_from) == (0, "prefill")


def test_sequences_run_out_and_idle_ones_are_taken() -> None:
    fake = fake_engine(sequences=2)
    for name in "abcd":
        ask(fake.engine, name, "One?")
    assert [fake.engine.conversation(n).tier for n in "abcd"] == ["none"] * 2 + ["device"] * 2
    assert ask(fake.engine, "", "Title?").text
    assert fake.engine.conversations() == ["d", "c", "b", "a"]


def test_a_running_conversation_is_not_evicted() -> None:
    fake = fake_engine(window=256, cells=256)
    stream = start(fake.engine, "a", LONG[:150], most=30)
    next(stream)
    with contextlib.suppress(EngineError):
        ask(fake.engine, "b", LONG[:290], most=10)
    assert fake.conversation("a").sequence is not None
    last = list(stream)[-1]
    assert isinstance(last, Finished)
    alone = ask(fake_engine(window=256).engine, "a", LONG[:150], most=30)
    assert alone.text.startswith(last.text)
