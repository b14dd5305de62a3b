from __future__ import annotations

import json
import os
import time
import types
from pathlib import Path

import pytest

from desktop_app import doctor, doctor_probes, paths
from desktop_app.composition import Composition
from desktop_app.doctor import Findings, Line, Section
from desktop_app.settings import Settings
from tests.desktop_app.cli_runner import Cli
from tests.desktop_app.fakes import fakes
from tests.engine.kept_engines import Kept


def crash() -> str:
    os.abort()


def hang() -> str:
    time.sleep(60)
    return "late"


def fail() -> str:
    raise OSError("libgomp.so.1: cannot open shared object file")


@pytest.fixture
def composed(tmp_path: Path) -> Composition:
    return Composition(
        tmp_path / "库",
        Settings(backend="fake", embedder="fake"),
        makers=fakes(),
    )


@pytest.fixture
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """No native library is tried."""
    monkeypatch.setattr(doctor_probes, "NATIVE", {"FAISS": doctor_probes.faiss})
    monkeypatch.setattr(doctor_probes, "run", lambda probe: doctor_probes.WORKS)


def lines(findings: Findings) -> dict[str, Line]:
    return {line.name: line for section in findings.sections for line in section.lines}


@pytest.mark.usefixtures("_quick")
def test_everything_in_order(composed: Composition, contract: Path) -> None:
    library = composed.open_library()
    list(library.ingest([contract]))
    library.close()
    kept = Kept(paths.conversations_folder(composed.library_folder))
    kept.ask("lease", "What is the rent?")
    kept.engine.close()
    kept.file("lease").with_name("cache.1.bad").write_bytes(bytes(5_000_000))
    findings = doctor.examine(composed)
    assert findings.problems == ()
    found = lines(findings)
    assert found["Documents"].value.startswith("1 with 1 pages")
    assert found["Conversations"].value.startswith("1 with 5 MB of caches (")
    assert found["Language model"].value == "fake"
    assert "GB free" in found["Library"].value
    plain = doctor.plain(findings)
    assert plain["ok"]
    assert json.loads(json.dumps(plain)) == plain
    assert list(plain["sections"]) == [
        "program",
        "machine",
        "libraries",
        "models",
        "folders",
        "library",
    ]


@pytest.mark.usefixtures("_quick")
def test_what_is_wrong_comes_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # given no models, a full disk, little memory and a library that is no library
    monkeypatch.setenv("CLAUSEBOOK_MODELS", str(tmp_path))
    monkeypatch.setattr(paths, "checkout", lambda: None)
    monkeypatch.setattr("shutil.disk_usage", lambda p: types.SimpleNamespace(free=1000))
    memory = types.SimpleNamespace(free=1 << 20, total=1 << 30, name="memory of the container")
    monkeypatch.setattr("engine.memory_probe.main_memory", lambda: memory)
    monkeypatch.setattr(doctor_probes, "run", lambda probe: "crashes (exit code -6)")
    (tmp_path / "library.sqlite3").write_bytes(b"rubbish" * 1000)
    # when it is examined
    findings = doctor.examine(Composition(tmp_path, Settings()))
    # then each is a problem with something to do
    problems = {p.name: p for p in findings.problems}
    assert set(problems) >= {
        "Free memory",
        "Language model",
        "Embedding model",
        "Library",
        "FAISS loads",
        "Documents",
    }
    assert all(p.todo for p in problems.values())
    assert "crashes" in problems["FAISS loads"].value


@pytest.mark.usefixtures("_quick")
def test_a_folder_that_cannot_be_written(
    composed: Composition, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "_writable", lambda folder: False)
    found = lines(doctor.examine(composed))
    assert found["Library"].problem
    assert not found["Log"].problem  # the program runs without
    assert "can't be written" in found["Log"].value


@pytest.mark.usefixtures("_quick")
def test_the_gpus_are_listed(composed: Composition, monkeypatch: pytest.MonkeyPatch) -> None:
    gpus = [{"name": "H200", "free": 139 << 30, "total": 141 << 30}]
    monkeypatch.setattr(doctor_probes, "run", lambda probe: gpus)
    composed.settings = Settings(embedder="fake")
    found = lines(doctor.examine(composed))
    assert found["GPU"].value == "H200, 149.3 GB free"
    assert found["Backend"].value == "auto: torch"


@pytest.mark.parametrize("probe", list(doctor_probes.NATIVE.values()))
def test_each_native_library_is_tried(probe: object) -> None:
    assert doctor_probes.run(probe) == doctor_probes.WORKS  # type: ignore[arg-type]


def test_a_probe_that_crashes_hangs_or_fails_is_a_finding() -> None:
    assert doctor_probes.run(crash) == "crashes (exit code -6)"
    assert doctor_probes.run(hang, 0.3).startswith("no answer within")
    assert "libgomp" in doctor_probes.run(fail)


@pytest.mark.usefixtures("_quick")
def test_the_command(cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "settings.json").write_text('{"embedder": "fake", "backend": "fake"}')
    assert cli("doctor", "--json") == 0
    assert cli.json["ok"]
    assert cli("doctor") == 0
    assert "Everything is in order." in cli.out
    bad = Findings((Section("Folders", (Line("Library", "gone", True, "Make it."),)),))
    monkeypatch.setattr(doctor, "examine", lambda composition, self_test: bad)
    assert cli("doctor") == 1
    assert "  ! Library" in cli.out
    assert "-> Make it." in cli.out


@pytest.mark.usefixtures("_quick")
def test_a_damaged_cache_is_told_and_is_no_problem(composed: Composition) -> None:
    kept = Kept(paths.conversations_folder(composed.library_folder))
    kept.ask("lease", "What is the rent?")
    kept.engine.close()
    kept.file("lease").write_bytes(b"junk" * 2000)
    findings = doctor.examine(composed)
    line = lines(findings)["Conversations"]
    assert line.value.endswith("1 damaged")
    assert "cache verify" in line.todo
    assert not line.problem
