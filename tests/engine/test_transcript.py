"""Turns as token ids that are only ever appended to."""

from __future__ import annotations

import json

import pytest

from engine.errors import InvalidRequest
from engine.transcript import SINKS, Segment, Transcript, common_prefix


def add_turn(transcript: Transcript, number: int, system: bool = False) -> None:
    segments = [Segment("system", "be brief", tuple(range(20)))] if system else []
    segments.append(Segment("user", f"q{number}", (100 + number, 7)))
    transcript.begin(segments)
    for token in (200 + number, 201 + number):
        transcript.append(token)
    transcript.commit(f"a{number}", [9], {"n": number})


def test_each_turn_is_a_strict_prefix_of_the_next() -> None:
    transcript = Transcript()
    before: list[int] = []
    for number in range(5):
        add_turn(transcript, number, system=number == 0)
        assert transcript.ids[: len(before)] == before
        assert len(transcript.ids) > len(before)
        before = list(transcript.ids)
    assert [turn.stop for turn in transcript.turns][-1] == len(before)


def test_a_committed_turn_knows_its_places_and_segments() -> None:
    transcript = Transcript()
    add_turn(transcript, 1)
    add_turn(transcript, 2)
    turn = transcript.turns[1]
    assert (turn.start, turn.stop) == (5, 10)
    assert [(s.role, s.text, s.generated) for s in turn.segments] == [
        ("user", "q2", False),
        ("assistant", "a2", True),
    ]
    assert turn.segments[1].ids == (202, 203, 9)
    assert turn.record == {"n": 2}


def test_only_one_turn_is_open() -> None:
    transcript = Transcript()
    transcript.begin([Segment("user", "q", (1,))])
    with pytest.raises(InvalidRequest):
        transcript.begin([Segment("user", "q", (1,))])
    assert transcript.ids == [1]


def test_an_abandoned_turn_leaves_nothing() -> None:
    transcript = Transcript()
    add_turn(transcript, 1)
    before = list(transcript.ids)
    transcript.begin([Segment("user", "q", (1, 2))])
    transcript.append(3)
    transcript.abandon()
    assert transcript.ids == before
    add_turn(transcript, 2)
    assert len(transcript.turns) == 2


def test_rewinding_and_copying_keep_the_first_turns() -> None:
    transcript = Transcript()
    for number in range(4):
        add_turn(transcript, number)
    copy = transcript.copy(3)
    transcript.rewind(2)
    assert transcript.ids == copy.ids[:10]
    assert [len(t.turns) for t in (transcript, copy)] == [2, 3]
    add_turn(copy, 9)
    assert len(transcript.ids) == 10
    assert copy.copy().ids == copy.ids


def test_the_system_prompt_and_first_tokens_are_protected() -> None:
    transcript = Transcript()
    assert transcript.protected == 0
    transcript.begin([Segment("user", "q", tuple(range(10)))])
    assert transcript.protected == SINKS
    other = Transcript()
    add_turn(other, 0, system=True)
    add_turn(other, 1)
    assert other.protected == 20


def test_turns_go_through_json_and_back() -> None:
    transcript, other = Transcript(), Transcript()
    for number in range(3):
        add_turn(transcript, number, system=number == 0)
    for turn in transcript.turns:
        other.add(json.loads(json.dumps(turn.to_record())))
    assert other.ids == transcript.ids
    assert other.turns == transcript.turns


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"segments": None, "record": {}},
        {"segments": [{"role": "user"}], "record": {}},
        {"segments": [{"role": "x", "text": "", "ids": [], "generated": False}], "record": {}},
        {"segments": [{"role": "user", "text": "", "ids": [-1], "generated": 0}], "record": {}},
        {"segments": [{"role": "user", "text": "", "ids": ["1"], "generated": 0}], "record": {}},
        {"segments": [{"role": "user", "text": 1, "ids": [1], "generated": 0}], "record": {}},
    ],
)
def test_what_is_no_turn_is_refused(record: dict[str, object]) -> None:
    transcript = Transcript()
    with pytest.raises(ValueError, match=r"this is not|ids must"):
        transcript.add(record)
    assert transcript.ids == []
    assert transcript.turns == []


def test_common_prefix() -> None:
    assert common_prefix([1, 2, 3], [1, 2, 4]) == 2
    assert common_prefix([1, 2], [1, 2, 4]) == 2
    assert common_prefix([], [1]) == 0
