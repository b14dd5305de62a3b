"""Compares the portable llama.cpp with the one built for this processor, in one run.

    python packaging/speed_check.py NATIVE_PYTHON PORTABLE_PYTHON [--rounds 8] [--limit 1.05]

Each round lets each of the two read 256 tokens and write 48, one after the other, in processes of
their own and in turns. One thread; processor time counts, so that other jobs disturb little. The
ratio of the medians must not exceed the limit, for reading and for writing.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
MODEL = ROOT / "build/models/SmolLM2-135M-Instruct.Q4_1.gguf"
READ, WRITE = 256, 48
TEXT = "The Supplier shall deliver the Goods to the Customer at the agreed place and time. " * 40
KINDS = ("read", "write")


def measure(model: Path) -> dict[str, float]:
    """Milliseconds of processor time a token, in this process."""
    import numpy as np

    from engine.load import load_backend
    from engine.types import EngineOptions

    options = EngineOptions(model=model, backend="llama.cpp", window=1024, batch=256, threads=1)
    backend = load_backend(options)
    tokens = backend.tokenizer.encode(TEXT)[:READ]
    backend.forward(backend.new_sequence(), tokens[:32], 0)  # the first touch of the weights
    sequence = backend.new_sequence()
    began = time.process_time()
    logits = backend.forward(sequence, tokens, 0)
    read = time.process_time() - began
    began = time.process_time()
    for position in range(READ, READ + WRITE):
        logits = backend.forward(sequence, [int(np.argmax(logits))], position)
    write = time.process_time() - began
    backend.close()
    return {"read": read / READ * 1000, "write": write / WRITE * 1000}


def in_process(python: str, model: Path) -> dict[str, float]:
    """`measure` with another Python, and so with another llama.cpp."""
    command = [python, __file__, "--measure", "--model", str(model)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
    answer: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return answer


def compare(native: str, portable: str, model: Path, rounds: int) -> dict[str, float]:
    """Prints a line for each kind of work; returns portable by native."""
    times: dict[str, dict[str, list[float]]] = {
        name: {kind: [] for kind in KINDS} for name in ("native", "portable")
    }
    for number in range(rounds):
        pair = [("native", native), ("portable", portable)]
        for name, python in pair if number % 2 else pair[::-1]:
            for kind, value in in_process(python, model).items():
                times[name][kind].append(value)
    ratios = {}
    for kind in KINDS:
        one, other = times["native"][kind], times["portable"][kind]
        ratios[kind] = statistics.median(other) / statistics.median(one)
        print(
            f"{kind:<6} native {statistics.median(one):6.2f} ms a token"
            f" ({min(one):.2f} to {max(one):.2f}), portable {statistics.median(other):6.2f}"
            f" ({min(other):.2f} to {max(other):.2f}): {ratios[kind]:.3f}"
        )
    return ratios


def main() -> None:
    parser = argparse.ArgumentParser(description="Compares two builds of llama.cpp.")
    parser.add_argument("native", nargs="?", help="a Python with the native build")
    parser.add_argument("portable", nargs="?", help="a Python with the portable build")
    parser.add_argument("--model", type=Path, default=MODEL)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--limit", type=float, default=1.05)
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        sys.path.insert(0, str(ROOT))
        print(json.dumps(measure(options.model)))
        return
    if not options.native or not options.portable:
        parser.error("two Pythons are needed")
    ratios = compare(options.native, options.portable, options.model, options.rounds)
    if max(ratios.values()) > options.limit:
        sys.exit(f"The portable build is slower than allowed ({options.limit}).")


if __name__ == "__main__":
    main()
