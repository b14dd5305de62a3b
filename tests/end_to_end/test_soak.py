"""A hundred turns in a small window, and a hundred inside a memory limit: no error, memory flat."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from engine.types import Prefilling
from tests.engine.conversations import expected_cells
from tests.engine.kept_engines import HastyDisk, Kept, quick_greedy

ROOT = Path(__file__).resolve().parents[2]
WINDOW = 1024
TURNS = 100


def test_a_hundred_turns_in_a_small_window(tmp_path: Path) -> None:
    kept = Kept(tmp_path, {"cells": 1280}, {"window": WINDOW}, HastyDisk())
    kept.ask("a", "Begin.")  # what is made once is made now
    tracemalloc.start()
    early = late = 0
    trims = 0
    for number in range(TURNS):
        question = f"Question {number}: what does clause {number} say about the rent? " * 2
        before: dict[int, int] = {}
        hidden: list[tuple[int, int]] = []
        conversation = kept.engine._register.known("a")
        size = len(conversation.transcript.ids)
        for event in kept.events("a", question, most=32):
            if isinstance(event, Prefilling):
                before, hidden = expected_cells(conversation), list(conversation.window.hidden)
        stats = event.stats  # type: ignore[union-attr]
        # each answer is within the window's rules, and the one a fresh engine gives
        assert stats.prompt_tokens <= WINDOW
        assert len(conversation.window) <= WINDOW
        assert stats.prefilled_tokens <= len(question) + 40
        assert stats.prompt_tokens >= WINDOW // 2 or size < WINDOW
        written = list(conversation.transcript.turns[-1].segments[-1].ids)
        if conversation.window.hidden == hidden:
            assert written[: stats.generated_tokens] == quick_greedy(before, 32)
        trims += bool(stats.trimmed_tokens)
        if stats.trimmed_tokens:
            assert stats.trimmed_tokens >= WINDOW // 4
        kept.flush()
        late = tracemalloc.get_traced_memory()[0]
        early = early or late
    tracemalloc.stop()
    assert 10 < trims < 50  # in bulk, so rarely
    assert kept.notices == []
    assert late - early < 6 << 20  # the transcript grows, and nothing else
    kept.engine.close()


def soak(model: Path, folder: Path, *numbers: int) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", "tests.end_to_end.soaked_engine"]
    done = subprocess.run(
        [*command, str(model), str(folder), *map(str, numbers)],
        cwd=ROOT,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "OMP_NUM_THREADS": "2",
            "OPENBLAS_NUM_THREADS": "1",
            "MALLOC_ARENA_MAX": "2",
        },
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.model
@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="POSIX limits")
def test_a_hundred_turns_of_a_real_model_inside_a_limit_of_1500_mb(
    tmp_path: Path, model_path: Path
) -> None:
    rows = soak(model_path, tmp_path, TURNS, WINDOW, 1500)
    assert len(rows) == TURNS
    for row in rows:
        assert row["window"] <= WINDOW
        assert row["prompt_tokens"] <= WINDOW
        assert row["generated_tokens"] >= 1
        assert row["virtual"] <= 1500 << 20
        if row["restored_from"] in ("", "memory", "disk"):
            assert row["prefilled_tokens"] <= 120
    early = max(row["resident"] for row in rows[20:40])
    late = max(row["resident"] for row in rows[-20:])
    assert late - early < 40 << 20
    assert sum(row["trimmed_tokens"] > 0 for row in rows) >= 3


@pytest.mark.model
@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="POSIX limits")
def test_a_tight_limit_shrinks_the_window_and_every_answer_comes(
    tmp_path: Path, model_path: Path
) -> None:
    rows = soak(model_path, tmp_path, 12, 4096, 1500, 80)
    assert len(rows) == 12
    assert all(row["generated_tokens"] >= 1 for row in rows)
    assert rows[-1]["limit"] == 1024
    lines = [line for row in rows for line in row["notices"]]
    assert any("2,048 tokens in view" in line for line in lines)
    assert any("1,024 tokens in view" in line for line in lines)
