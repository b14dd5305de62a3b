"""One token from the default model, in this process; for cpu_check.sh."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from engine.load import load_backend
from engine.types import EngineOptions

MODEL = Path(__file__).parent.parent / "build/models/SmolLM2-135M-Instruct.Q4_1.gguf"


def variant() -> str:
    """The CPU library that llama.cpp chose, from this process's memory map."""
    maps = Path("/proc/self/maps").read_text(encoding="utf8")
    names = {line.rsplit("/", 1)[-1] for line in maps.splitlines() if "libggml-cpu" in line}
    return ", ".join(sorted(names)) or "unknown"


def main() -> None:
    backend = load_backend(
        EngineOptions(model=MODEL, backend="llama.cpp", window=256, batch=32, threads=1)
    )
    sequence = backend.new_sequence()
    tokens = backend.tokenizer.encode("The capital of France is")
    logits = backend.forward(sequence, tokens, 0)
    print(backend.tokenizer.piece(int(np.argmax(logits))).decode(), "by", variant())
    backend.close()


if __name__ == "__main__":
    main()
