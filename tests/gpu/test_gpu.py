"""The GPU's checks as tests; the times are in `gpu_check.py`, which is run by hand."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from tests.gpu import gpu_check  # noqa: E402

SCRIPT = Path(__file__).with_name("gpu_check.py")


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA GPU here")
@pytest.mark.parametrize("name", gpu_check.CHECKS)
def test_on_the_gpu(name: str) -> None:
    gpu_check.CHECKS[name](gpu_check.best_device())


def test_what_needs_no_gpu_holds_on_the_cpu() -> None:
    """The checks themselves are right: they pass where they can run."""
    cpu = torch.device("cpu")
    gpu_check.check_equals_cpu(cpu)
    gpu_check.check_split_and_restored(cpu)
    for name, parameters in (("1.5b", 1.5e9), ("8b", 7.5e9)):
        config = gpu_check.config_of(name)
        assert parameters <= config.matrix_numbers <= 1.1 * parameters


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_without_a_gpu_the_script_says_so() -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--checks-only"],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": ":".join(sys.path), "PATH": ""},
    )
    assert done.returncode == gpu_check.NO_GPU
    assert "no CUDA GPU is here" in done.stderr
