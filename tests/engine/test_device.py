"""Who is on the device, and who leaves for whom."""

from __future__ import annotations

import pytest

from engine.conversation import Conversation
from engine.device import Device
from engine.errors import NoFreeSequence, OutOfCells
from engine.fake_backend import FakeBackend
from engine.transcript import Segment


def filled(device: Device, name: str, count: int) -> Conversation:
    conversation = Conversation(name, device.backend)
    conversation.transcript.begin([Segment("user", "", tuple(range(count)))])
    conversation.catch_up()
    sequence = device.place(conversation)
    for batch in conversation.batches():
        device.forward(sequence, batch.tokens, batch.start)
        conversation.mark_read(len(batch.tokens))
    return conversation


def test_the_least_recently_used_leaves_and_is_told_of_first() -> None:
    left: list[tuple[str, int]] = []
    device = Device(FakeBackend(cells=100), lambda one: left.append((one.id, one.held)))
    one, two = filled(device, "one", 40), filled(device, "two", 40)
    device.place(one)
    filled(device, "three", 30)
    assert left == [("two", 40)]
    assert (two.sequence, two.held) == (None, 0)
    assert [conversation.id for conversation in device.resident] == ["one", "three"]


def test_who_runs_stays() -> None:
    device = Device(FakeBackend(cells=100))
    one = filled(device, "one", 60)
    with device.pinned(one):
        assert device.running(one)
        with pytest.raises(OutOfCells):
            filled(device, "two", 60)
        assert one.held == 60
    assert not device.running(one)
    filled(device, "three", 60)
    assert one.sequence is None


def test_sequences_are_made_free_too() -> None:
    device = Device(FakeBackend(sequences=2))
    one = filled(device, "one", 5)
    filled(device, "two", 5)
    filled(device, "three", 5)
    assert one.sequence is None
    two, three = device.resident
    assert three.sequence is not None
    copy = device.fork(three.sequence)
    assert (two.sequence, device.backend.positions(copy)) == (None, [(0, 5)])
    with pytest.raises(NoFreeSequence):
        device.fork(three.sequence)
    assert three.held == 5


def test_without_anybody_to_leave_the_error_stays() -> None:
    device = Device(FakeBackend(cells=10))
    scratch = Conversation("", device.backend)
    sequence = device.place(scratch)
    assert device.resident == []
    with pytest.raises(OutOfCells):
        device.forward(sequence, list(range(11)), 0)
    assert device.evict_one() is False
