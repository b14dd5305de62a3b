from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop_app import logs


@pytest.fixture(autouse=True)
def _restore_logging() -> Iterator[None]:
    root = logging.getLogger()
    before, level, raising = list(root.handlers), root.level, logging.raiseExceptions
    yield
    for handler in [h for h in root.handlers if h not in before]:
        root.removeHandler(handler)
        handler.close()
    root.setLevel(level)
    logging.raiseExceptions = raising


def test_the_log_is_a_file_and_long_lines_are_cut(tmp_path: Path) -> None:
    path = logs.set_up(tmp_path / "logs", "cli")
    assert path == tmp_path / "logs" / "cli.log"
    logging.getLogger("x").info("short 行")
    logging.getLogger("x").info("y" * 10_000)
    text = path.read_text(encoding="utf8")
    assert "short 行" in text
    assert len(text) < 6000
    # a second set-up replaces the first: nothing is written twice
    logs.set_up(tmp_path / "logs", "cli")
    logging.getLogger("x").info("once")
    assert path.read_text(encoding="utf8").count("once") == 1


def test_without_a_writable_folder_the_program_runs(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert logs.set_up(tmp_path / "file", "cli") is None
    logging.getLogger("x").warning("to nowhere")


def test_debug_goes_to_stderr_as_well(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    logs.set_up(tmp_path, "cli", debug=True)
    logging.getLogger("x").debug("seen")
    assert "seen" in capsys.readouterr().err
