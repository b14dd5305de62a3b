"""Bad input and bad weather: one clear line, exit 1, and nothing is lost."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from desktop_app import catalogue, paths
from desktop_app.cli.main import main
from engine.errors import ContextTooLong
from tests.desktop_app.cli_runner import Cli, batch
from tests.desktop_app.fakes import FakeEngine, fakes

FAKES = fakes()
ROOT = Path(__file__).resolve().parents[2]
QUESTION = "When shall the Buyer pay each invoice?"


def one_line(text: str) -> str:
    assert text.startswith("clausebook: ")
    assert text.count("\n") == 1
    assert "Traceback" not in text
    return text


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("letter.pdf", b"Dear Sir, this is a letter.", "not a PDF"),
        ("empty.pdf", b"", "empty"),
        ("cut.pdf", b"%PDF-1.7\n1 0 obj\n<< /Type /Catalog", "cut.pdf"),
        ("picture.png", b"\x89PNG\r\n\x1a\n" + bytes(100), "picture.png"),
    ],
)
def test_a_file_that_cannot_be_read(
    cli: Cli, contract: Path, tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    cli("ingest", contract)
    (tmp_path / name).write_bytes(content)
    assert cli("ingest", tmp_path / name) == 1
    assert message in one_line(cli.err)
    assert cli("ingest", tmp_path / name, "--json") == 1
    (result,) = cli.json
    assert (result["status"], result["chunks"]) == ("failed", 0)
    assert result["error"]
    # what was there is still found
    assert cli("search", QUESTION, "--json") == 0
    assert cli.json["hits"]


def test_a_locked_pdf_asks_for_its_password(cli: Cli, tmp_path: Path) -> None:
    from pypdf import PdfReader, PdfWriter

    writer = PdfWriter(clone_from=PdfReader(ROOT / "assets/samples/purchase-contract-zh.pdf"))
    writer.encrypt("geheim", algorithm="AES-256")
    writer.write(tmp_path / "locked.pdf")
    for password in ([], ["--password", "wrong"]):
        assert cli("ingest", tmp_path / "locked.pdf", *password) == 1
        assert "password" in one_line(cli.err)
    assert cli("ingest", tmp_path / "locked.pdf", "--json") == 1
    assert cli.json[0]["status"] == "needs_password"
    assert cli("ingest", tmp_path / "locked.pdf", "--password", "geheim", "--json") == 0
    assert cli.json[0]["status"] == "ready"


def test_a_file_that_is_not_there_and_a_name_that_is_no_utf8(cli: Cli, tmp_path: Path) -> None:
    assert cli("ingest", tmp_path / "none.pdf") == 1
    assert "does not exist" in one_line(cli.err)
    path = os.fsencode(tmp_path) + b"/\xff.txt"
    try:
        Path(os.fsdecode(path)).write_text("text")
    except OSError:
        pytest.skip("the file system allows no such names")
    assert cli("ingest", os.fsdecode(path)) == 1
    assert "not valid UTF-8" in one_line(cli.err)
    assert cli("ingest", os.fsdecode(path), "--json") == 1
    assert cli.json[0]["status"] == "failed"


def test_questions_that_cannot_be_answered(cli: Cli, contract: Path) -> None:
    for command in ("search", "ask"):
        assert cli(command, QUESTION) == 1
        assert "no document yet" in one_line(cli.err)
    cli("ingest", contract)
    for command in ("search", "ask"):
        assert cli(command, "  ") == 1
        assert "empty" in one_line(cli.err)
        assert cli(command, QUESTION, "--document", "other.pdf") == 1
        assert "'other.pdf'" in one_line(cli.err)


def test_a_question_longer_than_the_context(
    cli: Cli, contract: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_long(*args: object, **options: object) -> None:
        raise ContextTooLong(9000, 4096)

    monkeypatch.setattr(FakeEngine, "ask", too_long)
    cli("ingest", contract)
    assert cli("ask", "word " * 9000) == 1
    assert "need 9000 tokens" in one_line(cli.err)


@pytest.fixture
def no_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without any model but those in the folder returned."""
    folder = tmp_path / "models"
    folder.mkdir()
    monkeypatch.setenv("CLAUSEBOOK_MODELS", str(folder))
    monkeypatch.setattr(paths, "checkout", lambda: None)
    return folder


