"""Building, showing, and what the window's process may import."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtWidgets import QAbstractButton, QLineEdit, QPlainTextEdit
from pytestqt.qtbot import QtBot

from desktop_app import records
from desktop_app.window.resources import resource, samples
from tests.desktop_app.window_harness import Harness, document, entry
from tests.desktop_app.window_probe import probe


def test_a_fresh_process_shows_the_window_soon_and_imports_nothing_heavy(tmp_path: Path) -> None:
    shown = probe(tmp_path, QT_QPA_PLATFORM="offscreen")

    assert shown.heavy == ()
    assert shown.processor < 1.5  # wall time is a benchmark's: bench_window


_RUN = """
import sys
from PySide6.QtCore import QTimer
from desktop_app.fake_worker_client import FakeWorkerClient
from desktop_app.window.app import open_window
client = FakeWorkerClient()
QTimer.singleShot(0, lambda: print("shown", flush=True))
code = open_window(client)()
print("closed" if client.closed else "left open")
sys.exit(code)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_closes_the_window_and_the_worker(
    tmp_path: Path, home: Path, number: signal.Signals
) -> None:
    environment = os.environ | {"QT_QPA_PLATFORM": "offscreen"}
    with subprocess.Popen(
        [sys.executable, "-c", _RUN], stdout=subprocess.PIPE, env=environment, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "shown\n"
        process.send_signal(number)
        assert process.communicate(timeout=20)[0] == "closed\n"
    assert process.returncode == 0


def test_building_asks_nothing_of_the_worker(qtbot: QtBot, tmp_path: Path) -> None:
    harness = Harness(qtbot, tmp_path)

    assert not harness.worker.started
    assert harness.worker.sent == []
    assert not harness.window.isVisible()


def test_starting_asks_for_the_lists_and_shows_them(qtbot: QtBot, tmp_path: Path) -> None:
    harness = Harness(qtbot, tmp_path)

    harness.show(document(), conversations=(entry(title="Rent"),))

    assert harness.worker.started
    assert [row.name for row in harness.model.rows()] == ["supply-agreement.pdf"]
    assert harness.window.conversations.list.item(0).text() == "Rent"


def test_files_given_at_the_start_are_added(qtbot: QtBot, tmp_path: Path) -> None:
    harness = Harness(qtbot, tmp_path)
    harness.window.show()

    harness.controller.start([tmp_path / "合同 1.pdf"])

    assert harness.worker.last(records.Ingest).paths == (str(tmp_path / "合同 1.pdf"),)


def test_the_window_is_remembered(qtbot: QtBot, tmp_path: Path) -> None:
    first = Harness(qtbot, tmp_path)
    first.show(document())
    first.open()
    first.controller.passages.show_document("supply-agreement.pdf", page=4)
    first.settle(0.4)
    first.window.resize(780, 600)
    first.window.toggle_side()
    first.window.close()

    second = Harness(qtbot, tmp_path)
    second.show(document())

    assert first.worker.closed
    assert (second.window.width(), second.window.height()) == (780, 600)
    assert second.window.side.isHidden()
    second.settle(0.4)
    assert second.window.pdf.pages.view.page == 3
    assert second.worker.last(records.OpenConversation).conversation == "c1"


def test_a_remembered_conversation_that_is_gone_is_not_a_fault(
    qtbot: QtBot, tmp_path: Path
) -> None:
    harness = Harness(qtbot, tmp_path)
    harness.state.set_text("conversation", "gone")
    harness.worker.answer_with(
        records.OpenConversation, lambda r: [records.Failed(r.job, "It isn't there.")]
    )

    harness.show(document())

    assert harness.chat.banners.texts() == []


def test_every_control_has_a_name_for_screen_readers(qtbot: QtBot, tmp_path: Path) -> None:
    harness = Harness(qtbot, tmp_path)
    harness.show(document())

    controls = [
        widget
        for kind in (QAbstractButton, QLineEdit, QPlainTextEdit)
        for widget in harness.window.findChildren(kind)
        if not widget.objectName().startswith("qt_")
    ]
    nameless = [w for w in controls if not (w.accessibleName() or getattr(w, "text", str)())]

    assert len(controls) > 15
    assert nameless == []


def test_a_missing_resource_says_what_to_do() -> None:
    with pytest.raises(FileNotFoundError, match="install Clausebook again"):
        resource("no-such-thing")


def test_the_sample_to_begin_with_comes_first() -> None:
    assert samples()[0].name == "supply-agreement.pdf"
    assert len(samples()) >= 3
