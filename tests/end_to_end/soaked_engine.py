"""A process that holds a long conversation and prints what each turn cost, as JSON.

python -m tests.end_to_end.soaked_engine MODEL FOLDER TURNS LIMIT_MB
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

import psutil

from engine.assembly import assemble
from engine.load import load_backend
from engine.types import EngineOptions, Finished, Notice, SamplingOptions, Turn

SYSTEM = "You answer questions about contracts in one short sentence."


def question(number: int) -> str:
    return (
        f"Clause {number}: the tenant pays USD {900 + number} within {number % 28 + 1} days. "
        f"What does clause {number} say?"
    )


def set_limit(size: int) -> None:
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (size, resource.getrlimit(resource.RLIMIT_AS)[1]))


def main() -> None:
    model, folder, turns, window, limit, *more = sys.argv[1:]
    set_limit(int(limit) << 20)
    options = EngineOptions(
        model=Path(model),
        backend="llama.cpp",
        window=int(window),
        batch=64,
        threads=1,
        sequences=4,
        cache_dir=Path(folder),
        memory_budget=64 << 20,
    )
    engine = assemble(load_backend(options), options)
    process = psutil.Process()
    if more:
        set_limit(process.memory_info().vms + (int(more[0]) << 20))
    for number in range(int(turns)):
        # Every tenth turn is another conversation, so that conversations come and go.
        name = "other" if number % 10 == 9 else "lease"
        notices: list[str] = []
        last = None
        turn = Turn(question(number), SYSTEM)
        for event in engine.ask(name, turn, SamplingOptions(max_tokens=6)):
            if isinstance(event, Notice):
                notices.append(event.text)
            last = event
        assert isinstance(last, Finished)
        window = engine.conversation(name).window_tokens
        row = {
            "name": name,
            "window": window,
            "resident": process.memory_info().rss,
            "virtual": process.memory_info().vms,
            "notices": notices,
            "limit": engine.window,
            **asdict(last.stats),
        }
        print(json.dumps(row), flush=True)
    engine.close()


if __name__ == "__main__":
    main()
