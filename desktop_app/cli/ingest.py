"""`clausebook ingest PATH...`: adds files and the files in folders to the library."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from desktop_app.cli import output, parser
from rag.types import IngestProgress, IngestResult

if TYPE_CHECKING:
    from rag.library import Library


def register(commands: parser.Commands) -> None:
    """Adds the command."""
    command = parser.add_command(commands, "ingest", run, help="add files and folders")
    command.add_argument("paths", nargs="+", metavar="PATH", type=Path)
    command.add_argument("--password", metavar="PW", help="for a locked PDF")
    command.add_argument("--json", action="store_true", help="print the results as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Runs the command."""
    from desktop_app.cli.main import FAILED, compose

    composition = compose(arguments)
    library = composition.open_library()
    try:
        results = add_files(
            library, arguments.paths, arguments.password, quiet=bool(arguments.json)
        )
    finally:
        library.close()
    if arguments.json:
        output.json_value([dataclasses.asdict(r) for r in results])
    bad = [r for r in results if r.status in ("failed", "needs_password")]
    for result in bad:
        output.complain(f"{result.path}: {result.error}")
    if not results:
        output.complain("There is nothing to add in the folders given.", "Name files or others.")
    return FAILED if bad or not results else 0


def add_files(
    library: Library, paths: Iterable[Path], password: str | None = None, *, quiet: bool = False
) -> list[IngestResult]:
    """Adds files, showing progress on stderr and, unless `quiet`, each good file on stdout."""
    results = []
    for event in library.ingest(list(paths), password):
        if isinstance(event, IngestProgress):
            name = Path(event.path).name
            shown = output.bar(event.done, event.total)
            output.Status.show(f"{name}: {event.stage} {shown} {event.done}/{event.total}")
            continue
        output.Status.clear()
        results.append(event)
        if not quiet and event.status in ("ready", "unchanged"):
            print(describe(event), flush=True)
    return results


def describe(result: IngestResult) -> str:
    """A line about a file that was added."""
    parts = [f"{result.pages} pages", f"{result.chunks} passages"]
    if result.pages_ocr:
        parts.append(f"{result.pages_ocr} pages recognised from images")
    if result.pages_empty:
        parts.append(f"{result.pages_empty} pages without text")
    if result.status == "ready":
        parts.append(f"{result.seconds:.1f} s")
    return f"{result.status}: {result.document} ({', '.join(parts)})"
