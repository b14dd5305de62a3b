"""Idle work: answers become exact, conversations are brought up to date, and users never wait."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from engine.errors import EngineError
from tests.engine.kept_engines import QUESTIONS, Kept, plain


def test_idle_work_makes_answers_exact_and_gives_way(kept: Kept) -> None:
    expected = plain(None, QUESTIONS)
    kept.ask("a", QUESTIONS[0])
    conversation = kept.engine._register.get("a")
    assert conversation.decoded
    assert kept.engine.idle_step()
    answer = kept.ask("a", QUESTIONS[1])  # in the middle of it
    assert answer.text == expected[1].text
    kept.idle()
    assert not conversation.decoded
    assert not conversation.pending
    assert kept.ask("a", QUESTIONS[2]).text == expected[2].text
    free = kept.backend.free_cells
    kept.idle()
    assert kept.backend.free_cells >= free - 8  # no fork is left behind


def test_idle_work_that_is_switched_off_reads_nothing(tmp_path: Path) -> None:
    for wanted in (True, False):
        kept = Kept(tmp_path / str(wanted), engine_options={"idle_work": wanted})
        kept.ask("a", QUESTIONS[0])
        conversation = kept.engine._register.get("a")
        assert conversation.decoded
        kept.idle()
        assert bool(conversation.decoded) is not wanted
        kept.engine.close()


def test_idle_work_writes_what_became_exact(kept: Kept) -> None:
    kept.ask("a", QUESTIONS[0])
    kept.idle()
    kept.restart()
    conversation = kept.engine._register.get("a")
    kept.ask("a", QUESTIONS[1], most=1)
    assert all(place >= conversation.transcript.turns[1].start for place in conversation.decoded)


def test_idle_work_needs_room_and_never_takes_it_from_others(tmp_path: Path) -> None:
    kept = Kept(tmp_path, {"cells": 256, "sequences": 4}, {"window": 256, "sequences": 4})
    kept.ask("a", QUESTIONS[0] + "x" * 60, most=60)
    kept.idle()
    assert kept.engine.conversation("a").tier == "device"
    kept.engine.close()


def test_idle_work_that_fails_is_not_tried_again_and_again(kept: Kept) -> None:
    kept.ask("a", QUESTIONS[0])
    original = kept.backend.forward

    def fail(*_: object, **__: object) -> None:
        raise EngineError("the device is gone")

    kept.backend.forward = fail  # type: ignore[method-assign, assignment]
    with pytest.raises(EngineError):
        kept.idle()
    for _ in range(3):
        with contextlib.suppress(EngineError):
            kept.engine.idle_step()
    kept.backend.forward = original  # type: ignore[method-assign]
    assert kept.idle() == 0
    assert kept.ask("a", QUESTIONS[1]).text
    assert kept.idle() > 0


def test_idle_work_gives_up_a_fork_whose_conversation_left_the_device(kept: Kept) -> None:
    kept.ask("a", QUESTIONS[0])
    assert kept.engine.idle_step()
    while kept.engine._catch_up._work is None:
        assert kept.engine.idle_step()
    kept.engine._device.evict_one()
    kept.engine._device.evict_one()
    kept.idle()
    assert kept.engine._catch_up._work is None
    assert len(kept.backend._sequences) <= 1


def test_idle_work_without_room_waits(tmp_path: Path) -> None:
    kept = Kept(tmp_path, {"cells": 200}, {"window": 256, "batch": 16})
    kept.ask("a", "Q" * 60, most=60)
    kept.engine.open("a")
    kept.idle()
    conversation = kept.engine._register.known("a")
    free = kept.backend.free_cells
    assert conversation.decoded or free >= 0
    kept.engine.delete("a")
    assert kept.idle() == 0
    kept.engine.close()


def test_idle_work_renumbers_before_the_trained_limit(tmp_path: Path) -> None:
    kept = Kept(tmp_path, {"trained_context": 1000}, {"window": 512})
    conversation = None
    for question in QUESTIONS * 5:
        kept.ask("a", f"{question} {'y' * 60}")
        conversation = kept.engine._register.known("a")
        if conversation.window.next_position > 900:
            break
    assert conversation is not None
    before = list(conversation.visible_ids())
    kept.idle()
    assert conversation.window.next_position == len(conversation.window)
    assert conversation.visible_ids() == before
    assert not conversation.pending
    stats = kept.ask("a", QUESTIONS[0]).stats
    assert stats.prefilled_tokens <= len(QUESTIONS[0]) + 20
    kept.restart()
    assert kept.ask("a", QUESTIONS[1]).stats.prefilled_tokens <= len(QUESTIONS[1]) + 20
    kept.engine.close()


def test_conversations_idle_for_long_leave_the_device_and_memory(kept: Kept) -> None:
    kept.ask("a", QUESTIONS[0])
    kept.now = 1700.0
    kept.ask("b", QUESTIONS[0])
    kept.idle()
    kept.now = 1900.0
    kept.idle()
    tiers = {one.id: one.tier for one in kept.engine.cache_report().conversations}
    assert tiers == {"a": "disk", "b": "device"}
    assert kept.ask("a", QUESTIONS[1]).stats.restored_from == "disk"


def test_the_conversation_that_is_cheapest_to_lose_leaves_the_device_first(kept: Kept) -> None:
    for number, name in enumerate(("old", "new")):
        kept.now = 600.0 * number
        kept.ask(name, QUESTIONS[0])
    kept.now = 700.0
    assert kept.engine.house.release_idle()
    tiers = {one.id: one.tier for one in kept.engine.cache_report().conversations}
    assert tiers["new"] == "device"
