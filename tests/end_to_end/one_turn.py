"""A process that asks some questions in a conversation and prints what came of each, as JSON.

python -m tests.end_to_end.one_turn MODEL BACKEND FOLDER QUESTION...
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

from engine.assembly import assemble
from engine.load import load_backend
from engine.types import EngineOptions, Finished, SamplingOptions, Turn

SYSTEM = "You answer questions about contracts in one short sentence."


def main() -> None:
    model, backend, folder, *questions = sys.argv[1:]
    options = EngineOptions(
        model=Path(model),
        backend=backend,  # type: ignore[arg-type]
        window=1024,
        batch=64,
        threads=1,
        cache_dir=Path(folder),
    )
    engine = assemble(load_backend(options), options)
    for question in questions:
        turn = Turn(question, SYSTEM)
        *_, last = engine.ask("lease", turn, SamplingOptions(max_tokens=12))
        assert isinstance(last, Finished)
        tokens = len(engine._register.known("lease").transcript.turns[-1].segments[-2].ids)
        print(json.dumps({"text": last.text, "own": tokens, **asdict(last.stats)}), flush=True)
    engine.close()


if __name__ == "__main__":
    main()
