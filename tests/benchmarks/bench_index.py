"""A library of a million chunks: how long the index takes to open and to search, and what it finds.

    python -m tests.benchmarks.bench_index [--size 1000000] [--folder DIR]

Vectors are synthetic: random directions around as many centres as a large library has subjects.
The lists are built once in the folder (minutes) and kept for the next run.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from rag.flat_index import Ids
from rag.list_index import ListIndex, build
from rag.vectors import Vectors

DIMENSION = 384
_BATCH = 20_000
_QUERIES = 100
_FOLDER = Path(__file__).resolve().parents[2] / "build" / "benchmarks"


def batches(size: int) -> Iterator[tuple[Ids, Vectors]]:
    """The same vectors every time, of length 1, in ascending order of id."""
    centres = np.random.default_rng(0).normal(size=(max(50, size // 200), DIMENSION))
    centres = centres.astype(np.float32)
    for start in range(0, size, _BATCH):
        random = np.random.default_rng(1 + start)
        count = min(_BATCH, size - start)
        vectors = centres[random.integers(0, len(centres), count)]
        vectors += 0.7 * random.standard_normal((count, DIMENSION), np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        yield np.arange(start + 1, start + 1 + count, dtype=np.int64), vectors


def queries(size: int) -> Vectors:
    """Vectors near some of the library's, as questions are near to passages."""
    _, vectors = next(batches(size))
    random = np.random.default_rng(2)
    asked = vectors[:: max(1, len(vectors) // _QUERIES)][:_QUERIES]
    asked = asked + 0.03 * random.standard_normal(asked.shape, np.float32)
    return asked / np.linalg.norm(asked, axis=1, keepdims=True)


def exact(size: int, asked: Vectors, k: int) -> list[set[int]]:
    """The true nearest ids of each query."""
    best = [(np.zeros(0, np.float32), np.zeros(0, np.int64)) for _ in asked]
    for ids, vectors in batches(size):
        scores = asked @ vectors.T
        for row, (kept, names) in enumerate(best):
            both = np.concatenate([kept, scores[row]])
            named = np.concatenate([names, ids])
            top = np.argpartition(-both, k)[:k] if len(both) > k else np.arange(len(both))
            best[row] = both[top], named[top]
    return [set(names.tolist()) for _, names in best]


def measure(path: Path, size: int) -> dict[str, float]:
    """Opens and searches the lists; run in a process of its own, so that memory is its own."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begun = time.perf_counter()
    index = ListIndex.open(path, DIMENSION, "synthetic")
    opened = time.perf_counter() - begun
    assert index is not None
    asked = queries(size)
    times, found = [], []
    for query in asked:
        begun = time.perf_counter()
        hits = index.search(query, 100)
        times.append(1000 * (time.perf_counter() - begun))
        found.append({number for number, _ in hits[:10]})
    truth = exact(size, asked[:20], 10)
    recall = np.mean([len(a & b) / 10 for a, b in zip(found, truth, strict=False)])
    return {
        "size": size,
        "open ms": round(1000 * opened, 1),
        "search ms": round(float(np.median(times)), 1),
        "search ms 95%": round(float(np.quantile(times, 0.95)), 1),
        "recall@10": round(float(recall), 3),
        "file MB": round(path.stat().st_size / 1e6),
        "memory before MB": round(before / 1024),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="The index of a large library, measured.")
    parser.add_argument("--size", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, default=_FOLDER)
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    path = args.folder / f"synthetic-{args.size}.lists"
    if args.measure:
        print(json.dumps(measure(path, args.size)))
        return
    if not path.exists():
        args.folder.mkdir(parents=True, exist_ok=True)
        begun = time.perf_counter()
        build(path, lambda: batches(args.size), args.size, DIMENSION, "synthetic")
        print(f"built in {time.perf_counter() - begun:.0f} s")
    command = [sys.executable, "-m", "tests.benchmarks.bench_index", "--measure"]
    command += ["--size", str(args.size), "--folder", str(args.folder)]
    row = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
    for name, value in row.items():
        print(f"{name:18} {value:g}")
    result = args.folder / "index.json"
    result.write_text(json.dumps(row, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
