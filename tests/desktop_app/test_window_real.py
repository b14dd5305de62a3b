"""The window with the real worker, engine and models: ask, stop, crash, restart."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from desktop_app.settings import Settings
from desktop_app.window.app import build_window
from desktop_app.window.controller import Controller
from desktop_app.window.window_state import WindowState
from desktop_app.worker_client import RESTARTED, WorkerClient, WorkerOptions
from rag.types import Answer

pytestmark = [pytest.mark.model, pytest.mark.slow, pytest.mark.timeout(600)]

Open = Callable[[], Controller]


@pytest.fixture
def open_window(qtbot: QtBot, tmp_path: Path, home: Path) -> Iterator[Open]:
    opened: list[Controller] = []

    def make() -> Controller:
        controller = build_window(
            QApplication.instance(),  # type: ignore[arg-type]
            WorkerClient(WorkerOptions()),
            Settings(theme="light"),
            WindowState(tmp_path / "window.ini"),
        )
        qtbot.addWidget(controller.window)
        controller.window.show()
        controller.start()
        opened.append(controller)
        return controller

    yield make
    for controller in opened:
        controller.window.close()


def wait(done: Callable[[], bool], seconds: float = 240.0) -> None:
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end, "it took too long"
        QTest.qWait(20)


def ask(controller: Controller, question: str) -> Answer:
    """Asks and waits for the whole answer."""
    controller.ask(question)
    wait(lambda: controller.session.run is None)
    answer = controller.window.chat.turns[-1].answer.answer
    assert answer is not None, controller.window.chat.banners.texts()
    return answer


def add(controller: Controller, path: Path) -> None:
    controller.documents.add([str(path)])
    wait(lambda: path.name in controller.model.document_names())


def test_a_conversation_goes_on_after_a_stop_a_crash_and_a_restart(
    open_window: Open, samples: Path
) -> None:
    # given the sample contract
    controller = open_window()
    window = controller.window
    add(controller, samples / "supply-agreement.pdf")

    # when a question is asked, its answer is cited and the passage is highlighted
    first = ask(controller, "How is payment made?")
    assert first.citations
    wait(lambda: bool(window.pdf.pages.view.marks))
    assert window.pdf.pages.view.page == first.citations[0].page - 1

    # when the next answer is stopped while it is read, it ends soon and the next turn is right
    controller.ask("How is liability for breach determined?")
    wait(lambda: bool(controller.session.run and controller.session.run.hits))
    controller.session.stop()
    began = time.monotonic()
    wait(lambda: controller.session.run is None)
    assert time.monotonic() - began < 15

    # when the worker is killed in the middle of an answer, one line says so
    controller.ask("How is liability for breach determined?")
    wait(lambda: bool(controller.session.run and controller.session.run.hits))
    pid = controller.jobs.client.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    wait(lambda: controller.session.run is None)
    wait(lambda: RESTARTED in window.chat.banners.texts())
    assert controller.jobs.client.pid != pid

    # then the same question is answered by the fresh one
    window.chat.turns[-1].answer.again_requested.emit()
    wait(lambda: controller.session.run is None)
    again = window.chat.turns[-1].answer.answer
    assert again is not None
    assert again.citations

    # and after a restart of the program the conversation is there, and its cache is used
    conversation = controller.session.current
    assert conversation is not None
    children = psutil.Process().children(recursive=True)
    workers = [process for process in children if "spawn_main" in " ".join(process.cmdline())]
    assert len(workers) >= 2  # the worker and the engine
    window.close()
    _, alive = psutil.wait_procs(workers, 10)
    assert alive == []
    controller = open_window()
    wait(lambda: controller.session.current is not None)
    assert controller.session.current.id == conversation.id  # type: ignore[union-attr]
    wait(lambda: controller.model.loaded)
    later = ask(controller, "Who pays the costs?")
    assert int(str(later.stats["reused_tokens"])) > 100


def test_a_file_that_is_no_document_says_so_in_its_row(open_window: Open, tmp_path: Path) -> None:
    controller = open_window()
    path = tmp_path / "not really.pdf"
    path.write_bytes(b"MZ\x00\x00 this is no PDF")

    controller.documents.add([str(path)])
    wait(lambda: any(row.status == "failed" for row in controller.model.rows()))

    assert len(controller.model.rows()[0].detail) > 10
    assert controller.model.document_names() == []
