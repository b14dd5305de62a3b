"""`clausebook bench turns|restore|decode|memory`: the benchmarks, from a checkout.

They live with the tests, so an installed program hasn't got them and says where they are.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from pathlib import Path
from typing import Any

from desktop_app.cli import output, parser
from desktop_app.errors import UsageError

_ROOT = Path(__file__).resolve().parents[2]
_PLACE = "tests/benchmarks"


def register(commands: parser.Commands) -> None:
    """Adds the command and its kinds."""
    command = parser.add_command(
        commands, "bench", usage, help="measure speed and memory (from a checkout)"
    )
    kinds = command.add_subparsers(metavar="KIND")
    for kind, text in (
        ("turns", "time to first token over a conversation, cached and not, and peers"),
        ("restore", "restoring a conversation from disk against reading it again"),
        ("decode", "tokens a second by the length of what stands before"),
        ("memory", "memory and disk of a growing conversation"),
    ):
        one = parser.add_command(kinds, kind, run, parser.model_options(), help=text)
        one.set_defaults(kind=kind)
        one.add_argument("--threads", type=int, default=0, help="CPU threads (default: all cores)")
        one.add_argument("--turns", type=int, default=12, help="turns of the conversation")
        one.add_argument(
            "--passages", type=int, default=1, help="passages of about 110 tokens in each turn"
        )
        one.add_argument("--no-peers", action="store_true", help="measure Clausebook only")
        one.add_argument("--output", metavar="FILE", type=Path, help="write the figures as JSON")
        one.add_argument("--json", action="store_true", help="print JSON instead of tables")


def usage(arguments: argparse.Namespace) -> int:
    """Without a kind."""
    raise UsageError("say what to measure: turns, restore, decode or memory")


def run(arguments: argparse.Namespace) -> int:
    """Runs one benchmark."""
    from desktop_app import models

    if not (_ROOT / _PLACE).is_dir():
        raise UsageError(f"the benchmarks are in {_PLACE} of the source; run it from a checkout")
    if arguments.turns < 3:
        raise UsageError(f"a conversation of {arguments.turns} turns is too short; take 3 or more")
    sys.path.insert(0, str(_ROOT))
    module = importlib.import_module(f"tests.benchmarks.bench_{arguments.kind}")
    report = importlib.import_module("tests.benchmarks.report")
    threads = arguments.threads or os.cpu_count() or 1
    backend = arguments.backend if arguments.backend not in ("", "auto") else "llama.cpp"
    model = models.find_language_model(arguments.model)
    options: dict[str, Any] = {"threads": threads}
    if arguments.kind != "restore":
        options["peers"] = not arguments.no_peers
    if arguments.kind in ("turns", "memory"):
        options["turns"] = arguments.turns
    if arguments.kind == "turns":
        options["passages"] = arguments.passages
    result = {"machine": report.machine(), **module.measure(model, backend, **options)}
    if arguments.output:
        report.write_json(arguments.output, result)
    if arguments.json:
        output.json_value(result)
    else:
        print(module.tables(result))
    return 0
