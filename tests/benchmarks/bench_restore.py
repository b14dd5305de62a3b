"""Saving and restoring a conversation against reading it again, in one run."""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

from engine.cache_file import Block, CacheFile, open_cache
from engine.cache_identity import CacheIdentity
from engine.load import load_backend
from tests.benchmarks import ours, report
from tests.benchmarks.script import passage

LENGTHS = (512, 1024, 2048, 4096)
REPEATS = 7
BLOCK = 512


def measure(model: Path, backend: str, threads: int) -> dict[str, object]:
    """Prefill, save, file size and restore for several lengths."""
    decoder = load_backend(ours.options(model, threads, None, backend))
    text = "\n".join(passage("rent", number) for number in range(120))
    ids = decoder.tokenizer.encode(text)[: max(LENGTHS)]
    info = decoder.info
    identity = CacheIdentity(
        "bench", bytes(16), info.fingerprint, "", decoder.layout, info.kv_bytes_per_token
    )
    rows: list[dict[str, float]] = []
    with tempfile.TemporaryDirectory() as folder:
        sequence = decoder.new_sequence()
        prefill = 0.0
        for length in (one for one in LENGTHS if one <= len(ids)):
            begin = time.perf_counter()
            read = decoder.positions(sequence)[-1][1] if decoder.positions(sequence) else 0
            for at in range(read, length, decoder.batch):
                decoder.forward(sequence, ids[at : min(at + decoder.batch, length)], at)
            prefill += time.perf_counter() - begin
            begin = time.perf_counter()
            blocks = [
                Block(at, at, tuple(ids[at : at + BLOCK]), True, decoder.save(sequence, at, stop))
                for at in range(0, length, BLOCK)
                for stop in (min(at + BLOCK, length),)
            ]
            saved = time.perf_counter() - begin
            path = Path(folder) / f"{length}"
            begin = time.perf_counter()
            CacheFile(path, identity).commit(blocks)
            written = time.perf_counter() - begin
            del blocks
            times = []
            for _ in range(REPEATS):
                other = decoder.new_sequence()
                begin = time.perf_counter()
                file = open_cache(path, identity)
                for block in file.read_blocks():
                    decoder.load(other, block.state)
                times.append(1000 * (time.perf_counter() - begin))
                decoder.free_sequence(other)
            rows.append(
                {
                    "tokens": length,
                    "prefill_ms": 1000 * prefill,
                    "save_ms": 1000 * saved,
                    "write_ms": 1000 * written,
                    "restore_ms": statistics.median(times),
                    "restore_best_ms": min(times),
                    "file_bytes": path.stat().st_size,
                    "bytes_per_token": info.kv_bytes_per_token,
                    "size_ratio": path.stat().st_size / (length * info.kv_bytes_per_token),
                    "speed_up": 1000 * prefill / statistics.median(times),
                }
            )
    decoder.close()
    return {
        "benchmark": "restore",
        "model": model.name,
        "backend": backend,
        "threads": threads,
        "rows": rows,
    }


def tables(result: dict[str, object]) -> str:
    """One line a length."""
    found: list[dict[str, float]] = result["rows"]  # type: ignore[assignment]
    header = [
        "tokens", "prefill ms", "save ms", "write ms", "restore ms", "best ms", "times faster",
        "file MB", "of raw",
    ]  # fmt: skip
    rows = [
        [
            int(row["tokens"]),
            round(row["prefill_ms"]),
            row["save_ms"],
            row["write_ms"],
            row["restore_ms"],
            row["restore_best_ms"],
            round(row["speed_up"]),
            row["file_bytes"] / 1e6,
            f"{row['size_ratio']:.4f}",
        ]
        for row in found
    ]
    return report.table(header, rows)
