"""What becomes of turns: taken back, written again, forked, deleted."""

from __future__ import annotations

import pytest

from engine.errors import EngineError, UnknownConversation
from tests.engine.conversations import (
    LONG,
    ask,
    check_device,
    fake_engine,
    start,
)


def test_a_failed_turn_is_taken_back() -> None:
    fake = fake_engine()
    ask(fake.engine, "a", "One?")
    before = list(fake.conversation("a").transcript.ids)
    forward = fake.backend.forward

    def broken(*args: object, **options: object) -> object:
        raise EngineError("The device is gone.")

    fake.backend.forward = broken  # type: ignore[method-assign,assignment]
    with pytest.raises(EngineError, match="gone"):
        ask(fake.engine, "a", "Two?")
    fake.backend.forward = forward  # type: ignore[method-assign]
    assert fake.conversation("a").transcript.ids == before
    check_device(fake)
    assert ask(fake.engine, "a", "Two?").stats.reused_tokens > 0


def test_regenerating_reuses_everything_before_the_answer() -> None:
    fake = fake_engine()
    ask(fake.engine, "a", "One?")
    second = ask(fake.engine, "a", "Two?")
    ids = list(fake.conversation("a").transcript.ids)
    fake.engine.rewind("a", 1)
    again = ask(fake.engine, "a", "Two?")
    assert again.text == second.text
    assert fake.conversation("a").transcript.ids == ids
    assert again.stats.reused_tokens >= second.stats.reused_tokens


def test_rewinding_into_what_was_trimmed_makes_it_visible_again() -> None:
    fake = fake_engine(window=512)
    for number in range(9):
        ask(fake.engine, "a", f"{number} {LONG[:150]}", most=30)
    assert not fake.engine.conversation("a").turns[2].in_window
    fake.engine.rewind("a", 3)
    check_device(fake)
    assert all(turn.in_window for turn in fake.engine.conversation("a").turns)
    expected = fake_engine(window=512)
    for number in range(3):
        ask(expected.engine, "a", f"{number} {LONG[:150]}", most=30)
    assert ask(fake.engine, "a", "And?").text == ask(expected.engine, "a", "And?").text


def test_a_fork_shares_cells_and_goes_its_own_way() -> None:
    fake = fake_engine()
    for question in ("One?", "Two?"):
        ask(fake.engine, "a", question)
    free = fake.backend.free_cells
    fake.engine.fork("a", "b")
    fake.engine.fork("a", "c", turns=1)
    assert fake.backend.free_cells == free
    check_device(fake)
    texts = [ask(fake.engine, name, "Three?") for name in "ab"]
    assert texts[0].text == texts[1].text
    assert all(last.stats.reused_tokens > 50 for last in texts)
    assert ask(fake.engine, "c", "Three?").text != texts[0].text
    assert len(fake.engine.conversation("c").turns) == 2
    fake.engine.delete("a")
    check_device(fake)
    assert ask(fake.engine, "b", "Four?").stats.reused_tokens > 60


def test_a_fork_may_take_the_place_of_a_conversation_without_turns() -> None:
    fake = fake_engine()
    for name in "ab":
        ask(fake.engine, name, "One?")
    fake.engine.rewind("b", 0)
    fake.engine.fork("a", "b")
    check_device(fake)
    assert len(fake.engine.conversation("b").turns) == 1


def test_a_fork_works_when_no_sequence_is_free() -> None:
    fake = fake_engine(sequences=2)
    stream = start(fake.engine, "x", "Long?", most=50)
    next(stream)
    ask(fake.engine, "a", "One?")
    fake.engine.fork("a", "b")
    check_device(fake)
    stream.close()  # type: ignore[attr-defined]
    assert ask(fake.engine, "b", "Two?").stats.restored_from in ("", "prefill")


def test_deleting_frees_cells_and_forgets() -> None:
    fake = fake_engine()
    ask(fake.engine, "a", "One?")
    fake.engine.delete("a")
    assert fake.backend.free_cells == fake.backend._capacity
    assert fake.engine.conversations() == []
    for action in (
        lambda: fake.engine.conversation("a"),
        lambda: fake.engine.delete("a"),
        lambda: fake.engine.open("a"),
        lambda: fake.engine.rewind("a", 0),
    ):
        with pytest.raises(UnknownConversation):
            action()
