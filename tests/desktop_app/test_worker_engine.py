"""The worker with the engine's own process below it, and a backend that needs no model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from desktop_app import records
from desktop_app.worker_client import run_worker
from tests.desktop_app.test_worker import QUESTION, Window


@pytest.fixture
def window(tmp_path: Path, home: Path, contract: Path) -> Iterator[Window]:
    """A window with one document in its library."""
    (home / "settings.json").write_text('{"embedder": "fake", "backend": "fake"}')
    window = Window(tmp_path / "library", target=run_worker)
    window.do(records.Ingest, paths=(str(contract),))
    yield window
    window.client.close()


def ask(window: Window, question: str = QUESTION, conversation: str = "c") -> records.Answered:
    got = window.do(records.Ask, conversation=conversation, question=question)
    answered = got[-2]
    assert isinstance(answered, records.Answered), got
    return answered


def engines(window: Window) -> list[psutil.Process]:
    children = psutil.Process(window.client.pid).children()
    return [c for c in children if "resource_tracker" not in " ".join(c.cmdline())]


def test_turns_are_asked_again_edited_forked_and_deleted(window: Window) -> None:
    first = ask(window)
    second = ask(window, "And how is liability limited?")
    assert (first.turn, second.turn) == (0, 1)
    assert second.answer.stats["reused_tokens"] > 0
    # the same again: the same prefix is there, and the same answer comes
    again = window.do(records.Regenerate, conversation="c", turn=1)[-2]
    assert isinstance(again, records.Answered)
    assert again.turn == 1
    assert again.answer.text == second.answer.text
    assert again.answer.stats["prompt_tokens"] == second.answer.stats["prompt_tokens"]
    # a fork goes its own way
    forked = window.do(records.ForkConversation, conversation="c", turns=1)[0]
    assert isinstance(forked, records.ConversationOpened)
    assert [m.question for m in forked.messages] == [QUESTION]
    other = ask(window, "And how is liability limited?", forked.conversation.id)
    assert other.answer.text == second.answer.text
    assert other.answer.stats["reused_tokens"] > 0
    # an edited first question leaves one turn
    edited = window.do(records.Edit, conversation="c", turn=0, question="How long is the term?")[-2]
    assert isinstance(edited, records.Answered)
    assert edited.turn == 0
    shown = window.do(records.OpenConversation, conversation="c")[0]
    assert isinstance(shown, records.ConversationOpened)
    assert [m.question for m in shown.messages] == ["How long is the term?"]
    # a deleted conversation is gone from the list and from the engine
    listed = window.do(records.DeleteConversation, conversation="c")[0]
    assert isinstance(listed, records.ConversationList)
    assert [c.id for c in listed.conversations] == [forked.conversation.id]
    ask(window, "And the term?", forked.conversation.id)  # what was begun before it is done
    figures = window.do(records.GetCacheReport)[0]
    assert isinstance(figures, records.CacheFigures)
    assert "c" not in [c["id"] for c in figures.values["conversations"]]


def test_cleared_caches_cost_time_and_nothing_else(window: Window, tmp_path: Path) -> None:
    ask(window)
    ask(window, "And the term?", "other")
    folder = tmp_path / "library" / "conversations"
    for conversation, left in (("c", 1), ("", 0)):
        figures = window.do(records.ClearCache, conversation=conversation)[0]
        assert isinstance(figures, records.CacheFigures)
        assert len(list(folder.glob("*/transcript"))) == 2
        assert len([f for f in folder.glob("*/cache") if f.parent.name != "shared"]) == left
    after = ask(window, "And how is liability limited?")
    assert after.turn == 1
    assert after.answer.stats["reused_tokens"] == 0


def test_an_engine_that_is_killed_costs_one_line(window: Window) -> None:
    before = ask(window)
    for engine in engines(window):
        engine.kill()
        engine.wait(10)
    after = ask(window, "And how is liability limited?")
    assert after.turn == 1
    assert after.answer.stats["prompt_tokens"] > before.answer.stats["prompt_tokens"]
    told = [r.text for r in window.news if isinstance(r, records.Notice)]
    assert len(told) == 1
    assert "started again" in told[0]


def test_other_settings_start_another_engine(window: Window) -> None:
    ask(window)
    pids = {engine.pid for engine in engines(window)}
    changed = window.do(records.ChangeSettings, values={"window": 1024})[0]
    assert isinstance(changed, records.SettingsChanged)
    ask(window, "And how is liability limited?")
    assert {engine.pid for engine in engines(window)}.isdisjoint(pids)


def test_no_process_stays_when_the_window_closes(window: Window) -> None:
    ask(window)
    worker = psutil.Process(window.client.pid)
    all_of_them = [worker, *worker.children(recursive=True)]
    assert len(all_of_them) >= 2
    window.client.close(15)
    assert psutil.wait_procs(all_of_them, timeout=15)[1] == []
