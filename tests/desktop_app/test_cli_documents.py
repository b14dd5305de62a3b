"""ingest, search, models and the command line as such; a fake embedder, no model."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from desktop_app import __main__ as entry
from desktop_app import __version__
from desktop_app.cli.main import main
from tests.desktop_app.cli_runner import Cli, batch
from tests.desktop_app.fakes import fakes

FAKES = fakes()


def test_ingest_prints_one_json_value_with_every_field(cli: Cli, contract: Path) -> None:
    assert cli("ingest", contract, "--json") == 0
    (result,) = cli.json
    assert list(result) == [
        "path",
        "document",
        "status",
        "pages",
        "pages_ocr",
        "pages_empty",
        "chunks",
        "error",
        "seconds",
    ]
    assert (result["path"], result["document"], result["status"]) == (
        str(contract),
        contract.name,
        "ready",
    )
    assert contract.name in cli.out  # not escaped
    assert cli("ingest", contract, "--json") == 0
    assert cli.json[0]["status"] == "unchanged"


def test_ingest_for_people(cli: Cli, contract: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.pdf").write_bytes(b"this is no pdf")
    assert cli("ingest", contract, tmp_path / "bad.pdf") == 1
    assert cli.out.startswith(f"ready: {contract.name} (1 pages, ")
    assert cli.err.count("\n") == 1
    assert "bad.pdf" in cli.err
    (tmp_path / "empty").mkdir()
    assert cli("ingest", tmp_path / "empty") == 1
    assert "nothing to add" in cli.err


def test_search_prints_hits(cli: Cli, contract: Path) -> None:
    cli("ingest", contract)
    assert cli("search", "invoice payment", "-k", "2", "--json") == 0
    hit = cli.json["hits"][0]
    assert list(hit) == ["document", "page", "pages", "text", "score"]
    assert (hit["document"], hit["page"], hit["pages"]) == (contract.name, 1, [1])
    assert cli("search", "invoice payment", "--document", contract.name) == 0
    assert cli.out.startswith(f"1. {contract.name}, p. 1")


def test_a_batch_answers_every_row_in_order(cli: Cli, contract: Path, tmp_path: Path) -> None:
    cli("ingest", contract)
    path = batch(
        tmp_path,
        {"id": "a", "question": "invoice", "document": contract.name},
        "",
        {"id": "b", "question": "invoice", "document": "unknown"},
        "no json",
        {"id": "c", "question": ""},
        [1],
        {"id": 7, "question": 3},
        {"id": 8, "question": "q", "document": [1]},
        {"id": 9, "question": "q", "conversation": 1},
        {"id": "d", "question": "term", "document": [contract.name]},
    )
    assert cli("search", "--batch", path, "--json", "-k", "3") == 1
    rows = cli.lines
    assert [r["id"] for r in rows] == ["a", "b", None, "c", None, 7, 8, 9, "d"]
    assert all(r["hits"] == [] and r["error"] for r in rows[1:-1])
    assert rows[0]["hits"]
    assert rows[-1]["hits"]
    assert "unknown" in rows[1]["error"]
    assert cli.err == "clausebook: 7 of the batch's rows failed; each says why in its line.\n"


def test_a_batch_from_stdin(cli: Cli, contract: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cli("ingest", contract)
    monkeypatch.setattr("sys.stdin", io.StringIO('{"id": 1, "question": "invoice"}\n'))
    assert cli("search", "--batch", "-") == 0
    assert cli.lines[0]["id"] == 1


def test_wrong_usage_is_one_line_and_exit_2(
    cli: Cli, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli("search") == 2
    assert "--batch FILE" in cli.err
    assert cli("search", "q", "--batch", "x") == 2
    assert cli("search", "--batch", tmp_path / "none") == 2
    assert "can't be read" in cli.err
    for argv in (["search", "q", "-k", "0"], ["nothing"], ["ask", "q", "--backend", "x"], []):
        with pytest.raises(SystemExit) as caught:
            main(argv)
        assert caught.value.code == 2
        assert capsys.readouterr().err.count("\n") == 1


def test_options_may_stand_before_the_command(
    tmp_path: Path, contract: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    library = str(tmp_path / "库")
    argv = ["--library", library, "ingest", str(contract), "--json"]
    assert main(argv, FAKES) == 0
    capsys.readouterr()
    assert main(["search", "invoice", "--library", library], FAKES) == 0
    assert contract.name in capsys.readouterr().out


def test_the_default_library_is_in_the_users_folder(
    home: Path, contract: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ingest", str(contract)], FAKES) == 0
    assert (home / "library" / "library.sqlite3").exists()
    (home / "settings.json").write_text('{"library": "%s", "window": 1}' % (home / "other"))
    assert main(["search", "q"], FAKES) == 1
    err = capsys.readouterr().err
    assert "window can't be 1" in err
    assert "no document yet" in err


def test_an_unforeseen_failure_is_a_line_and_with_debug_a_traceback(
    cli: Cli, contract: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(name: str) -> Any:
        raise ZeroDivisionError("a bug")

    argv = ["search", "q", "--library", str(cli.library)]
    assert main(argv, replace(FAKES, embedder=broken)) == 1
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "ZeroDivisionError: a bug" in err
    assert "Traceback" in (home / "logs" / "cli.log").read_text(encoding="utf8")
    assert main([*argv, "--debug"], replace(FAKES, embedder=broken)) == 1
    assert "Traceback" in capsys.readouterr().err


def test_an_interrupt_ends_quietly(cli: Cli, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(name: str) -> Any:
        raise KeyboardInterrupt

    assert (
        main(["search", "q", "--library", str(cli.library)], replace(FAKES, embedder=interrupted))
        == 130
    )
    assert "Traceback" not in capsys.readouterr().err


def test_models_are_listed_added_and_removed(cli: Cli, tmp_path: Path) -> None:
    source = tmp_path / "tiny.gguf"
    source.write_bytes(b"GGUF\x03\x00\x00\x00" + bytes(4096))
    assert cli("models", "add", source) == 0
    assert "--model tiny" in cli.out
    assert cli("models", "list", "--json") == 0
    assert "tiny" in [m["name"] for m in cli.json]
    assert cli("models") == 0
    assert "tiny" in cli.out
    assert cli("models", "remove", "tiny") == 0
    assert cli("models", "remove", "tiny") == 1
    assert "no model 'tiny'" in cli.err
    assert cli("models", "download", "nothing") == 1
    assert "OWNER/REPO/FILE.gguf" in cli.err


def test_without_a_command_the_window_opens(
    monkeypatch: pytest.MonkeyPatch, contract: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from desktop_app import worker_client
    from desktop_app.window import app

    opened: list[Any] = []
    launched: list[Any] = []

    class Client:
        def __init__(self, options: worker_client.WorkerOptions) -> None:
            self.options = options

        def launch(self) -> None:
            launched.append(self)

    monkeypatch.setattr(worker_client, "WorkerClient", Client)
    monkeypatch.setattr(app, "open_window", lambda *a: opened.append(a) or (lambda: 7))
    assert entry.run([]) == 7
    assert entry.run([str(contract), "--library", "/l", "--backend", "torch"]) == 7
    assert [client for client, _ in opened] == launched
    assert [files for _, files in opened] == [[], [contract]]
    assert (launched[1].options.library, launched[1].options.backend) == ("/l", "torch")
    with pytest.raises(SystemExit):
        entry.run(["no-such-file.pdf"])
    assert "no command and no file" in capsys.readouterr().err
    for name in ("QT_QPA_PLATFORM", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    assert entry.run([]) == 1
    assert "clausebook chat" in capsys.readouterr().err
    monkeypatch.setattr(sys, "platform", "darwin")
    assert entry.has_display()


def test_a_command_goes_to_the_command_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["clausebook", "--version"])
    with pytest.raises(SystemExit) as caught:
        entry.main()
    assert caught.value.code == 0
    assert __version__ in capsys.readouterr().out


def test_help_imports_nothing_heavy() -> None:
    script = (
        "import sys\n"
        "from desktop_app.__main__ import run\n"
        "try: run(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'torch', 'faiss', 'llama_cpp', 'onnxruntime', 'PySide6'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd="."
    )
    assert done.stdout.splitlines()[-1] == "[]"
    assert "ingest" in done.stdout


def test_output_is_utf8_in_any_locale_and_a_closed_pipe_is_no_error(
    tmp_path: Path, contract: Path, home: Path
) -> None:
    (home / "settings.json").write_text('{"embedder": "fake"}')
    clausebook = [sys.executable, "-m", "desktop_app"]
    done = subprocess.run(
        [*clausebook, "ingest", str(contract), "--json"],
        capture_output=True,
        check=True,
        env={"CLAUSEBOOK_HOME": str(home), "LC_ALL": "C", "PYTHONPATH": "."},
    )
    assert contract.name in json.loads(done.stdout.decode("utf8"))[0]["document"]
    with subprocess.Popen(
        [*clausebook, "search", "invoice", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""
    assert process.returncode == 1
