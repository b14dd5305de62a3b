from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from engine.client import CUT_SHORT, RESTARTED, EngineClient
from engine.errors import (
    BackendUnavailable,
    ContextTooLong,
    EngineDied,
    EngineError,
    InvalidRequest,
    ModelNotFound,
    UnknownConversation,
)
from engine.types import (
    CacheReport,
    EngineOptions,
    Event,
    Finished,
    Notice,
    Prefilling,
    SamplingOptions,
    TextDelta,
    Turn,
)
from tests.engine import fake_engine
from tests.engine.fake_engine import INFO, STEP, FakeEngine

ANSWER = "one two three four five six seven eight nine ten "
FAKES = "tests.engine.fake_engine:"


@pytest.fixture
def options(tmp_path) -> EngineOptions:
    return EngineOptions(Path("none.gguf"), backend="fake", cache_dir=tmp_path)


@pytest.fixture
def notices() -> list[str]:
    return []


@pytest.fixture
def client(options, notices) -> Iterator[EngineClient]:
    made = EngineClient(options, notices.append, factory=FAKES + "make")
    yield made
    made.close()


def until(condition: Callable[[], object], seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.01)


def kill(client: EngineClient) -> int:
    pid = client.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    return pid


def text_of(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def kept(options: EngineOptions, conversation: str = "c") -> list[str]:
    """The answers in the conversation's transcript."""
    return [turn["text"] for turn in FakeEngine(options).turns(conversation)]


def test_an_answer_streams_and_is_kept(client, options):
    events = list(client.ask("c", Turn("?", record={"chunks": [1]}), SamplingOptions(max_tokens=9)))
    assert sum(isinstance(event, Prefilling) for event in events) == 10
    assert Notice("cache True, at most 9") in events
    assert text_of(events) == ANSWER
    assert isinstance(events[-1], Finished)
    assert events[-1].reason == "end"
    assert client.conversation("c").turns[0].record == {"chunks": [1]}
    assert kept(options) == [ANSWER]


def test_every_method_reaches_the_engine(client, options):
    list(client.ask("c", Turn("?"), use_cache=False))
    client.start()
    assert client.info == INFO
    assert client.count_tokens("a b c") == 3
    assert client.prefill_speed() == 123.5
    assert client.score("c", Turn("?"), ["ab", "c"]) == [-2.0, -1.0]
    client.fork("c", "d")
    client.fork("c", "e", 0)
    client.open("c")
    assert client.conversations() == ["c", "d", "e"]
    client.rewind("d", 0)
    client.delete("e")
    assert kept(options, "d") == []
    assert client.conversations() == ["c", "d"]
    assert client.cache_report() == CacheReport(4096, 7, 1, 2, 3, 4, 5, (client.conversation("c"),))


def test_errors_keep_their_class(client):
    with pytest.raises(ContextTooLong) as caught:
        list(client.ask("c", Turn("too long")))
    assert (caught.value.tokens, caught.value.window) == (9000, 4096)
    with pytest.raises(UnknownConversation, match="'x'"):
        client.conversation("x")
    with pytest.raises(EngineError, match="ZeroDivisionError: a bug"):
        list(client.ask("c", Turn("bug")))
    with pytest.raises(InvalidRequest, match="can't be sent"):
        list(client.ask("c", Turn("?", record={"a": object()})))
    assert client.count_tokens("still alive") == 2


# ------------------------------------------------------------------ stopping


@pytest.mark.parametrize("when", [Prefilling, TextDelta])
def test_stop_takes_effect_within_one_step(client, options, when):
    # given an answer that is being read or written
    events: list[Event] = []
    told = 0.0
    for event in client.ask("c", Turn("?")):
        events.append(event)
        if isinstance(event, when) and not told:
            # when it is stopped
            client.stop("c")
            told = time.monotonic()
    # then it ends soon, and is kept as far as it had come
    assert time.monotonic() - told < 10 * STEP
    assert isinstance(events[-1], Finished)
    assert events[-1].reason == "stopped"
    assert kept(options) == [events[-1].text]
    assert len(text_of(events)) < len(ANSWER)


def test_closing_the_iterator_stops_the_answer_and_the_next_one_is_right(client, options):
    for event in client.ask("c", Turn("?")):
        if isinstance(event, TextDelta):
            break
    assert text_of(list(client.ask("c", Turn("more")))) == ANSWER
    first, second = kept(options)
    assert len(first) < len(ANSWER)
    assert ANSWER.startswith(first)
    assert second == ANSWER


def test_stop_of_another_conversation_changes_nothing(client):
    events = []
    for event in client.ask("c", Turn("?")):
        events.append(event)
        client.stop("d")
    assert text_of(events) == ANSWER


def test_a_question_that_waits_can_be_stopped(client, options):
    running, waiting = client.ask("c", Turn("?")), client.ask("d", Turn("?"))
    next(running)
    answers: list[list[Event]] = []
    thread = threading.Thread(target=lambda: answers.append(list(waiting)))
    thread.start()
    time.sleep(2 * STEP)
    client.stop("d")
    assert text_of(list(running)) == ANSWER
    thread.join()
    assert [type(event) for event in answers[0]] == [Finished]
    assert answers[0][0].reason == "stopped"
    assert kept(options, "d") == []


def test_stop_without_a_process_does_nothing(client):
    client.stop("c")
    assert client.pid is None


def test_what_only_looks_is_answered_between_two_events(client):
    asked = client.ask("c", Turn("?"))
    next(asked)
    begun = time.monotonic()
    assert client.count_tokens("a b") == 2
    assert time.monotonic() - begun < 8 * STEP
    with pytest.raises(UnknownConversation):
        client.conversation("c")
    assert text_of(list(asked)) == ANSWER


def test_two_threads_ask_at_once(client, options):
    answers: dict[str, str] = {}

    def ask(name: str) -> None:
        answers[name] = text_of(list(client.ask(name, Turn("?"))))

    threads = [threading.Thread(target=ask, args=(name,)) for name in "cde"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == dict.fromkeys("cde", ANSWER)
    assert client.conversations() == ["c", "d", "e"]


# -------------------------------------------------------------------- dying


def test_killed_while_writing_the_text_so_far_is_kept_and_the_next_question_is_answered(
    client, options, notices
):
    # given an answer of which two words are there
    events: list[Event] = []
    asked = client.ask("c", Turn("?", record={"n": 1}))
    while len(text_of(events).split()) < 2:
        events.append(next(asked))
    # when the process is killed
    old = kill(client)
    events += asked
    # then the answer ends with what there is, after one line of notice
    assert events[-2] == Notice(CUT_SHORT)
    assert isinstance(events[-1], Finished)
    assert events[-1].reason == "stopped"
    assert events[-1].text == text_of(events)
    assert ANSWER.startswith(events[-1].text)
    assert len(events[-1].text.split()) >= 2
    assert notices == []
    # and a fresh process knows the turn and answers the next question
    assert text_of(list(client.ask("c", Turn("more")))) == ANSWER
    assert client.pid != old
    assert kept(options) == [events[-1].text, ANSWER]
    assert client.conversation("c").turns[0].record == {"n": 1}


def test_a_turn_that_the_dead_process_had_kept_is_not_kept_twice(client, options):
    # given a process that keeps the turn and is then killed before its answer is told
    asked = client.ask("c", Turn("?"))
    while not isinstance(event := next(asked), TextDelta):
        pass
    text = event.text
    FakeEngine(options)._commit("c", Turn("?"), ANSWER)
    kill(client)
    rest = list(asked)
    # when the next question comes
    list(client.ask("c", Turn("more")))
    # then the turn stands there once
    assert rest[-1].text.startswith(text)
    assert kept(options) == [ANSWER, ANSWER]


def test_the_given_beginning_of_an_answer_belongs_to_the_text_so_far(client, options):
    asked = client.ask("c", Turn("?", prefix="So: "))
    while not isinstance(next(asked), TextDelta):
        pass
    kill(client)
    finished = list(asked)[-1]
    assert finished.text.startswith("So: one ")
    until(lambda: kept(options) == [finished.text])


def test_nothing_of_a_scratch_answer_is_kept(client, options):
    asked = client.ask("", Turn("?"))
    while not isinstance(next(asked), TextDelta):
        pass
    kill(client)
    assert list(asked)[-1].reason == "stopped"
    assert client.conversations() == []


def test_killed_while_reading_the_question_is_asked_again(client, options):
    asked = client.ask("c", Turn("?"))
    events = [next(asked)]
    kill(client)
    events += asked
    assert events.count(Notice(RESTARTED)) == 1
    assert text_of(events) == ANSWER
    assert events[-1].reason == "end"
    assert kept(options) == [ANSWER]


def test_a_process_that_dies_by_itself_once(client):
    events = list(client.ask("c", Turn("dies once while reading")))
    assert Notice(RESTARTED) in events
    assert text_of(events) == ANSWER


def test_a_question_that_kills_twice_is_given_up(client):
    with pytest.raises(EngineDied, match="signal 9"):
        list(client.ask("c", Turn("dies while reading")))
    assert text_of(list(client.ask("c", Turn("?")))) == ANSWER


def test_a_build_for_another_processor_is_named(client):
    with pytest.raises(EngineDied, match=r"signal 4.*built for another processor: install it"):
        list(client.ask("c", Turn("meets an unknown instruction")))


def test_stopped_while_the_process_starts_again(client):
    asked = client.ask("c", Turn("?"))
    next(asked)
    kill(client)
    events = []
    for event in asked:
        events.append(event)
        if event == Notice(RESTARTED):
            client.stop("c")
    assert events[-1].reason == "stopped"
    assert text_of(events) == ""


def test_killed_while_idle_it_is_started_again_with_one_line_of_notice(client, notices):
    list(client.ask("c", Turn("?")))
    old = kill(client)
    until(lambda: client.pid not in (None, old))
    assert notices == [RESTARTED]
    assert len(client.conversation("c").turns) == 1


def test_idle_work_that_kills_is_not_started_for_ever(client, options, notices):
    client.start()
    (options.cache_dir / "dies when idle").touch()
    until(lambda: len(notices) >= 4, 60)
    time.sleep(1)
    assert len(notices) == 4
    assert client.pid is None


def test_a_call_that_changes_nothing_is_made_again(client, notices):
    with pytest.raises(EngineDied):
        client.count_tokens("die")  # twice
    assert client.count_tokens("a b") == 2


def test_a_change_is_not_made_twice(client, monkeypatch):
    client.start()
    calls = []

    def dies(method: str, *args: object) -> object:
        calls.append(method)
        raise EngineDied("it ended")

    monkeypatch.setattr(client._host, "call", dies)
    with pytest.raises(EngineDied):
        client.delete("c")
    assert calls == ["delete"]


def test_an_adoption_that_fails_does_not_stop_the_conversation(client, options):
    asked = client.ask("no/such/folder", Turn("?"))
    while not isinstance(next(asked), TextDelta):
        pass
    kill(client)
    list(asked)
    assert text_of(list(client.ask("c", Turn("?")))) == ANSWER


# ---------------------------------------------------------- the real engine


@pytest.mark.parametrize("when", [Prefilling, TextDelta])
def test_the_real_engine_goes_on_after_a_crash(options, when):
    # given a conversation of one turn, and a second one that is read or written
    client = EngineClient(options, factory=FAKES + "slow")
    first = list(client.ask("c", Turn("What are the main terms?", system="Be brief.")))[-1]
    asked = client.ask("c", Turn("How is payment made?", record={"chunks": [7]}))
    events = []
    while not events or not isinstance(events[-1], when):
        events.append(next(asked))
    # when the process is killed
    kill(client)
    events += asked
    second = events[-1]
    assert isinstance(first, Finished)
    assert isinstance(second, Finished)
    # then the conversation holds both turns, and the third one continues it
    if when is TextDelta:
        assert second.reason == "stopped"
        assert first.text.startswith(second.text)
    else:
        assert second.text == first.text
    turns = client.conversation("c").turns
    assert [turn.record for turn in turns] == [{}, {"chunks": [7]}]
    third = list(client.ask("c", Turn("And the law?")))[-1]
    assert isinstance(third, Finished)
    assert third.text == first.text
    info = client.conversation("c")
    assert len(info.turns) == 3
    # and a fresh engine that reads it all anew says the same
    assert third.stats.prompt_tokens + third.stats.generated_tokens <= info.tokens
    client.close()


def test_the_real_engine_reuses_what_it_had_read_before_the_crash(options):
    client = EngineClient(options, factory=FAKES + "slow")
    long = "the supplier shall deliver the goods within days " * 40
    first = list(client.ask("c", Turn(long)))[-1]
    assert isinstance(first, Finished)
    until(lambda: list(options.cache_dir.rglob("cache")))  # written behind the answer
    kill(client)
    second = list(client.ask("c", Turn("And the price?")))[-1]
    assert isinstance(second, Finished)
    assert second.stats.restored_from == "disk"
    assert second.stats.reused_tokens >= first.stats.prompt_tokens - 16
    report = client.cache_report()
    assert [one.id for one in report.conversations] == ["c"]
    client.close()


@pytest.mark.model
def test_a_real_model_killed_in_the_middle_of_an_answer(model_path, tmp_path):
    options = EngineOptions(model_path, backend="llama.cpp", cache_dir=tmp_path, window=1024)
    client = EngineClient(options, log=tmp_path / "engine.log")
    first = list(client.ask("c", Turn("Name three colours."), SamplingOptions(max_tokens=24)))[-1]
    asked = client.ask("c", Turn("Tell me more about the first one."))
    text = ""
    while len(text) < 20:
        event = next(asked)
        text += event.text if isinstance(event, TextDelta) else ""
    kill(client)
    rest = list(asked)
    assert rest[-2:-1] == [Notice(CUT_SHORT)]
    assert isinstance(rest[-1], Finished)
    assert rest[-1].text.startswith(text)
    third = list(client.ask("c", Turn("Why?"), SamplingOptions(max_tokens=8)))[-1]
    assert isinstance(first, Finished)
    assert isinstance(third, Finished)
    assert len(client.conversation("c").turns) == 3
    assert third.stats.prompt_tokens > first.stats.prompt_tokens + first.stats.generated_tokens
    client.close()


# ----------------------------------------------------------- beginning, end


@pytest.mark.parametrize(
    ("factory", "error", "message"),
    [
        ("no_model", ModelNotFound, "There is no model at none.gguf"),
        ("no_library", BackendUnavailable, "llama.cpp is not installed"),
        ("broken", EngineError, "ZeroDivisionError: a bug"),
        ("killed", BackendUnavailable, r"while it loaded the model \(signal 9\)"),
        ("missing", EngineError, "AttributeError"),
    ],
)
def test_a_start_that_fails_says_why(options, factory, error, message):
    client = EngineClient(options, factory=FAKES + factory)
    with pytest.raises(error, match=message):
        client.start()
    with pytest.raises(error, match=message):
        list(client.ask("c", Turn("?")))
    client.close()
    assert client.pid is None


def test_a_model_that_vanishes_while_the_program_runs(client, notices):
    client.start()
    client._factory = FAKES + "no_model"
    old = kill(client)
    until(lambda: client.pid != old)
    with pytest.raises(ModelNotFound):
        client.count_tokens("a")


def test_close_lets_the_engine_finish_and_ends_its_process(options):
    client = EngineClient(options, factory=FAKES + "make")
    client.start()
    process = psutil.Process(client.pid)
    client.close()
    assert not process.is_running()
    assert (options.cache_dir / "closed").exists()
    with pytest.raises(EngineDied, match="closed"):
        client.count_tokens("a")
    client.close()


def test_close_ends_an_answer_as_a_stop_does(options):
    client = EngineClient(options, factory=FAKES + "make")
    asked = client.ask("c", Turn("?"))
    next(asked)
    client.close()
    events = list(asked)
    assert isinstance(events[-1], Finished)
    assert events[-1].reason == "stopped"
    assert fake_engine.FakeEngine(options).turns("c")


def test_idle_work_runs_between_questions(client, options):
    client.start()
    until(lambda: (options.cache_dir / "idle").exists())
    begun = time.monotonic()
    assert client.count_tokens("a") == 1
    assert time.monotonic() - begun < 1


def test_idle_work_that_fails_harms_nothing(client, options):
    (options.cache_dir / "fails when idle").touch()
    client.start()
    time.sleep(0.1)
    assert client.count_tokens("a") == 1


def test_the_process_writes_its_log_to_a_file(options, tmp_path):
    log = tmp_path / "logs" / "engine.log"
    client = EngineClient(options, factory=FAKES + "make", log=log)
    with pytest.raises(EngineError):
        list(client.ask("c", Turn("bug")))
    client.close()
    assert "ZeroDivisionError: a bug" in log.read_text()
    assert log.with_suffix(".crash").exists()
