"""The same conversation held by Clausebook's engine: cached, restarted between turns, uncached."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from engine.assembly import assemble
from engine.engine import Engine
from engine.load import load_backend
from engine.types import EngineOptions, Finished, SamplingOptions, Turn
from tests.benchmarks.peers import Row
from tests.benchmarks.script import SYSTEM, ScriptTurn


def options(model: Path, threads: int, cache_dir: Path | None, backend: str) -> EngineOptions:
    """An engine whose window holds the whole conversation, so that nothing is trimmed."""
    return EngineOptions(
        model=model,
        backend=backend,  # type: ignore[arg-type]
        window=8192,
        threads=threads,
        cache_dir=cache_dir,
    )


def start(chosen: EngineOptions) -> Engine:
    """An engine with its model loaded."""
    return assemble(load_backend(chosen), chosen)


def hold(
    chosen: EngineOptions,
    script: Sequence[ScriptTurn],
    max_tokens: int,
    *,
    use_cache: bool = True,
    restart: bool = False,
) -> Iterator[Row]:
    """One row per turn. With `restart` the engine is closed and started before each."""
    engine = start(chosen)
    sampling = SamplingOptions(max_tokens=max_tokens)
    try:
        for number, turn in enumerate(script, start=1):
            if restart and number > 1:
                engine.close()
                engine = start(chosen)
            asked = Turn(user=turn.user, system=SYSTEM)
            *_, last = engine.ask("bench", asked, sampling, use_cache=use_cache)
            assert isinstance(last, Finished)
            stats = last.stats
            yield Row(
                number,
                stats.prompt_tokens,
                stats.prefilled_tokens,
                stats.ttft_ms,
                stats.tokens_per_second,
            )
    finally:
        engine.close()


def warm_up(chosen: EngineOptions) -> float:
    """Reads some text once so that pages and threads are warm; returns tokens a second."""
    engine = start(replace(chosen, cache_dir=None))
    try:
        turn = Turn(user="The tenant shall pay the rent. " * 40, system=SYSTEM)
        begin = time.perf_counter()
        for _ in engine.ask("", turn, SamplingOptions(max_tokens=8)):
            pass
        return engine.count_tokens(turn.user) / (time.perf_counter() - begin)
    finally:
        engine.close()
