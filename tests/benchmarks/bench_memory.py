"""Memory and disk of a growing conversation, and of states as llama-cpp-python saves them."""

from __future__ import annotations

import gc
import tempfile
import time
from pathlib import Path

import psutil

from engine.assembly import assemble
from engine.load import load_backend
from engine.types import SamplingOptions, Turn
from tests.benchmarks import ours, report
from tests.benchmarks.script import SYSTEM, conversation, passage


def measure(
    model: Path, backend: str, turns: int, threads: int, *, peers: bool
) -> dict[str, object]:
    """Resident memory, keys and values, and files after each turn."""
    rows: list[dict[str, float]] = []
    process = psutil.Process()
    with tempfile.TemporaryDirectory() as folder:
        options = ours.options(model, threads, Path(folder), backend)
        before = process.memory_info().rss
        engine = assemble(load_backend(options), options)
        loaded = process.memory_info().rss
        for number, turn in enumerate(conversation(turns), start=1):
            asked = Turn(user=turn.user, system=SYSTEM)
            for _ in engine.ask("bench", asked, SamplingOptions(max_tokens=16)):
                pass
            engine._tier.store.flush()  # type: ignore[attr-defined]
            gc.collect()
            info = engine.conversation("bench")
            rows.append(
                {
                    "turn": number,
                    "tokens": info.tokens,
                    "resident_bytes": process.memory_info().rss,
                    "cache_bytes": info.cache_bytes,
                    "disk_bytes": info.disk_bytes,
                }
            )
        engine.close()
    result: dict[str, object] = {
        "benchmark": "memory",
        "model": model.name,
        "backend": backend,
        "threads": threads,
        "loading_bytes": loaded - before,
        "rows": rows,
    }
    if peers:
        result["peer"] = _whole_state(model, threads)
    return result


def tables(result: dict[str, object]) -> str:
    """One line a turn, and the peer's state."""
    found: list[dict[str, float]] = result["rows"]  # type: ignore[assignment]
    rows = [
        [
            int(row["turn"]),
            int(row["tokens"]),
            row["resident_bytes"] / 1e6,
            row["cache_bytes"] / 1e6,
            row["disk_bytes"] / 1e6,
        ]
        for row in found
    ]
    text = report.table(["turn", "tokens", "process MB", "keys+values MB", "disk MB"], rows)
    peer = result.get("peer")
    if isinstance(peer, dict):
        text += (
            f"\n\nllama-cpp-python's Llama.save_state() of {peer['tokens']} tokens: "
            f"{peer['bytes'] / 1e6:.1f} MB in {peer['milliseconds']:.0f} ms"
        )
    return text


def _whole_state(model: Path, threads: int, tokens: int = 1000) -> dict[str, float] | None:
    try:
        from llama_cpp import Llama
    except ImportError:
        return None
    llama = Llama(str(model), n_ctx=8192, n_batch=512, n_threads=threads, verbose=False)
    text = "\n".join(passage("rent", number) for number in range(40))
    llama.eval(llama.tokenize(text.encode(), False)[:tokens])
    begin = time.perf_counter()
    state = llama.save_state()
    seconds = time.perf_counter() - begin
    size = state.llama_state_size + state.scores.nbytes + state.input_ids.nbytes
    llama.close()
    return {"tokens": tokens, "bytes": size, "milliseconds": 1000 * seconds}
