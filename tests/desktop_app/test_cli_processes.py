"""The program as its user starts it: processes of its own, with a backend that needs no model."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

ROOT = Path(__file__).resolve().parents[2]
QUESTION = "When shall the Buyer pay each invoice?"
Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(home: Path) -> Iterator[Start]:
    """Starts `clausebook` with fakes, in a process group of its own, as a terminal does."""
    (home / "settings.json").write_text('{"embedder": "fake", "backend": "fake"}')
    running: list[subprocess.Popen[str]] = []

    def make(*argv: str | Path) -> subprocess.Popen[str]:
        running.append(
            subprocess.Popen(
                [sys.executable, "-m", "desktop_app", *map(str, argv)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                encoding="utf8",
                env=os.environ | {"PYTHONPATH": str(ROOT)},
                start_new_session=True,
            )
        )
        return running[-1]

    yield make
    for process in running:
        process.kill()
        process.communicate()


def run(start: Start, *argv: str | Path, given: str = "") -> tuple[int, str, str]:
    process = start(*argv)
    out, err = process.communicate(given, timeout=60)
    return process.returncode, out, err


def ask_first(process: subprocess.Popen[str]) -> None:
    """Asks a question and waits for the citation that ends its answer."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{QUESTION}\n")
    process.stdin.flush()
    line = " "
    while not line.startswith("[1] "):
        line = process.stdout.readline()
        assert line, "the program ended"


def test_a_conversation_goes_on_in_another_process(start: Start, contract: Path) -> None:
    assert run(start, "ingest", contract)[0] == 0
    stats = []
    for question in (QUESTION, "And how is liability limited?"):
        code, out, err = run(start, "ask", question, "--conversation", "合同", "--json")
        assert (code, err) == (0, "")
        stats.append(json.loads(out)["stats"])
    assert stats[0]["backend"] == "fake"
    assert stats[1]["prompt_tokens"] > stats[0]["prompt_tokens"]


def test_chat_through_a_pipe_and_no_process_stays(start: Start, contract: Path) -> None:
    process = start("chat", contract)
    ask_first(process)
    children = psutil.Process(process.pid).children(recursive=True)
    assert children
    _, err = process.communicate("And how is liability limited?\n", timeout=60)
    assert process.returncode == 0
    assert "tokens reused" in err
    assert psutil.wait_procs(children, timeout=10)[1] == []


def test_ctrl_c_at_a_batch_ends_all_of_it_quietly(start: Start, contract: Path) -> None:
    process = start("search", "--batch", "-")
    time.sleep(1.0)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in err


def test_a_killed_engine_costs_one_line(start: Start, contract: Path) -> None:
    # given a conversation with one answer
    process = start("chat", contract)
    ask_first(process)
    # when the engine's process is killed
    engines = [
        child
        for child in psutil.Process(process.pid).children()
        if "resource_tracker" not in " ".join(child.cmdline())
    ]
    assert engines
    for engine in engines:
        engine.kill()
    # then the next question is answered
    out, err = process.communicate("And how is liability limited?\n", timeout=60)
    assert process.returncode == 0
    assert "[1] " in out
    assert "started again" in err
    assert "Traceback" not in err
