"""ask and chat with the real library, and an engine in memory."""

from __future__ import annotations

import io
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from desktop_app.cli import output
from desktop_app.cli.interrupt import stop_on_interrupt
from engine.errors import ContextTooLong
from engine.types import Event
from tests.desktop_app.cli_runner import Cli, batch

QUESTION = "When shall the Buyer pay each invoice?"


@pytest.fixture(autouse=True)
def _with_a_document(cli: Cli, contract: Path) -> None:
    cli("ingest", contract)


def test_ask_prints_one_json_value_with_every_field(cli: Cli, contract: Path) -> None:
    assert cli("ask", QUESTION, "--json") == 0
    answer = cli.json
    assert list(answer) == ["answer", "found", "citations", "stats"]
    assert answer["found"] is True
    assert list(answer["citations"][0]) == ["document", "page", "quote"]
    assert answer["citations"][0]["document"] == contract.name
    assert list(answer["stats"]) == [
        "backend",
        "model",
        "prompt_tokens",
        "reused_tokens",
        "prefilled_tokens",
        "generated_tokens",
        "ttft_ms",
        "tokens_per_second",
        "trimmed_tokens",
        "restored_from",
    ]
    engine = cli.engines[0]
    assert engine.asked[-1][0] == ""
    assert engine.calls[-1] == "close"


def test_ask_streams_and_lists_citations(cli: Cli, contract: Path) -> None:
    assert cli("ask", QUESTION, "--document", contract.name, "--no-cache") == 0
    first, *_, last = cli.out.strip().splitlines()
    assert first.startswith("Within thirty days after receipt.")
    assert last.startswith(f"[1] {contract.name}, p. 1: “")
    assert "tokens reused" in cli.err
    assert not any(used for _, _, used in cli.engines[0].asked)


def test_a_conversation_goes_on_in_the_next_command(cli: Cli) -> None:
    for turn in (1, 2):
        assert cli("ask", QUESTION, "--conversation", "合同-1", "--json") == 0
        assert cli.engines[-1].asked[-1][0] == "合同-1"
        assert cli.engines[-1].options.cache_dir == cli.library / "conversations"
        assert turn == len(cli.engines)


def test_a_batch_loads_the_engine_once_and_goes_on_after_a_bad_row(
    cli: Cli, contract: Path, tmp_path: Path
) -> None:
    path = batch(
        tmp_path,
        {"id": "a", "question": QUESTION, "document": contract.name, "conversation": "c"},
        {"id": "b", "question": " "},
        {"id": "c", "question": QUESTION, "document": "unknown.pdf"},
        {"id": "d", "question": "And the liability?", "conversation": "c"},
    )
    assert cli("ask", "--batch", path, "--json") == 1
    rows = cli.lines
    assert [r["id"] for r in rows] == ["a", "b", "c", "d"]
    for row in rows[1:3]:
        assert row["error"]
        assert (row["answer"], row["found"], row["citations"], row["stats"]) == ("", False, [], {})
    assert rows[0]["answer"]
    assert rows[3]["stats"]["reused_tokens"] > 0
    assert len(cli.engines) == 1


def talk(cli: Cli, monkeypatch: pytest.MonkeyPatch, text: str, *argv: str | Path) -> int:
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    return cli("chat", *argv)


