"""A planted library: the portable llama.cpp by itself would run it, and the program does not.

Needs the packaging environment, which `make package-quick` makes; clean_root.sh tries the same with
the installed program.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PYTHON = ROOT / "build" / "package" / "venv" / "bin" / "python"
SOURCE = """
static void __attribute__((constructor)) run(void) {
  extern int creat(const char *, unsigned);
  creat("ran", 0600);
}
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.model,
    pytest.mark.skipif(not PYTHON.exists(), reason="needs the packaging environment"),
    pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler"),
]


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """A folder with a library that leaves the file `ran` when it is loaded."""
    library = tmp_path / "libggml-cpu-x64.so"
    command = ["cc", "-shared", "-fPIC", "-w", "-x", "c", "-", "-o", str(library)]
    subprocess.run(command, input=SOURCE, text=True, check=True)
    return tmp_path


def run(folder: Path, *arguments: str | Path) -> str:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [PYTHON, *arguments],
        cwd=folder,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


def test_llama_cpp_by_itself_runs_what_lies_in_the_current_folder(planted: Path) -> None:
    run(planted, "-c", "import llama_cpp; llama_cpp.llama_backend_init()")

    assert (planted / "ran").exists()


def test_the_program_does_not(planted: Path, model_path: Path) -> None:
    answer = run(planted, ROOT / "packaging" / "cpu_answer.py")

    assert "Paris by libggml-cpu-" in answer
    assert not (planted / "ran").exists()
