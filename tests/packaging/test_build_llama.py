"""Finding a built wheel: only one that fits this processor and C library is taken."""

from __future__ import annotations

from pathlib import Path

import build_llama
import pytest


@pytest.fixture(autouse=True)
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CLAUSEBOOK_WHEELS", str(tmp_path))
    return tmp_path


def put(flavour: str, version: str = build_llama.VERSION) -> Path:
    folder = build_llama.folder(flavour)
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"llama_cpp_python-{version}-py3-none-linux_x86_64.whl"
    wheel.write_bytes(b"wheel")
    return wheel


def test_a_wheel_of_this_machine_is_found() -> None:
    wheel = put("native")

    assert build_llama.find("native") == wheel
    assert build_llama.find("portable") is None


def test_a_wheel_of_another_processor_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    put("native")
    put("portable")
    monkeypatch.setattr(build_llama, "instruction_sets", lambda: ["sse4_2"])

    assert build_llama.find("native") is None
    assert build_llama.find("portable") is not None


@pytest.mark.parametrize("flavour", ["native", "portable"])
def test_a_wheel_built_with_other_flags_is_not_taken(
    monkeypatch: pytest.MonkeyPatch, flavour: str
) -> None:
    put(flavour)
    monkeypatch.setattr(build_llama, "COMPILER_FLAGS", "-O0")

    assert build_llama.find(flavour) is None


@pytest.mark.parametrize(("libc", "taken"), [("2.30", False), ("2.36", True), ("2.41", True)])
def test_a_wheel_of_an_older_c_library_fits(
    monkeypatch: pytest.MonkeyPatch, libc: str, taken: bool
) -> None:
    monkeypatch.setattr("platform.libc_ver", lambda: ("glibc", "2.36"))
    wheel = put("native")

    monkeypatch.setattr("platform.libc_ver", lambda: ("glibc", libc))

    assert build_llama.find("native") == (wheel if taken else None)


def test_another_version_is_not_taken() -> None:
    put("native", "0.0.1")

    assert build_llama.find("native") is None


def test_half_a_wheel_is_not_taken() -> None:
    put("native").rename(build_llama.folder("native") / "llama_cpp_python.partial")

    assert build_llama.find("native") is None


def test_the_version_is_the_locked_one() -> None:
    lock = (Path(build_llama.__file__).parent / "locks" / "llama-source.lock").read_text()

    assert f"=={build_llama.VERSION} " in lock
    assert "--hash=sha256:" in lock
