"""Whatever happens to kept conversations, in any order, answers are those of a fresh engine.

Restarts, idle work, memory pressure, eviction, damage and lost files are among what happens.
"""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.conversation import Conversation
from engine.errors import ContextTooLong, OutOfCells
from engine.types import Finished, Prefilling
from tests.engine.conversations import expected_cells
from tests.engine.kept_engines import HastyDisk, Kept, quick_greedy

WORDS = " the supplier shall deliver goods within thirty days of notice ; "
NAMES = st.sampled_from("aaab")
LENGTHS = st.integers(1, 150)
NUMBERS = st.integers(0, 5)
OPERATIONS = st.one_of(
    *[st.tuples(st.just("ask"), NAMES, LENGTHS)] * 5,
    st.tuples(st.just("cold"), NAMES, LENGTHS),
    st.tuples(st.just("stop"), NAMES, LENGTHS),
    st.tuples(st.just("rewind"), NAMES, NUMBERS),
    st.tuples(st.just("fork"), NAMES, NUMBERS),
    st.tuples(st.just("delete"), NAMES, NUMBERS),
    st.tuples(st.just("scratch"), st.just(""), LENGTHS),
    *[st.tuples(st.just("restart"), st.just(""), NUMBERS)] * 2,
    *[st.tuples(st.just("idle"), st.just(""), NUMBERS)] * 2,
    st.tuples(st.just("open"), NAMES, NUMBERS),
    st.tuples(st.just("evict"), st.just(""), NUMBERS),
    st.tuples(st.just("age"), st.just(""), NUMBERS),
    st.tuples(st.just("damage"), NAMES, NUMBERS),
)
Operation = tuple[str, str, int]


def residents(kept: Kept) -> list[Conversation]:
    """Everything that has a sequence on the device."""
    engine = kept.engine
    work = engine._catch_up._work
    return [
        *engine._register.used(),
        *engine._tier._prefixes._known.values(),  # type: ignore[attr-defined]
        *([work] if work else []),
    ]


def check(kept: Kept) -> None:
    """The device holds the first visible tokens of each, at their places, and nothing else.

    While an answer is written, guessed tokens may stand behind them.
    """
    used = 0
    cells: set[int] = set()
    for one in residents(kept):
        assert 0 <= one.held <= len(one.window)
        if one.sequence is None:
            assert one.held == 0
            continue
        used += 1
        held = kept.backend._sequences[one.sequence].cells
        expected = expected_cells(one)
        found = {position: cell.token for position, cell in held.items()}
        if kept.engine._device.running(one):
            found = {p: token for p, token in found.items() if p <= max(expected, default=-1)}
        assert found == expected
        cells |= {id(cell) for cell in held.values()}
    assert len(kept.backend._sequences) == used
    assert kept.backend.free_cells == kept.backend._capacity - len(cells)


def ask(kept: Kept, name: str, length: int, use_cache: bool = True) -> None:
    """Asks, and compares the answer with what a fresh backend writes after the same tokens."""
    before: dict[int, int] = {}
    hidden: list[tuple[int, int]] = []
    for event in kept.events(name, (WORDS * 4)[:length].strip() or "q", use_cache=use_cache):
        conversation = kept.engine._register.find(name)
        if conversation is None or not use_cache:
            continue
        check(kept)
        if isinstance(event, Prefilling):
            before, hidden = expected_cells(conversation), list(conversation.window.hidden)
        if isinstance(event, Finished) and conversation.window.hidden == hidden:
            turn = conversation.transcript.turns[-1]
            written = list(turn.segments[-1].ids[: event.stats.generated_tokens])
            assert written == quick_greedy(before, 24)


def perform(kept: Kept, operation: Operation) -> None:
    what, name, number = operation
    engine = kept.engine
    known = name in engine.conversations()
    if what in ("ask", "cold", "scratch"):
        ask(kept, name, number, use_cache=what != "cold")
    elif what == "stop":
        for count, _ in enumerate(kept.events(name, (WORDS * 4)[:number].strip() or "q")):
            if count == number % 7:
                engine.stop(name)
    elif what == "rewind" and known:
        engine.rewind(name, number)
    elif what == "fork" and known and "c" not in engine.conversations():
        engine.fork(name, "c", number or None)
        kept.ask("c", "Forked?")
        engine.delete("c")
    elif what == "delete" and known:
        engine.delete(name)
    elif what == "restart":
        kept.restart()
    elif what == "idle":
        for _ in range(4**number):
            if not engine.idle_step():
                break
            check(kept)
    elif what == "open" and known:
        engine.open(name)
    elif what == "evict":
        engine.house.release_idle()
    elif what == "age":
        kept.now += 2000
    elif what == "damage":
        damage(kept, name, number)


def damage(kept: Kept, name: str, number: int) -> None:
    """Something happens to the cache file while the program is closed."""
    kept.engine.close()
    path = kept.file(name)
    if path.is_file():  # not if an earlier damage put a folder in its place
        raw = path.read_bytes()
        if number == 0:
            path.unlink()
        elif number == 1:
            path.write_bytes(raw[: len(raw) // 2])
        elif number == 2:
            path.unlink()
            path.mkdir()
        else:
            at = len(raw) * number // 6
            path.write_bytes(raw[:at] + bytes([raw[at] ^ 4]) + raw[at + 1 :])
    kept.start()


@pytest.mark.parametrize("can_trim", [True, False])
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(operations=st.lists(OPERATIONS, min_size=4, max_size=18))
def test_any_sequence_of_operations(can_trim: bool, operations: list[Operation]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        kept = Kept(
            Path(folder),
            {"cells": 380, "sequences": 5, "batch": 16, "can_trim": can_trim},
            {"window": 256, "sequences": 5, "batch": 16},
            HastyDisk(),
        )
        for operation in operations:
            before = {name: kept.ids(name) for name in kept.engine.conversations()}
            with contextlib.suppress(ContextTooLong, OutOfCells):
                perform(kept, operation)
            check(kept)
            for name, old in before.items():
                if operation[1] != name:
                    assert kept.ids(name) == old
                elif operation[0] not in ("rewind", "delete"):
                    assert kept.ids(name)[: len(old)] == old
        for name in list(kept.engine.conversations()):
            kept.engine.delete(name)
        assert kept.backend.free_cells == 380
        kept.engine.close()
        assert [path for path in Path(folder).rglob("*") if path.is_file()] == []
