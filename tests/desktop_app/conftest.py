"""Each test of the application has a home folder of its own, and sees no models but its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from tests.desktop_app.cli_runner import Cli
from tests.desktop_app.fakes import CONTRACT
from tests.desktop_app.window_harness import Harness, document


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The application's folder in this test; its name has a space and Chinese characters."""
    folder = tmp_path / "张 三"
    folder.mkdir()
    monkeypatch.setenv("CLAUSEBOOK_HOME", str(folder))
    return folder


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Cli:
    """The command line on a library of the test's own."""
    return Cli(tmp_path, capsys)


@pytest.fixture
def contract(tmp_path: Path) -> Path:
    """A small contract as a text file."""
    path = tmp_path / "合同 contract.txt"
    path.write_text(CONTRACT, encoding="utf8")
    return path


@pytest.fixture
def harness(qtbot: QtBot, tmp_path: Path) -> Harness:
    """A window in which a document is shown."""
    result = Harness(qtbot, tmp_path)
    result.show(document())
    return result
