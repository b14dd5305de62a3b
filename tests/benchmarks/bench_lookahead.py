"""Prompt lookup against plain decoding: the same answers, in less time, or not.

    python tests/benchmarks/bench_lookahead.py MODEL.gguf [--json FILE]

Times are processor seconds of one thread, so a busy machine changes them little; on an idle
machine with more threads a batch is cheaper still, for the weights are then what it waits for.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path

from engine.engine import Engine
from engine.load import load_backend
from engine.speculation import Lookahead
from engine.types import EngineOptions, Finished, LookaheadMode, SamplingOptions, Turn
from tests.benchmarks.report import machine, table, write_json

PASSAGE = (
    "7.1 The Supplier shall deliver the Goods within thirty (30) days of receipt of a purchase "
    "order. 7.2 The Customer shall pay each undisputed invoice within forty-five (45) days after "
    "the date of receipt of the invoice. Late payments bear interest at four per cent above the "
    "base rate. 7.3 The aggregate liability of either party under this Agreement shall not exceed "
    "the total fees paid in the twelve months preceding the event giving rise to the claim. 7.4 "
    "Either party may terminate this Agreement by giving ninety (90) days written notice."
)
TURNS = {
    "repeat": Turn(f"{PASSAGE}\n\nRepeat the passage word for word."),
    "quote": Turn(
        f"{PASSAGE}\n\nWhat does the passage say about invoices?",
        prefix='It says: "The Customer shall pay',
        spans=(PASSAGE,),
    ),
    "question": Turn(f"{PASSAGE}\n\nWhat is the cap on liability?"),
    "summary": Turn(f"{PASSAGE}\n\nSummarise the passage in your own words."),
    "free": Turn("Write a short poem about the sea."),
}


def run(options: EngineOptions, rounds: int) -> dict[str, list[tuple[str, float, int]]]:
    """Text, processor seconds of the answer and tokens, by turn and round."""
    backend = load_backend(options)
    engine = Engine(backend, options)
    engine._lookahead = lookahead = Lookahead(backend, options.lookahead, time.process_time)
    sampling = SamplingOptions(max_tokens=96)
    found: dict[str, list[tuple[str, float, int]]] = {name: [] for name in TURNS}
    for _ in range(rounds):
        for name, turn in TURNS.items():
            begun = 0.0
            for event in engine.ask("", turn, sampling):
                begun = begun or (time.process_time() if not _reads(event) else 0.0)
                if isinstance(event, Finished):
                    seconds = time.process_time() - begun
                    found[name].append((event.text, seconds, event.stats.generated_tokens))
    if lookahead.most:
        pace = lookahead.pace
        print(f"a guessed token costs {pace.extra:.2f}, and is right by {pace.acceptance:.2f}")
    engine.close()
    return found


def _reads(event: object) -> bool:
    return type(event).__name__ in ("Prefilling", "Notice")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    options = EngineOptions(
        arguments.model, backend="llama.cpp", window=1024, threads=arguments.threads
    )
    rows = []
    modes: tuple[LookaheadMode, LookaheadMode] = ("off", "always")
    for kv_type in ("q8_0", "f16"):
        off, ahead = (
            run(replace(options, kv_type=kv_type, lookahead=mode), arguments.rounds)
            for mode in modes
        )
        for name in TURNS:
            plain, guessed = off[name][-1], ahead[name][-1]  # the pace has settled by then
            rate, faster = plain[2] / plain[1], guessed[2] / guessed[1]
            rows.append((kv_type, name, plain[0] == guessed[0], rate, faster, faster / rate))
    header = ("keys", "turn", "same answer", "plain tok/s", "ahead tok/s", "gain")
    print(table(header, rows))
    if arguments.json:
        write_json(arguments.json, {"machine": machine(), "header": header, "rows": rows})


if __name__ == "__main__":
    main()
