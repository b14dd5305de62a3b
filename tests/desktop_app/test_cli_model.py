"""The main job with the real models: the seed conversation, and its cache after a restart."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.model, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]
SEED = (
    "What are the main terms?",
    "How is payment made?",
    "How is liability for breach determined?",
)


def clausebook(*argv: str | Path, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "desktop_app", *map(str, argv)],
        input=given,
        capture_output=True,
        encoding="utf8",
        timeout=280,
        check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )


def ask(question: str, *argv: str) -> dict[str, Any]:
    done = clausebook("ask", question, "--json", *argv)
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@pytest.fixture
def _models(model_path: Path, embedder_folder: Path) -> None:
    """The default models are there, or the test says how to get them."""


@pytest.mark.usefixtures("_models")
def test_the_seed_conversation_in_the_terminal(samples: Path) -> None:
    done = clausebook("chat", samples / "supply-agreement.pdf", given="\n".join(SEED))
    assert done.returncode == 0, done.stderr
    answers = done.stdout.split("you> ")[1:]
    for question, answer in zip(SEED, answers, strict=True):
        assert answer.startswith(question)
        assert "supply-agreement.pdf, p. " in answer.split("[1] ")[-1]
    assert "8.1 Payment is made by bank transfer" in answers[1]
    assert "12.1 Liability for breach of this Agreement is determined by" in answers[2]
    figures = [line for line in done.stderr.splitlines() if "tokens reused" in line]
    assert len(figures) == 3
    reused = [int(line.split()[0].strip("(")) for line in figures]
    assert reused[0] < reused[1] < reused[2]


@pytest.mark.usefixtures("_models")
def test_each_command_restores_what_the_last_one_read(samples: Path) -> None:
    assert clausebook("ingest", samples / "supply-agreement.pdf").returncode == 0
    options = ("--conversation", "合同")
    turns = [ask(question, *options)["stats"] for question in SEED[1:]]
    turns.append(ask("What is the warranty period?", *options)["stats"])
    for before, after in itertools.pairwise(turns):
        read = before["prompt_tokens"] + before["generated_tokens"]
        assert after["reused_tokens"] >= read - 1
        assert after["restored_from"] == "disk"
        assert after["prompt_tokens"] == after["reused_tokens"] + after["prefilled_tokens"]


@pytest.mark.usefixtures("_models")
def test_without_the_cache_the_answer_is_the_same(samples: Path) -> None:
    assert clausebook("ingest", samples / "purchase-contract-zh.pdf").returncode == 0
    warm = [ask("付款方式是什么？", "--conversation", "a") for _ in range(2)]
    cold = [ask("付款方式是什么？", "--conversation", "b", "--no-cache") for _ in range(2)]
    assert warm[1]["stats"]["reused_tokens"] > 0
    assert cold[1]["stats"]["reused_tokens"] == 0
    assert [a["answer"] for a in warm] == [a["answer"] for a in cold]
    assert [a["citations"] for a in warm] == [a["citations"] for a in cold]


@pytest.mark.usefixtures("_models")
def test_nothing_reports_to_anyone(
    samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """onnxruntime would send its use to its maker, with an id that it keeps in the home."""
    for name in ("ORT_DISABLE_TELEMETRY", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    done = clausebook("ingest", samples / "supply-agreement.pdf")
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.rglob("vectors.index"))
    assert not list(tmp_path.rglob("*onnxruntime*"))
