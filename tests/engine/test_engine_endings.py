"""How an answer ends: a stop from anywhere, a limit, a stop string, a choice; and one at a time."""

from __future__ import annotations

import contextlib
import threading

import pytest

from engine.errors import InvalidRequest
from engine.types import (
    Finished,
    Notice,
    Prefilling,
    SamplingOptions,
    TextDelta,
    Turn,
)
from tests.engine.conversations import (
    LONG,
    SYSTEM,
    ask,
    check_device,
    fake_engine,
    start,
)


def test_a_stop_at_the_first_event() -> None:
    fake = fake_engine()
    stream = start(fake.engine, "a", LONG, prefix="It says")
    fake.engine.notices.append("Wait.")
    assert next(stream) == Notice("Wait.")
    fake.engine.stop("a")
    *pieces, last = list(stream)
    assert isinstance(last, Finished)
    assert (last.reason, last.text, last.stats.prompt_tokens) == ("stopped", "It says", 32)
    assert TextDelta("It says") in pieces
    assert ask(fake.engine, "a", "Next?").stats.reused_tokens == 32


def test_a_stop_while_reading_ends_within_one_batch() -> None:
    fake = fake_engine(batch=16)
    read = 0
    for event in start(fake.engine, "a", LONG):
        if isinstance(event, Prefilling):
            read = event.done
            fake.engine.stop("a")
        last = event
    assert isinstance(last, Finished)
    assert (last.reason, last.text, read) == ("stopped", "", 16)
    assert last.stats.generated_tokens == 0
    assert last.stats.ttft_ms == 0
    check_device(fake)
    following = ask(fake.engine, "a", "And now?").stats
    assert following.reused_tokens == 16
    turns = fake.engine.conversation("a").turns
    assert len(turns) == 2


def test_a_stop_while_writing_keeps_what_was_written() -> None:
    fake = fake_engine(reply="one two three four five six seven eight")
    pieces = []
    for event in start(fake.engine, "a", "Count?"):
        if isinstance(event, TextDelta):
            pieces.append(event.text)
            if len(pieces) == 5:
                fake.engine.stop("a")
        last = event
    assert isinstance(last, Finished)
    assert last.reason == "stopped"
    assert last.text == "".join(pieces) == "one t"
    closing = fake.backend.tokenizer.encode("<|im_end|>\n", special=True)
    assert fake.conversation("a").transcript.ids[-2:] == closing
    following = ask(fake.engine, "a", "And now?")
    assert following.text == "one two three four five six seven eight"


@pytest.mark.parametrize("events", [0, 1, 2, 3, 6])
def test_closing_the_stream_commits_what_was_written(events: int) -> None:
    fake = fake_engine(batch=16, reply="one two three")
    with contextlib.closing(start(fake.engine, "a", LONG[:70])) as stream:
        for _ in range(events):
            next(stream)
    check_device(fake)
    if events:
        assert len(fake.engine.conversation("a").turns) == 1
        text = fake.conversation("a").transcript.turns[0].segments[-1].text
        assert "one two three".startswith(text)
    else:
        assert fake.engine.conversations() == []
    assert ask(fake.engine, "a", "And now?").text == "one two three"


def test_a_stop_takes_effect_from_another_thread() -> None:
    fake = fake_engine(batch=8, seconds_per_batch=0.01)
    timer = threading.Timer(0.05, fake.engine.stop, ("a",))
    timer.start()
    last = list(start(fake.engine, "a", LONG, most=4000))[-1]
    timer.join()
    assert isinstance(last, Finished)
    assert last.reason == "stopped"
    assert 0 < last.stats.prefilled_tokens < 120


def test_stopping_something_else_changes_nothing() -> None:
    fake = fake_engine()
    stream = start(fake.engine, "a", "One?")
    next(stream)
    fake.engine.stop("b")
    assert isinstance(list(stream)[-1], Finished)
    fake.engine.stop("a")
    assert ask(fake.engine, "a", "Two?").reason in ("end", "length")


def test_a_conversation_answers_one_question_at_a_time() -> None:
    fake = fake_engine()
    with contextlib.closing(start(fake.engine, "a", "One?")) as stream:
        next(stream)
        with pytest.raises(InvalidRequest, match="still answering"):
            start(fake.engine, "a", "Two?")
        for action in (
            lambda: fake.engine.rewind("a", 0),
            lambda: fake.engine.fork("a", "b"),
            lambda: fake.engine.delete("a"),
        ):
            with pytest.raises(InvalidRequest, match="still answering"):
                action()
        assert fake.engine.conversation("a").id == "a"
        assert fake.engine.count_tokens("the price") > 0


def test_the_answer_ends_at_its_limit() -> None:
    fake = fake_engine(reply="one two three four")
    last = ask(fake.engine, "a", "Count?", most=3)
    assert (last.reason, last.stats.generated_tokens, last.text) == ("length", 3, "one")
    assert ask(fake.engine, "a", "Again?").text == "one two three four"


def test_a_stop_string_ends_the_answer_and_is_not_part_of_it() -> None:
    fake = fake_engine(reply="one two. Question: what")
    options = SamplingOptions(max_tokens=40, stop=("Question:",))
    events = list(fake.engine.ask("a", Turn("Count?", SYSTEM), options))
    last = events[-1]
    assert isinstance(last, Finished)
    assert (last.reason, last.text) == ("stop_string", "one two. ")
    assert "".join(e.text for e in events if isinstance(e, TextDelta)) == "one two. "
    check_device(fake)
    answer = fake.conversation("a").transcript.turns[0].segments[-1].ids
    assert answer == tuple(fake.backend.tokenizer.encode("one two. <|im_end|>\n", special=True))
    before = fake.conversation("a").held
    assert ask(fake.engine, "a", "More?").stats.reused_tokens == before


def test_a_prefix_is_read_and_part_of_the_answer() -> None:
    fake = fake_engine()
    last = ask(fake.engine, "a", "When?", prefix="Within")
    assert last.text.startswith("Within")
    answer = fake.conversation("a").transcript.turns[0].segments[-1]
    prefix = fake.backend.tokenizer.encode("Within")
    assert list(answer.ids[: len(prefix)]) == prefix
    assert last.stats.generated_tokens == len(answer.ids) - len(prefix) - 1


def test_a_choice_is_made_and_can_end_the_answer() -> None:
    fake = fake_engine()
    last = ask(fake.engine, "a", "Yes or no?", choices=("Yes", "No"), stop_after_choice=True)
    assert last.text in ("Yes", "No")
    assert last.reason == "end"
    assert ask(fake.engine, "a", "Next?").stats.reused_tokens > 0
