"""A follow-up to a long conversation, with the cache and without, in one run.

    python -m tests.benchmarks.bench_followup build/models/SmolLM2-135M-Instruct.Q4_1.gguf

At least 2,048 tokens are cached and the follow-up adds at most 64. Prints the time to the first
token of both, their ratio, and whether the greedy answers agree.
"""

from __future__ import annotations

import argparse
import statistics
from pathlib import Path

from engine.engine import Engine
from engine.load import load_backend
from engine.types import EngineOptions, Finished, SamplingOptions, Turn
from tests.benchmarks.report import table, write_json

CACHED = 2048
MOST_NEW = 64
QUESTION = "In one sentence: how many days does the customer have to pay?"
CLAUSE = (
    "{n}.1 The Supplier shall deliver lot {n} within {d} days of the order. {n}.2 The Customer "
    "shall pay the invoice for lot {n} within {d} days of its receipt. {n}.3 The warranty "
    "for lot {n} lasts {d} months from acceptance.\n"
)


def long_text(engine: Engine, tokens: int) -> str:
    """A contract's clauses, at least this many tokens."""
    text = ""
    for n in range(1, 1000):
        text += CLAUSE.format(n=n, d=10 + 7 * n % 83)
        if engine.count_tokens(text) >= tokens:
            break
    return text


def ask(engine: Engine, name: str, *, use_cache: bool) -> Finished:
    """Asks the follow-up on a fork of the long conversation, so that each run starts alike."""
    engine.fork("long", name)
    turn, sampling = Turn(user=QUESTION), SamplingOptions(max_tokens=24)
    *_, end = engine.ask(name, turn, sampling, use_cache=use_cache)
    assert isinstance(end, Finished)
    engine.delete(name)
    return end


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("--backend", default="llama.cpp")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    chosen = EngineOptions(model=options.model, backend=options.backend, window=4096)
    engine = Engine(load_backend(chosen), chosen)
    first = Turn(user=long_text(engine, CACHED), system="You answer questions about contracts.")
    list(engine.ask("long", first, SamplingOptions(max_tokens=8)))
    warm = [ask(engine, f"warm{n}", use_cache=True) for n in range(options.runs)]
    cold = [ask(engine, f"cold{n}", use_cache=False) for n in range(options.runs)]
    engine.close()
    reused, new = warm[0].stats.reused_tokens, warm[0].stats.prefilled_tokens
    assert reused >= CACHED, f"only {reused} tokens were reused"
    assert new <= MOST_NEW, f"the follow-up added {new} tokens"
    assert cold[0].stats.reused_tokens == 0
    fast, slow = (statistics.median(e.stats.ttft_ms for e in runs) for runs in (warm, cold))
    print(
        table(
            ["", "reused", "read", "first token ms"],
            [
                ["with the cache", reused, new, round(fast, 1)],
                ["without", 0, cold[0].stats.prefilled_tokens, round(slow, 1)],
            ],
        )
    )
    print(f"{slow / fast:.1f} times shorter; the same answer: {warm[0].text == cold[0].text}")
    if options.json:
        figures = {"cached_ms": fast, "uncached_ms": slow, "ratio": slow / fast, "reused": reused}
        write_json(options.json, {"followup": figures})


if __name__ == "__main__":
    main()
