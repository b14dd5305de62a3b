from __future__ import annotations

from pathlib import Path

import pytest

from desktop_app.generator import EngineGenerator
from engine.types import EngineOptions
from rag.protocols import Request
from tests.desktop_app.fakes import FakeEngine


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine(EngineOptions(Path("fake")))


def test_a_request_and_its_events_are_translated(engine: FakeEngine) -> None:
    generator = EngineGenerator(lambda: engine, use_cache=False)
    request = Request(
        "user text", "system", "So: ", (), ("span",), False, 2, ("\n",), {"chunks": [1]}
    )
    events = list(generator.ask("c", request))
    assert [e.kind for e in events] == ["reading", "notice", "text", "text", "end"]
    assert (events[0].done, events[0].total) == (2, 2)
    assert events[-1].text == "So: Within thirty"
    assert events[-1].stats["prefilled_tokens"] == 2
    conversation, turn, used_cache = engine.asked[0]
    assert (conversation, used_cache) == ("c", False)
    assert (turn.user, turn.system, turn.prefix, turn.spans) == (
        "user text",
        "system",
        "So: ",
        ("span",),
    )
    assert generator.turns("c")[0].record == {"chunks": [1]}
    assert generator.turns("unknown") == []
    assert generator.turns("") == []


def test_room_is_the_window_of_the_conversation_or_the_model(engine: FakeEngine) -> None:
    generator = EngineGenerator(lambda: engine, window=8192)
    assert generator.tokens_left("new") == 2048 - 32
    engine.turns["c"] = []
    assert generator.tokens_left("c") == 1024 - 32


def test_counting_the_same_text_again_asks_nobody(engine: FakeEngine) -> None:
    generator = EngineGenerator(lambda: engine)
    assert generator.count_tokens("a b c") == 3
    engine.count_tokens = None  # type: ignore[method-assign,assignment]
    assert generator.count_tokens("a b c") == 3
    assert generator.prefill_speed() == 200.0
    assert generator.score("c", Request("q"), ["a", "bb"]) == [-1.0, -2.0]


def test_a_stop_ends_this_request_and_those_that_follow_in_the_question(
    engine: FakeEngine,
) -> None:
    generator = EngineGenerator(lambda: engine)
    events = generator.ask("c", Request("q"))
    assert next(events).kind == "reading"
    generator.stop("c")
    rest = list(events)
    assert rest[-1].reason == "stopped"
    assert rest[-1].text == ""
    assert [e.reason for e in generator.ask("", Request("next section"))] == ["stopped"]
    assert len(engine.asked) == 1
    assert {"stop c", "stop"} <= set(engine.calls)


def test_a_stop_does_not_start_an_engine() -> None:
    def start() -> FakeEngine:
        raise AssertionError("the engine was started")

    generator = EngineGenerator(start, started=lambda: False)
    generator.stop("c")
    assert [e.kind for e in generator.ask("c", Request("q"))] == ["end"]