def test_a_missing_model_and_one_cut_short(
    cli: Cli, contract: Path, no_models: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cli("ingest", contract)
    argv = ["ask", QUESTION, "--library", str(cli.library), "--backend", "llama.cpp"]

    def ask(*more: str) -> str:
        assert main([*argv, *more], FAKES) == 1
        return one_line(capsys.readouterr().err)

    assert "SmolLM2-135M-Instruct is missing" in ask()
    assert "no model 'other'" in ask("--model", "other")
    (no_models / catalogue.DEFAULT_LANGUAGE.path).write_bytes(b"GGUF" + bytes(5000))
    assert "cut short" in ask()
    (no_models / "half.gguf").write_bytes(b"GG")
    assert "cut short" in ask("--model", "half")
    # an embedding model that is missing stops `search` the same way
    assert main(["search", QUESTION, "--library", str(cli.library)]) == 1
    assert "all-MiniLM-L6-v2 is missing" in one_line(capsys.readouterr().err)
    # and in a batch nothing is printed, since no row can be asked
    path = batch(cli.library, {"id": 1, "question": QUESTION})
    assert main([*argv[:1], "--batch", str(path), *argv[2:]], FAKES) == 1
    captured = capsys.readouterr()
    assert captured.out == ""


Confined = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def confined(tmp_path: Path, home: Path) -> Confined:
    """Runs the program in a mount namespace of its own, after a shell command with mounts."""
    if shutil.which("unshare") is None:
        pytest.skip("needs unshare")
    probe = ["unshare", "--user", "--map-root-user", "--mount"]
    works = subprocess.run(
        [*probe, "mount", "-t", "tmpfs", "none", str(tmp_path)], capture_output=True, check=False
    )
    if works.returncode:
        pytest.skip("this machine allows no mounts in a user namespace")
    (home / "settings.json").write_text('{"embedder": "fake", "backend": "fake"}')

    def run(mounts: str, *argv: str | Path) -> subprocess.CompletedProcess[str]:
        command = f'{mounts} && exec {sys.executable} -m desktop_app "$@"'
        return subprocess.run(
            [*probe, "sh", "-c", command, "sh", *map(str, argv)],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
        )

    return run


@pytest.mark.slow
def test_a_full_disk(confined: Confined, contract: Path, tmp_path: Path) -> None:
    # given a library on a disk of 512 KB, nearly full, with one document in it
    disk = tmp_path / "disk"
    disk.mkdir()
    big = tmp_path / "big.txt"
    big.write_text("\n\n".join(f"Clause {n}. The Supplier shall do it." for n in range(6_000)))
    python = f"{sys.executable} -m desktop_app"
    mounts = (
        f"mount -t tmpfs -o size=1m none '{disk}'"
        f" && {python} ingest '{contract}' --library '{disk}' --json >/dev/null"
    )
    # when a document is added that doesn't fit
    done = confined(mounts, "ingest", big, "--library", disk)
    # then that is said
    assert done.returncode == 1
    assert "disk" in one_line(done.stderr)
    assert "full" in done.stderr
    # and the other one is still found
    filled = f"{mounts}; {python} ingest '{big}' --library '{disk}' >/dev/null 2>&1; true"
    done = confined(filled, "search", QUESTION, "--library", disk, "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["hits"][0]["document"] == contract.name


def test_a_read_only_library(confined: Confined, contract: Path, tmp_path: Path, cli: Cli) -> None:
    cli("ingest", contract)
    (tmp_path / "a.txt").write_text("The licence fee is due in March.")
    library = cli.library
    mounts = f"mount --bind '{library}' '{library}' && mount -o remount,ro,bind '{library}'"
    done = confined(mounts, "ingest", tmp_path / "a.txt", "--library", library)
    assert done.returncode == 1
    assert "can't be" in one_line(done.stderr)
    assert str(library) in done.stderr
    # nothing was lost
    assert cli("search", QUESTION, "--json") == 0
    assert cli.json["hits"][0]["document"] == contract.name


def test_a_read_only_home(confined: Confined, contract: Path, tmp_path: Path, home: Path) -> None:
    # given a home that can't be written to, and a library elsewhere
    mounts = f"mount --bind '{home}' '{home}' && mount -o remount,ro,bind '{home}'"
    library = tmp_path / "elsewhere"
    assert confined(mounts, "ingest", contract, "--library", library).returncode == 0
    # when a question is asked, whose engine finds no place for its log
    done = confined(mounts, "ask", QUESTION, "--library", library, "--json")
    # then it is answered all the same
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["citations"]


def test_a_library_where_none_can_be(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    argv = ["search", "q", "--library", str(tmp_path / "file" / "library")]
    assert main(argv, FAKES) == 1
    assert str(tmp_path / "file") in one_line(capsys.readouterr().err)
