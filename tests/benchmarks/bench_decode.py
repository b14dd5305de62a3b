"""Tokens a second while an answer is written, by how much stands before it; and how peers do."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from engine.load import load_backend
from tests.benchmarks import ours, report
from tests.benchmarks.peers import PeerMissing, open_llama
from tests.benchmarks.script import passage

DEPTHS = (0, 1024, 2048, 4096)
TOKENS = 48

Speeds = Iterator[tuple[int, float, float]]  # depth, prefill and decode in tokens a second


def measure(model: Path, backend: str, threads: int, *, peers: bool) -> dict[str, object]:
    """Every decoder at every depth."""
    runs: dict[str, list[dict[str, float]]] = {}
    missing: dict[str, str] = {}
    ways: dict[str, Callable[[], Speeds]] = {
        "Clausebook": lambda: _ours(model, backend, threads),
    }
    if peers:
        ways["llama-cpp-python Llama"] = lambda: _llama(model, threads)
    for name, way in ways.items():
        try:
            runs[name] = [
                {"depth": depth, "prefill_per_second": read, "decode_per_second": written}
                for depth, read, written in way()
            ]
        except PeerMissing as error:
            missing[name] = str(error)
    return {
        "benchmark": "decode",
        "model": model.name,
        "backend": backend,
        "threads": threads,
        "tokens": TOKENS,
        "runs": runs,
        "missing": missing,
    }


def tables(result: dict[str, object]) -> str:
    """One line a decoder and depth."""
    runs: dict[str, list[dict[str, float]]] = result["runs"]  # type: ignore[assignment]
    rows = [
        [name, int(one["depth"]), one["prefill_per_second"] or None, one["decode_per_second"]]
        for name, found in runs.items()
        for one in found
    ]
    return report.table(["", "tokens before", "read/s", "written/s"], rows)


def _ours(model: Path, backend: str, threads: int) -> Speeds:
    decoder = load_backend(ours.options(model, threads, None, backend))
    ids = _ids(decoder.tokenizer.encode)
    sequence = decoder.new_sequence()
    decoder.forward(sequence, ids[:1], 0)
    done = 1
    for depth in DEPTHS:
        begin, first = time.perf_counter(), done
        while done < depth:
            batch = ids[done : min(done + decoder.batch, depth)]
            decoder.forward(sequence, batch, done)
            done += len(batch)
        seconds = time.perf_counter() - begin
        read = (done - first) / seconds if done > first else 0.0
        copy = decoder.fork(sequence)
        begin = time.perf_counter()
        for at in range(TOKENS):
            decoder.forward(copy, [ids[at]], done + at)
        written = TOKENS / (time.perf_counter() - begin)
        decoder.free_sequence(copy)
        yield depth, read, written
    decoder.close()


def _llama(model: Path, threads: int) -> Speeds:
    llama = open_llama(model, threads)
    ids = _ids(lambda text: llama.tokenize(text.encode(), False))
    llama.eval(ids[:1])
    for depth in DEPTHS:
        begin, first = time.perf_counter(), llama.n_tokens
        if depth > first:
            llama.eval(ids[first:depth])
        seconds = time.perf_counter() - begin
        read = (depth - first) / seconds if depth > first else 0.0
        done = llama.n_tokens
        begin = time.perf_counter()
        for at in range(TOKENS):
            llama.eval([ids[at]])
        written = TOKENS / (time.perf_counter() - begin)
        llama.n_tokens = done
        yield depth, read, written
    llama.close()


def _ids(encode: Callable[[str], list[int]]) -> list[int]:
    text = "\n".join(passage("rent", number) for number in range(120))
    return encode(text)[: max(DEPTHS)]
