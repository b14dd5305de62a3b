from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from desktop_app import records
from desktop_app.lane import Lane


class Work:
    """A handler that says what it does and waits when it is asked to."""

    def __init__(self) -> None:
        self.replies: queue.Queue[records.Reply] = queue.Queue()
        self.stopped = threading.Event()
        self.finished = threading.Event()
        self.lane = Lane(
            "work",
            self.replies.put,
            self.handle,
            begin=self.stopped.clear,
            stop=self.stopped.set,
            finish=self.finished.set,
        )

    def handle(self, request: Any) -> Iterator[records.Reply]:
        if request.conversation == "fail":
            raise OSError(28, "No space left on device")
        yield records.Notice(request.job, "began")
        if request.conversation == "wait":
            assert self.stopped.wait(20)
        yield records.Notice(request.job, "ended")

    def ask(self, job: int, what: str = "") -> None:
        self.lane.put(records.OpenConversation(job, what))

    def next(self) -> records.Reply:
        return self.replies.get(timeout=20)


@pytest.fixture
def work() -> Iterator[Work]:
    work = Work()
    yield work
    work.lane.close(20)


def test_jobs_are_done_in_order_and_end_once(work: Work) -> None:
    work.ask(1)
    work.ask(2)
    got = [work.next() for _ in range(6)]
    assert [r.job for r in got] == [1, 1, 1, 2, 2, 2]
    assert [type(r) for r in got[2::3]] == [records.Finished, records.Finished]


def test_a_jobs_exception_is_its_own(work: Work) -> None:
    work.ask(1, "fail")
    work.ask(2)
    failed = work.next()
    assert isinstance(failed, records.Failed)
    assert (failed.job, failed.message) == (1, "The disk is full.")
    assert failed.hint
    assert work.next() == records.Notice(2, "began")


def test_a_stop_meets_the_running_or_the_waiting_job(work: Work) -> None:
    work.ask(1, "wait")
    work.ask(2)
    assert work.next() == records.Notice(1, "began")
    assert work.lane.stop(2)
    assert not work.lane.stop(7)
    assert not work.stopped.is_set()
    assert work.lane.stop(1)
    assert [work.next() for _ in range(3)] == [
        records.Notice(1, "ended"),
        records.Finished(1),
        records.Finished(2),
    ]


def test_work_in_the_background_may_fail(work: Work, caplog: pytest.LogCaptureFixture) -> None:
    done = threading.Event()
    work.lane.call(lambda: 1 // 0)
    work.lane.call(done.set)
    assert done.wait(20)
    assert "background failed" in caplog.text


def test_closing_stops_what_runs_and_drops_what_waits(work: Work) -> None:
    work.ask(1, "wait")
    work.ask(2)
    assert work.next() == records.Notice(1, "began")
    work.lane.close(20)
    assert work.finished.is_set()
    rest = [work.next() for _ in range(3)]
    assert rest[-1] == records.Finished(2)
