"""Fixtures that every test group shares: where the models, samples and corpus are."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

# A shell that starts the tests in the background has SIGINT ignored; the tests mean a terminal.
signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parent.parent
MODELS = Path(os.environ.get("CLAUSEBOOK_MODELS", ROOT / "build" / "models"))
CORPUS = Path(os.environ.get("CLAUSEBOOK_CORPUS", ROOT.parent / "shared" / "corpus"))


@pytest.fixture(scope="session")
def model_path() -> Path:
    """The default language model, SmolLM2-135M-Instruct Q4_1."""
    path = MODELS / "SmolLM2-135M-Instruct.Q4_1.gguf"
    if not path.exists():
        pytest.fail(f"{path} is missing; run `make models`")
    return path


@pytest.fixture(scope="session")
def embedder_folder() -> Path:
    """The default embedder, all-MiniLM-L6-v2."""
    path = MODELS / "all-MiniLM-L6-v2"
    if not path.exists():
        pytest.fail(f"{path} is missing; run `make models`")
    return path


@pytest.fixture(scope="session")
def samples() -> Path:
    """The folder of the project's own sample documents."""
    return ROOT / "assets" / "samples"


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The evaluation corpus beside the repository; the test is skipped where it is absent."""
    if not CORPUS.exists():
        pytest.skip(f"the evaluation corpus is not at {CORPUS}")
    return CORPUS
