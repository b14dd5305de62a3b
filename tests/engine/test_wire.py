from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import errors, wire
from engine.types import (
    ConversationInfo,
    EngineOptions,
    Finished,
    ModelInfo,
    Notice,
    Prefilling,
    SamplingOptions,
    TextDelta,
    Turn,
    TurnInfo,
    TurnStats,
)

STATS = TurnStats("fake", "m", 5, 3, 2, 9, 1.5, 60.25, 0, "disk")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize(
    "frame",
    [
        wire.Start(EngineOptions(Path("a/m.gguf"), cache_dir=Path("c")), "a.b:c", Path("log")),
        wire.Start(EngineOptions(Path("m.gguf")), "a.b:c"),
        wire.Call(3, "ask", ("id", Turn("?", choices=("a", "b")), SamplingOptions(seed=4), True)),
        wire.Stop("id"),
        wire.Cancel(3),
        wire.Bye(),
        wire.Ready(ModelInfo("m", "llama", "f", 1, 2, 3, 4, 5)),
        wire.Begun(3, 2),
        wire.Item(3, Prefilling(1, 2)),
        wire.Item(3, TextDelta("第\ud800")),
        wire.Item(3, Notice("n")),
        wire.Item(3, Finished("t", "end", STATS)),
        wire.Result(3),
        wire.Result(3, [1.5, 2.0]),
        wire.Failed(0, wire.Fault("ModelError", "m", {"a": 1})),
    ],
)
def test_a_frame_comes_back_as_it_was(frame):
    assert wire.unpack(wire.pack(frame)) == frame


def test_records_within_records_come_back():
    info = ConversationInfo("c", 1, 2, 3, "disk", 4, 5, (TurnInfo(0, 9, True, {"chunks": [1, 2]}),))
    assert wire.unpack(wire.pack(wire.Result(1, info))) == wire.Result(1, info)


@given(st.dictionaries(st.text() | st.just("$"), JSON, max_size=3), st.text())
def test_a_turns_record_is_the_callers_own_whatever_it_holds(record, text):
    turn = Turn(text, record=record)
    frame = wire.unpack(wire.pack(wire.Call(1, "ask", ("c", turn))))
    assert isinstance(frame, wire.Call)
    assert frame.args == ("c", turn)


def test_what_json_does_not_know_is_not_sent():
    with pytest.raises(wire.WireError, match="can't be sent"):
        wire.pack(wire.Call(1, "ask", (Turn("?", record={"a": {1, 2}}),)))


@pytest.mark.parametrize(
    "data",
    [b"", b"\xff", b"3", b'{"$":"Turn","user":"x"}', b'{"$":"Path"}', b'{"$":"Stop","x":1}', b"[]"],
)
def test_bytes_that_are_no_frame_are_refused(data):
    with pytest.raises(wire.WireError):
        wire.unpack(data)


@pytest.mark.parametrize(
    "error",
    [
        errors.ModelNotFound("There is none."),
        errors.ContextTooLong(9000, 4096),
        errors.UnknownConversation("c"),
        errors.EngineDied("x"),
    ],
)
def test_the_engines_errors_keep_class_message_and_attributes(error):
    back = wire.error_of(wire.fault_of(error))
    assert type(back) is type(error)
    assert str(back) == str(error)
    assert vars(back) == vars(error)


def test_other_errors_become_a_plain_engine_error_with_their_message():
    back = wire.error_of(wire.fault_of(ZeroDivisionError("a bug")))
    assert type(back) is errors.EngineError
    assert "ZeroDivisionError: a bug" in str(back)
    assert "no reason given" in str(wire.error_of(wire.fault_of(KeyError())))


def test_an_engine_error_defined_elsewhere_keeps_its_message():
    class Elsewhere(errors.EngineError):
        pass

    back = wire.error_of(wire.fault_of(Elsewhere("in use")))
    assert type(back) is errors.EngineError
    assert str(back) == "in use"


@pytest.mark.parametrize("name", ["Exception", "NoSuch", "annotations"])
def test_a_fault_can_only_name_an_engine_error(name):
    assert type(wire.error_of(wire.Fault(name, "m"))) is errors.EngineError
