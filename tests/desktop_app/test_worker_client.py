"""The worker client with real processes that run small workers of the test's own."""

from __future__ import annotations

import os
import queue
import signal
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from desktop_app import records
from desktop_app.fake_worker_client import FakeWorkerClient
from desktop_app.worker_client import GAVE_UP, RESTARTED, WorkerClient, WorkerOptions


def echo(connection: Connection, options: WorkerOptions) -> None:
    """Answers Ask with its question, hangs on Ingest, dies on Doctor."""
    connection.send_bytes(records.encode(records.Started(0, os.getpid(), options.model)))
    while data := connection.recv_bytes():
        request = records.decode_request(data)
        if isinstance(request, records.Doctor):
            os._exit(3)
        if isinstance(request, records.Ask):
            connection.send_bytes(b"rubbish")
            connection.send_bytes(records.encode(records.Delta(request.job, request.question)))
            connection.send_bytes(records.encode(records.Finished(request.job)))


def deaf(connection: Connection, options: WorkerOptions) -> None:
    """Never listens."""
    connection.send_bytes(records.encode(records.Started(0, os.getpid(), "")))
    time.sleep(60)


Start = Callable[..., tuple[WorkerClient, "queue.Queue[records.Reply]"]]


@pytest.fixture
def start() -> Iterator[Start]:
    clients: list[WorkerClient] = []

    def make(
        target: Callable[..., None] = echo, **options: int
    ) -> tuple[WorkerClient, queue.Queue]:
        replies: queue.Queue[records.Reply] = queue.Queue()
        client = WorkerClient(WorkerOptions(model="m"), target=target, **options)
        clients.append(client)
        client.start(replies.put)
        client.start(replies.put)
        return client, replies

    yield make
    for client in clients:
        client.close(0.5)


def test_a_request_is_answered_and_a_bad_reply_skipped(
    start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    client, replies = start()
    assert replies.get(timeout=20) == records.Started(0, client.pid or 0, "m")
    job = client.send(records.Ask(client.next_job(), "", "问题?"))
    assert replies.get(timeout=20) == records.Delta(job, "问题?")
    assert replies.get(timeout=20) == records.Finished(job)
    assert "can't be read" in caplog.text


def test_what_a_launched_worker_says_waits_until_somebody_listens() -> None:
    client, replies = WorkerClient(WorkerOptions(), target=echo), queue.Queue[records.Reply]()
    client.launch()
    launched = client.pid
    job = client.send(records.Ask(client.next_job(), "", "q"))
    client.start(replies.put)
    assert replies.get(timeout=20) == records.Started(0, launched or 0, "")
    assert replies.get(timeout=20) == records.Delta(job, "q")
    client.close()


def test_a_launched_worker_ends_with_a_program_that_never_listened() -> None:
    client = WorkerClient(WorkerOptions(), target=echo)
    client.launch()
    launched = client.pid
    client.close()
    assert launched
    with pytest.raises(ProcessLookupError):
        os.kill(launched, 0)


def test_a_dead_worker_is_started_again_with_one_notice(start: Start) -> None:
    # given a job that runs
    client, replies = start()
    first = replies.get(timeout=20)
    hanging = client.send(records.Ingest(client.next_job(), ("a",)))
    # when the process is killed
    os.kill(first.pid, signal.SIGKILL)
    # then one notice comes, the job fails, and the next request is answered by a fresh process
    got = [replies.get(timeout=20) for _ in range(3)]
    assert records.Notice(0, RESTARTED) in got
    failed = next(r for r in got if isinstance(r, records.Failed))
    assert failed.job == hanging
    assert failed.hint
    fresh = next(r for r in got if isinstance(r, records.Started))
    assert fresh.pid != first.pid
    job = client.send(records.Ask(client.next_job(), "", "q"))
    assert replies.get(timeout=20) == records.Delta(job, "q")


def test_a_worker_that_keeps_dying_is_given_up(start: Start) -> None:
    client, replies = start(restarts=1)
    assert isinstance(replies.get(timeout=20), records.Started)
    client.send(records.Doctor(client.next_job()))
    assert {type(replies.get(timeout=20)) for _ in range(3)} == {
        records.Notice,
        records.Failed,
        records.Started,
    }
    client.send(records.Doctor(client.next_job()))
    assert replies.get(timeout=20) == records.Notice(0, GAVE_UP)
    assert isinstance(replies.get(timeout=20), records.Failed)
    job = client.send(records.ListDocuments(client.next_job()))
    assert replies.get(timeout=20) == records.Failed(job, GAVE_UP)


def test_a_callback_that_raises_does_not_end_the_reader(caplog: pytest.LogCaptureFixture) -> None:
    seen: queue.Queue[records.Reply] = queue.Queue()

    def handle(reply: records.Reply) -> None:
        seen.put(reply)
        if isinstance(reply, records.Started):
            raise RuntimeError("a fault in the window")

    client = WorkerClient(WorkerOptions(), target=echo)
    client.start(handle)
    assert isinstance(seen.get(timeout=20), records.Started)
    client.send(records.Ask(1, "", "q"))
    assert seen.get(timeout=20) == records.Delta(1, "q")
    client.close()
    assert "could not be handled" in caplog.text


def test_close_ends_a_worker_that_listens_and_one_that_does_not(start: Start) -> None:
    for target in (echo, deaf):
        client, replies = start(target)
        started = replies.get(timeout=20)
        client.close(0.5)
        with pytest.raises(ProcessLookupError):
            os.kill(started.pid, 0)


def test_options_want_an_absolute_library(tmp_path: Path) -> None:
    assert WorkerOptions(str(tmp_path)).library == str(tmp_path)
    with pytest.raises(ValueError, match="absolute"):
        WorkerOptions("here")


def test_the_fake_answers_and_remembers() -> None:
    replies: list[records.Reply] = []
    fake = FakeWorkerClient()
    fake.start(replies.append)
    fake.answer_with(records.Ask, lambda r: [records.Delta(r.job, r.question.upper())])
    fake.answer_with(records.Doctor, lambda r: [records.Failed(r.job, "no", "do this")])
    job = fake.send(records.Ask(fake.next_job(), "", "a"))
    fake.send(records.Doctor(fake.next_job()))
    fake.send(records.Stop(fake.next_job(), job))
    assert replies == [
        records.Started(0, 1, "fake"),
        records.Delta(1, "A"),
        records.Finished(1),
        records.Failed(2, "no", "do this"),
    ]
    assert fake.last(records.Stop).target == job
    with pytest.raises(LookupError):
        fake.last(records.Ingest)
    fake.close()
    assert fake.closed
    assert fake.started
