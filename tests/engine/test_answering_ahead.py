"""Answers whose tokens are forced, or read ahead: the same, with fewer forwards."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from engine.engine import Engine
from engine.fake_backend import FakeBackend
from engine.types import EngineOptions, Finished, SamplingOptions, TextDelta, Turn

QUOTE = "the supplier shall deliver the goods within thirty days of the notice of the buyer"
OPTIONS = EngineOptions(Path("none.gguf"), backend="fake", window=1024)


def engine(backend: FakeBackend, mode: str = "auto", **changes) -> Engine:
    made = Engine(backend, replace(OPTIONS, lookahead=mode, **changes))
    made._lookahead.pace.read(1, 1e9)  # so that any batch is worth its time
    return made


def answer(made: Engine, turn: Turn, most: int = 200, **more) -> Finished:
    events = list(made.ask("c", turn, SamplingOptions(max_tokens=most), **more))
    last = events[-1]
    assert isinstance(last, Finished)
    assert "".join(e.text for e in events if isinstance(e, TextDelta)) == last.text
    return last


def held(made: Engine) -> tuple[int, list[int]]:
    """Tokens on the device, and the transcript."""
    conversation = made._register.known("c")
    return conversation.held, conversation.transcript.ids


# --------------------------------------------------------------- lookahead


@pytest.mark.parametrize("use_cache", [True, False])
@pytest.mark.parametrize("reply", [QUOTE, "the supplier shall pay within thirty days", ""])
def test_read_ahead_or_not_the_conversation_is_the_same(reply, use_cache):
    # given the same engine with and without
    plain, ahead = FakeBackend(reply=reply), FakeBackend(reply=reply)
    engines = engine(plain, "off"), engine(ahead)
    # when both are asked the same
    for question in (f"{QUOTE}: what?", "And again?", QUOTE):
        one, other = (answer(e, Turn(question), use_cache=use_cache) for e in engines)
        assert one.text == other.text
        assert one.reason == other.reason
    # then they hold the same tokens, and reading ahead has saved forwards
    assert held(engines[0]) == held(engines[1])
    assert plain.free_cells == ahead.free_cells
    if reply:
        assert ahead.forwards < plain.forwards


def test_a_stop_string_within_what_was_read_ahead():
    backend = FakeBackend(reply=QUOTE)
    made = engine(backend)
    events = list(made.ask("c", Turn(QUOTE), SamplingOptions(max_tokens=99, stop=("within",))))
    assert events[-1].text == "the supplier shall deliver the goods "
    assert events[-1].reason == "stop_string"
    count, ids = held(made)
    assert backend.positions(made._register.known("c").sequence) == [(0, count)]
    assert answer(made, Turn("?")).text == QUOTE
    assert held(made)[1][: len(ids)] == ids


def test_closed_in_the_middle_nothing_that_was_guessed_is_left():
    backend = FakeBackend(reply=QUOTE)
    made = engine(backend)
    events = made.ask("c", Turn(QUOTE), SamplingOptions(max_tokens=99))
    text = ""
    while len(text) < 20:
        event = next(events)
        text += event.text if isinstance(event, TextDelta) else ""
    events.close()
    count, _ = held(made)
    assert backend.positions(made._register.known("c").sequence) == [(0, count)]


def test_a_window_that_fills_while_reading_ahead():
    reply = " ".join([QUOTE] * 6)
    texts = []
    for mode in ("off", "auto"):
        made = engine(FakeBackend(reply=reply, batch=32), mode, window=256)
        for _ in range(3):
            last = answer(made, Turn(QUOTE), most=150)
        texts.append((last.text, last.stats.trimmed_tokens, held(made)))
    assert texts[0] == texts[1]


# ------------------------------------------------------------------- forced


def test_a_choice_costs_only_the_tokens_in_which_the_choices_differ():
    # given two long choices that differ in their fourth word
    backend = FakeBackend()
    made = engine(backend, "off")
    choices = (f"{QUOTE} and pay", f"{QUOTE} and sell the rest of the goods to any party")
    before = backend.forwards
    # when the model chooses, and the answer ends with the choice
    last = answer(made, Turn("Which?", choices=choices, stop_after_choice=True))
    # then the prompt and the differing words are read, and the rest is left to the next turn
    assert last.text in choices
    assert last.reason == "end"
    assert backend.forwards - before <= 4
    count, ids = held(made)
    assert count < len(ids)
    assert answer(made, Turn("Why?")).stats.reused_tokens == count


def test_forced_tokens_are_those_of_the_text_and_the_answer_goes_on_freely():
    backend = FakeBackend()
    made = engine(backend, "off")
    last = answer(made, Turn("Which?", prefix="So: ", choices=(QUOTE,)), most=60)
    assert last.text.startswith(f"So: {QUOTE}")
    ids = held(made)[1]
    encoded = backend.tokenizer.encode(QUOTE)
    assert any(ids[n : n + len(encoded)] == encoded for n in range(len(ids)))


def test_no_more_tokens_are_forced_than_were_asked_for():
    last = answer(engine(FakeBackend()), Turn("Which?", choices=(QUOTE,)), most=5)
    assert QUOTE.startswith(last.text)
    assert last.stats.generated_tokens == 5
    assert last.reason == "length"


def test_a_stop_string_within_a_forced_text():
    made = engine(FakeBackend())
    events = list(made.ask("c", Turn("?", choices=(QUOTE,)), SamplingOptions(stop=("goods",))))
    assert events[-1].text == "the supplier shall deliver the "
    assert answer(made, Turn("?"), most=5).reason in ("length", "end")


def test_a_stop_while_a_forced_text_is_read():
    class Stops(FakeBackend):
        """Is told to stop while it reads the first part of the forced text."""

        def forward(self, sequence, tokens, start, *, every=False):
            if self.forwards == 2:
                made.stop("c")
            return super().forward(sequence, tokens, start, every=every)

    made = engine(Stops(batch=16), "off")
    last = answer(made, Turn("?", choices=(QUOTE * 3,)))
    assert last.reason == "stopped"
    assert last.text == QUOTE * 3
    assert made._backend.forwards == 3
    assert answer(made, Turn("?"), most=5).text


def test_a_device_that_is_full_while_a_forced_text_is_read():
    backend = FakeBackend(cells=64, batch=16)
    last = answer(engine(backend, "off", cells=64), Turn("?", choices=(QUOTE * 3,)))
    assert last.reason == "length"
    assert last.text == QUOTE * 3