def test_chat_reads_questions_from_a_pipe(
    cli: Cli, contract: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    questions = f"{QUESTION}\n\nAnd how is liability limited?\n/quit\nnever asked\n"
    assert talk(cli, monkeypatch, questions, contract) == 0
    assert f"unchanged: {contract.name}" in cli.out
    assert f"you> {QUESTION}" in cli.out
    assert f"  · {contract.name}, p. 1" in cli.out
    assert cli.out.count("Within thirty days after receipt.") == 2
    assert f"[1] {contract.name}, p. 1" in cli.out
    assert cli.err.count("tokens reused") == 2
    assert "never asked" not in cli.out
    conversations = {name for name, _, _ in cli.engines[0].asked if name}
    assert len(conversations) == 1
    assert "start" in cli.engines[0].calls  # loaded while the file was read


def test_chats_commands(
    cli: Cli, contract: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    other = tmp_path / "other.txt"
    other.write_text("The licence fee is due in March.", encoding="utf8")
    lines = [
        "/documents",
        QUESTION,
        "/new",
        f"/add {other}",
        "/add nothing.pdf",
        "/add",
        "When is the licence fee due?",
        "/documents",
        "/help",
    ]
    assert talk(cli, monkeypatch, "\n".join(lines), "--conversation", "mine") == 0
    assert "* 合同 contract.txt (1 pages)" in cli.out
    assert f"ready: {other.name}" in cli.out
    assert "nothing.pdf" in cli.err
    assert "Ctrl-C stops an answer" in cli.out
    names = [name for name, _, _ in cli.engines[0].asked if name]
    assert names[0] == "mine"
    assert names[-1] != "mine"


def test_chat_goes_on_after_a_failed_question(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.desktop_app import fakes

    real = fakes.FakeEngine.ask

    def ask(self: Any, conversation: str, turn: Any, *args: Any, **options: Any) -> Iterator[Event]:
        if "long" in turn.user:
            raise ContextTooLong(9000, 4096)
        return real(self, conversation, turn, *args, **options)

    monkeypatch.setattr(fakes.FakeEngine, "ask", ask)
    assert talk(cli, monkeypatch, f"A long question about an invoice?\n{QUESTION}\n") == 0
    assert "need 9000 tokens" in cli.err
    assert "Within thirty days" in cli.out


def test_chat_in_a_terminal_prompts_and_leaves_at_the_end(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    answers: list[Any] = [KeyboardInterrupt, QUESTION, EOFError]

    def typed(prompt: str) -> str:
        value = answers.pop(0)
        if not isinstance(value, str):
            raise value
        return value

    monkeypatch.setattr("sys.stdin", Terminal())
    monkeypatch.setattr("builtins.input", typed)
    assert cli("chat") == 0
    assert "Ask a question" in cli.out
    assert "/quit or Ctrl-D leaves" in cli.out
    assert "Within thirty days" in cli.out


def test_chat_with_only_bad_files_ends(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "bad.pdf").write_bytes(b"no")
    assert talk(cli, monkeypatch, QUESTION, tmp_path / "bad.pdf") == 1
    assert cli.err.count("\n") == 1
    assert "bad.pdf" in cli.err


def test_ctrl_c_stops_the_answer_and_not_the_program(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.reply = "word " * 2000
    cli.pace = 0.005
    timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    begun = time.monotonic()
    assert talk(cli, monkeypatch, f"{QUESTION}\n/documents\n") == 0
    timer.cancel()
    assert time.monotonic() - begun < 8
    assert "[stopped]" in cli.out
    assert "合同 contract.txt (1 pages)" in cli.out


def wait_for(what: Callable[[], bool]) -> None:
    for _ in range(200):
        if what():
            return
        time.sleep(0.01)
    raise AssertionError("it did not happen")


def test_a_second_ctrl_c_interrupts() -> None:
    calls: list[int] = []

    def press_twice() -> None:
        with stop_on_interrupt(lambda: calls.append(1)) as pressed:
            signal.raise_signal(signal.SIGINT)
            wait_for(lambda: calls == [1])
            assert pressed.is_set()
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        press_twice()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_outside_the_main_thread_signals_are_left_alone() -> None:
    seen: list[Any] = []

    def elsewhere() -> None:
        with stop_on_interrupt(lambda: None):
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]


def test_figures_and_status(monkeypatch: pytest.MonkeyPatch) -> None:
    line = output.figures(
        {
            "reused_tokens": 1420,
            "prefilled_tokens": 52,
            "ttft_ms": 212.0,
            "tokens_per_second": 61.4,
            "trimmed_tokens": 7,
            "restored_from": "disk",
        }
    )
    assert line == (
        "1420 tokens reused · 52 read · first word after 0.21 s · 61 tokens/s · 7 trimmed"
        " · restored from disk"
    )

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    output.Status.show("x" * 500)
    output.tell("a line")
    assert terminal.getvalue() == f"\r\x1b[K{'x' * 79}\r\x1b[Ka line\n"
    assert output.bar(1, 2) == "[############            ]"
    assert output.bar(0, 0).count(" ") == 24
