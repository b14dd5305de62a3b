"""Time to first token per turn over a conversation: with the cache, without, and how peers do."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

from tests.benchmarks import ours, report
from tests.benchmarks.peers import PEERS, PeerMissing, Row
from tests.benchmarks.script import conversation

ANSWER = 32


def measure(
    model: Path, backend: str, turns: int, threads: int, *, peers: bool, passages: int = 1
) -> dict[str, object]:
    """Runs every way of holding the conversation, one after the other."""
    script = conversation(turns, passages)
    runs: dict[str, list[Row]] = {}
    missing: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        plain = ours.options(model, threads, None, backend)
        ours.warm_up(plain)
        ways = {
            "Clausebook": (plain, {}),
            "Clausebook, restarted before each turn": (
                ours.options(model, threads, Path(folder), backend),
                {"restart": True},
            ),
            "Clausebook, without cache": (plain, {"use_cache": False}),
        }
        for name, (chosen, more) in ways.items():
            runs[name] = _run(name, ours.hold(chosen, script, ANSWER, **more))
    for name, peer in PEERS.items() if peers else ():
        try:
            runs[name] = _run(name, peer(model, script, ANSWER, threads))
        except PeerMissing as error:
            missing[name] = str(error)
    return {
        "benchmark": "turns",
        "model": model.name,
        "backend": backend,
        "threads": threads,
        "answer_tokens": ANSWER,
        "passages_a_turn": passages,
        "runs": {name: [asdict(row) for row in rows] for name, rows in runs.items()},
        "summary": {name: summary(rows) for name, rows in runs.items()},
        "missing": missing,
    }


def summary(rows: Sequence[Row]) -> dict[str, float]:
    """The last turn against the second, and how time grows with turns (ms a turn, from turn 2)."""
    later = [row.ttft_ms for row in rows[1:]]
    gradient, error = report.slope(later) if len(later) > 2 else (0.0, 0.0)
    return {
        "first_ms": rows[0].ttft_ms,
        "second_ms": rows[1].ttft_ms if len(rows) > 1 else 0.0,
        "last_ms": rows[-1].ttft_ms,
        "slope_ms": gradient,
        "slope_error_ms": error,
        "prefilled_tokens": float(sum(row.prefilled_tokens for row in rows)),
        "tokens_per_second": sum(row.tokens_per_second for row in rows) / len(rows),
    }


def tables(result: dict[str, object]) -> str:
    """Two tables: milliseconds to the first token per turn, and the summary."""
    runs: dict[str, list[dict[str, float]]] = result["runs"]  # type: ignore[assignment]
    names = list(runs)
    header = ["turn", "tokens", *(f"({number})" for number in range(1, len(names) + 1))]
    rows = []
    for turn in range(len(runs[names[0]])):
        cells = [round(runs[name][turn]["ttft_ms"]) for name in names]
        rows.append([turn + 1, int(runs[names[0]][turn]["prompt_tokens"]), *cells])
    legend = "\n".join(f"({number}) {name}" for number, name in enumerate(names, start=1))
    totals: dict[str, dict[str, float]] = result["summary"]  # type: ignore[assignment]
    figures = [
        [
            name,
            int(one["prefilled_tokens"]),
            round(one["last_ms"]),
            f"{one['slope_ms']:+.0f} ± {one['slope_error_ms']:.0f}",
            round(one["tokens_per_second"], 1),
        ]
        for name, one in totals.items()
    ]
    columns = ["", "tokens read", "last turn ms", "ms more a turn", "tokens/s"]
    first = report.table(header, rows)
    return f"Milliseconds to the first token\n{first}\n{legend}\n\n{report.table(columns, figures)}"


def _run(name: str, rows: Iterable[Row]) -> list[Row]:
    from desktop_app.cli.output import Status

    found = []
    for row in rows:
        found.append(row)
        Status.show(f"{name}: turn {row.turn}, {row.ttft_ms / 1000:.2f} s to the first token")
    Status.clear()
    return found
