"""Quit, start, ask: only the new turn is read, and the answer is that of an uninterrupted run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
QUESTIONS = [
    "Clause 4: the rent is USD 1,200 a month, due on the first. What is the rent?",
    "When is it due?",
    "Clause 9: either party may terminate with 60 days' notice. How much notice is needed?",
]
# The end of an answer: its last token and the marks that close it.
CLOSING = 4


def run(model: Path, backend: str, folder: Path, *questions: str) -> list[dict[str, Any]]:
    """Asks in a process of its own."""
    command = [sys.executable, "-m", "tests.end_to_end.one_turn"]
    done = subprocess.run(
        [*command, str(model), backend, str(folder), *questions],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "2"},
        capture_output=True,
        text=True,
        timeout=250,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.model
@pytest.mark.slow
@pytest.mark.parametrize("backend", ["llama.cpp", "torch"])
def test_after_a_restart_only_the_new_turn_is_read(
    tmp_path: Path, model_path: Path, backend: str
) -> None:
    # given the answers of one process
    whole = run(model_path, backend, tmp_path / "whole", *QUESTIONS)
    # when each question is asked in a process of its own
    parts = [run(model_path, backend, tmp_path / "张 三", one)[0] for one in QUESTIONS]
    # then each reads its own tokens only, and answers the same
    assert [one["text"] for one in parts] == [one["text"] for one in whole]
    assert [one["restored_from"] for one in parts] == ["", "disk", "disk"]
    for one in parts[1:]:
        assert one["prefilled_tokens"] <= one["own"] + CLOSING
        assert one["reused_tokens"] > 40
    assert parts[2]["prompt_tokens"] == whole[2]["prompt_tokens"]
