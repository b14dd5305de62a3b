"""The worker in a process of its own, with a fake engine; and its jobs one by one."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import psutil
import pytest

from desktop_app import deletions, paths, records, settings
from desktop_app.composition import Composition
from desktop_app.jobs_lookup import LookupJobs, SlowLookupJobs
from desktop_app.settings import Settings
from desktop_app.worker_client import RESTARTED, WorkerClient, WorkerOptions
from desktop_app.worker_process import serve
from tests.desktop_app.fakes import FakeEngine, fakes

QUESTION = "When shall the Buyer pay each invoice?"


def slow_engine(options: Any, on_notice: Callable[[str], None]) -> FakeEngine:
    return FakeEngine(options, on_notice, reply="word " * 400, pace=0.01)


def no_engine(options: Any, on_notice: Callable[[str], None]) -> FakeEngine:
    raise MemoryError


def fake_worker(connection: Connection, options: WorkerOptions) -> None:
    make = {"slow": slow_engine, "none": no_engine}.get(options.model, FakeEngine)
    serve(connection, options, fakes(make))


class Window:
    """Sends requests and collects the replies of each job."""

    def __init__(
        self, library: Path, model: str = "", target: Callable[..., None] = fake_worker
    ) -> None:
        self.replies: queue.Queue[records.Reply] = queue.Queue()
        options = WorkerOptions(str(library), "fake", model)
        self.client = WorkerClient(options, target=target)
        self.client.start(self.replies.put)
        self.news: list[records.Reply] = []

    def send(self, kind: type, **fields: Any) -> int:
        return self.client.send(kind(job=self.client.next_job(), **fields))

    def until_written(self) -> None:
        """Waits until the first words of an answer are there."""
        while not isinstance(reply := self.replies.get(timeout=30), records.Delta):
            assert not isinstance(reply, (records.Failed, records.Finished)), reply

    def until_end(self, job: int) -> list[records.Reply]:
        got: list[records.Reply] = []
        while not (got and isinstance(got[-1], (records.Finished, records.Failed))):
            reply = self.replies.get(timeout=30)
            (got if reply.job == job else self.news).append(reply)
        return got

    def do(self, kind: type, **fields: Any) -> list[records.Reply]:
        return self.until_end(self.send(kind, **fields))


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Window]]:
    windows: list[Window] = []

    def make(model: str = "") -> Window:
        windows.append(Window(tmp_path / "library", model))
        return windows[-1]

    yield make
    for window in windows:
        window.client.close()


def test_from_a_file_to_an_answer_and_back_after_a_restart(
    start: Callable[..., Window], contract: Path
) -> None:
    # given a worker with a document
    window = start()
    added = window.do(records.Ingest, paths=(str(contract),))
    result = next(r.result for r in added if isinstance(r, records.Ingested))
    assert result.status == "ready"
    assert any(isinstance(r, records.Progress) for r in added)
    listed = next(r for r in reversed(added) if isinstance(r, records.DocumentList))
    assert [d.name for d in listed.documents] == [contract.name]
    pages = window.do(records.ListPages, document=contract.name)[0]
    assert isinstance(pages, records.PageList)
    assert [p.number for p in pages.pages] == list(range(1, result.pages + 1))
    # when a conversation is begun and a question is asked
    opened = window.do(records.NewConversation, title="付款")[0]
    assert isinstance(opened, records.ConversationOpened)
    name = opened.conversation.id
    got = window.do(records.Ask, conversation=name, question=QUESTION)
    kinds = [type(r) for r in got]
    assert kinds.index(records.Evidence) < kinds.index(records.Reading)
    assert kinds.index(records.Reading) < kinds.index(records.Delta)
    answered = got[-2]
    assert isinstance(answered, records.Answered)
    assert answered.turn == 0
    assert answered.answer.citations[0].document == contract.name
    assert isinstance(got[-1], records.Finished)
    # then it is all there after the worker was ended and started
    window.client.close()
    window = start()
    shown = window.do(records.OpenConversation, conversation=name)[0]
    assert isinstance(shown, records.ConversationOpened)
    assert shown.conversation.title == "付款"
    assert [m.question for m in shown.messages] == [QUESTION]
    listing = window.do(records.ListConversations)[0]
    assert isinstance(listing, records.ConversationList)
    assert [c.turns for c in listing.conversations] == [1]
    gone = window.do(records.Remove, documents=(contract.name,))
    assert gone[0] == records.DocumentList(gone[0].job, ())


def test_failures_are_the_jobs_and_the_worker_goes_on(
    start: Callable[..., Window], tmp_path: Path
) -> None:
    window = start()
    for kind, fields, message in [
        (records.Ask, {"conversation": "", "question": "q"}, "no document yet"),
        (records.Ask, {"conversation": "", "question": " "}, "empty"),
        (records.Remove, {"documents": ("x",)}, "no document called 'x'"),
        (records.OpenConversation, {"conversation": "x"}, "isn't there"),
        (records.ForkConversation, {"conversation": "x"}, "can't be copied"),
        (records.Regenerate, {"conversation": "x", "turn": 0}, "no question number 1"),
        (records.FindRectangles, {"document": "x", "page": 1, "quote": "q"}, "no document"),
        (records.ChangeSettings, {"values": {"window": 1}}, "window"),
    ]:
        failed = window.do(kind, **fields)[-1]
        assert isinstance(failed, records.Failed), kind
        assert message in failed.message
    (tmp_path / "bad.pdf").write_bytes(b"no pdf")
    got = window.do(records.Ingest, paths=(str(tmp_path / "bad.pdf"), str(tmp_path / "none.pdf")))
    assert [r.result.status for r in got if isinstance(r, records.Ingested)] == ["failed"] * 2
    assert isinstance(got[-1], records.Finished)


def test_an_answer_is_stopped_and_others_do_not_wait_for_it(
    start: Callable[..., Window], contract: Path
) -> None:
    window = start("slow")
    ingested = window.do(records.Ingest, paths=(str(contract),))
    assert any(
        isinstance(reply, records.Ingested) and reply.result.status == "ready" for reply in ingested
    ), ingested
    asked = window.send(records.Ask, conversation="c", question=QUESTION)
    seen: list[records.Reply] = []
    while not any(isinstance(r, records.Delta) for r in seen):
        seen.append(window.replies.get(timeout=30))
    # a list comes while the answer is written
    assert isinstance(window.do(records.ListDocuments)[0], records.DocumentList)
    begun = time.monotonic()
    window.send(records.Stop, target=asked)
    got = window.until_end(asked)
    assert time.monotonic() - begun < 2
    answered = got[-2]
    assert isinstance(answered, records.Answered)
    assert answered.answer.stopped


def test_a_killed_worker_comes_back_with_everything(
    start: Callable[..., Window], contract: Path
) -> None:
    window = start("slow")
    ingested = window.do(records.Ingest, paths=(str(contract),))
    assert any(
        isinstance(reply, records.Ingested) and reply.result.status == "ready" for reply in ingested
    ), ingested
    asked = window.send(records.Ask, conversation="c", question=QUESTION)
    window.until_written()
    assert window.client.pid is not None
    os.kill(window.client.pid, signal.SIGKILL)
    assert isinstance(window.until_end(asked)[-1], records.Failed)
    listed = window.do(records.ListDocuments)[0]
    assert isinstance(listed, records.DocumentList)
    assert [d.name for d in listed.documents] == [contract.name]
    assert records.Notice(0, RESTARTED) in window.news


def test_models_that_cannot_be_loaded_are_told_and_documents_still_work(
    start: Callable[..., Window], contract: Path
) -> None:
    window = start("none")
    got = window.do(records.Ingest, paths=(str(contract),))
    assert isinstance(got[-1], records.Finished)
    failed = window.do(records.Ask, conversation="", question=QUESTION)[-1]
    assert isinstance(failed, records.Failed)
    assert "out of memory" in failed.message
    told = [r.text for r in window.news if isinstance(r, records.Notice)]
    assert any("out of memory" in text for text in told)


def test_a_request_that_cannot_be_read_is_skipped(start: Callable[..., Window]) -> None:
    window = start()
    assert window.client._connection is not None
    window.client._connection.send_bytes(b"rubbish")
    assert isinstance(window.do(records.ListDocuments)[-1], records.Finished)


def test_a_worker_ends_when_the_window_is_killed(tmp_path: Path) -> None:
    # given a window process with a worker
    script = (
        "import sys, time, pathlib\n"
        "from tests.desktop_app.test_worker import Window\n"
        "if __name__ == '__main__':\n"
        "    window = Window(pathlib.Path(sys.argv[1]))\n"
        "    print(window.client.pid, flush=True)\n"
        "    time.sleep(60)\n"
    )
    (tmp_path / "window.py").write_text(script)
    root = str(Path(__file__).resolve().parents[2])
    with subprocess.Popen(
        [sys.executable, str(tmp_path / "window.py"), str(tmp_path / "library")],
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": root},
    ) as window:
        assert window.stdout is not None
        worker = psutil.Process(int(window.stdout.readline()))
        # when the window is killed, then the worker ends by itself
        window.kill()
    assert psutil.wait_procs([worker], timeout=20)[1] == []


@pytest.fixture
def composed(tmp_path: Path, contract: Path) -> Iterator[Composition]:
    composition = Composition(
        tmp_path / "here",
        Settings(),
        makers=fakes(),
    )
    composition._backend = "fake"
    library = composition.open_library()
    list(library.ingest([contract]))
    library.close()
    yield composition
    composition.close()


@pytest.fixture
def lookup(composed: Composition) -> Iterator[LookupJobs]:
    jobs = LookupJobs(composed, lambda work: work())
    yield jobs
    jobs.close()


def test_conversations_are_renamed_opened_and_deleted(
    composed: Composition, lookup: LookupJobs
) -> None:
    opened = next(lookup.handle(records.NewConversation(1, "a")))
    name = opened.conversation.id
    list(lookup.handle(records.OpenConversation(2, name)))
    renamed = next(lookup.handle(records.RenameConversation(3, name, "b")))
    assert [c.title for c in renamed.conversations] == ["b"]
    deleted = list(lookup.handle(records.DeleteConversation(4, name)))
    assert deleted == [records.ConversationList(4, ())]
    assert composed.engine.calls == [f"open {name}", f"delete {name}"]


def test_a_deletion_that_failed_is_done_at_the_next_start(
    composed: Composition, lookup: LookupJobs
) -> None:
    # given a conversation that is deleted while the engine can't
    name = next(lookup.handle(records.NewConversation(1, "a"))).conversation.id
    composed.engine.turns[name] = []
    left: list[Callable[[], object]] = []
    forgetful = LookupJobs(composed, left.append)
    assert list(forgetful.handle(records.DeleteConversation(2, name)))
    assert name in composed.engine.turns
    # when the program starts again
    deletions.finish(composed)
    deletions.finish(composed)
    # then its files go, once
    assert composed.engine.calls.count(f"delete {name}") == 1
    assert name not in composed.engine.turns
    forgetful.close()


def test_settings_are_saved_and_used(composed: Composition, lookup: LookupJobs) -> None:
    changed = next(lookup.handle(records.ChangeSettings(1, {"window": 1024, "theme": "dark"})))
    list(lookup.handle(records.ChangeSettings(2, {"theme": "light"})))
    assert changed.values["window"] == 1024
    saved, _ = settings.load(paths.settings_file())
    assert (saved.window, saved.theme) == (1024, "light")


def test_cache_figures(composed: Composition, lookup: LookupJobs) -> None:
    assert next(lookup.handle(records.GetCacheReport(1))).values == {"conversations": 0}
    with pytest.raises(Exception, match="doesn't know the request Stop"):
        list(lookup.handle(records.Stop(1, 2)))


def test_slow_lookups(composed: Composition, contract: Path, tmp_path: Path) -> None:
    slow = SlowLookupJobs(composed, {})
    models = next(slow.handle(records.ListModels(1))).models
    assert {"name", "path", "problem"} <= set(models[0])
    # a text file has no rectangles
    found = next(slow.handle(records.FindRectangles(2, contract.name, 1, "invoice")))
    assert found.rectangles == ()
    with pytest.raises(Exception, match="doesn't know"):
        list(slow.handle(records.Stop(1, 2)))


@pytest.mark.slow
def test_the_doctor_by_the_worker(composed: Composition) -> None:
    findings = next(SlowLookupJobs(composed, {}).handle(records.Doctor(3))).values
    assert "documents" in str(findings["sections"]["library"]).lower()


def test_rectangles_of_a_pdf(composed: Composition, samples: Path) -> None:
    pdf = samples / "supply-agreement.pdf"
    library = composed.open_library()
    list(library.ingest([pdf]))
    passage = library.search("payment of invoices", [pdf.name])[0].chunk
    library.close()
    slow = SlowLookupJobs(composed, {})
    quote = passage.text.strip().splitlines()[-1][:40]
    found = next(slow.handle(records.FindRectangles(1, pdf.name, passage.page, quote)))
    assert found.rectangles
    assert all(len(r) == 4 for r in found.rectangles)
