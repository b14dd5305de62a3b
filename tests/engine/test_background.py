"""Jobs run in order, can be waited for, and can't fill the memory."""

from __future__ import annotations

import threading
import time

import pytest

from engine.background import Background


def test_jobs_run_in_order_and_closing_finishes_them() -> None:
    background, done = Background("test"), list[int]()
    for number in range(50):
        background.add("a", lambda number=number: done.append(number))  # type: ignore[misc]
    background.close()
    assert done == list(range(50))


def test_closing_without_jobs() -> None:
    Background("test").close()


def test_waiting_for_one_key_or_for_all() -> None:
    background, gate, done = Background("test"), threading.Event(), list[str]()
    background.add("a", lambda: done.append("a"))
    background.add("b", gate.wait)
    background.add("b", lambda: done.append("b"))
    assert background.wait("a")
    assert not background.wait("b", timeout=0.01)
    assert not background.wait(timeout=0.01)
    gate.set()
    assert background.wait()
    assert done == ["a", "b"]
    background.close()


def test_many_bytes_slow_the_caller_down() -> None:
    background, gate = Background("test", most_pending=100), threading.Event()
    background.add("a", gate.wait, nbytes=90)
    threading.Timer(0.1, gate.set).start()
    begin = time.monotonic()
    background.add("a", lambda: None, nbytes=20)
    assert time.monotonic() - begin > 0.05
    background.add("a", lambda: None, nbytes=5000)  # larger than all: alone, but not refused
    background.close()


def test_a_job_that_fails_does_not_stop_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[BaseException | None] = []
    monkeypatch.setattr(threading, "excepthook", lambda args: seen.append(args.exc_value))
    background, gate, done = Background("test"), threading.Event(), list[int]()

    def fail() -> None:
        gate.wait()
        raise RuntimeError("boom")

    background.add("a", fail)
    background.add("a", lambda: done.append(1))
    gate.set()
    assert background.wait("a", timeout=5)
    assert done == [1]
    background.add("a", lambda: done.append(2))
    background.close()
    assert done == [1, 2]
    assert [str(error) for error in seen] == ["boom"]
