"""`clausebook search QUESTION`: the passages that fit a question best, without a model's words."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from desktop_app.cli import batch, output, parser
from desktop_app.errors import UsageError
from rag.types import Hit

_SHOWN = 300


def register(commands: parser.Commands) -> None:
    """Adds the command."""
    command = parser.add_command(commands, "search", run, help="find passages")
    add_question(command)
    command.add_argument("-k", type=_count, default=5, metavar="N", help="how many (default 5)")


def add_question(command: argparse.ArgumentParser) -> None:
    """The options that `search` and `ask` share."""
    command.add_argument("question", nargs="?", metavar="QUESTION")
    command.add_argument(
        "--document",
        action="append",
        default=[],
        metavar="NAME",
        help="look only into this document; may be given several times",
    )
    command.add_argument("--json", action="store_true", help="print JSON")
    command.add_argument(
        "--batch", metavar="FILE", help="questions as JSON lines (- is stdin), answers likewise"
    )


def check_question(arguments: argparse.Namespace) -> None:
    """Raises UsageError unless there is a question or a batch, and not both."""
    if (arguments.question is None) == (arguments.batch is None):
        raise UsageError("Either a question or --batch FILE is wanted.")


def run(arguments: argparse.Namespace) -> int:
    """Runs the command."""
    from desktop_app.cli.main import FAILED, compose

    check_question(arguments)
    library = compose(arguments).open_library()

    def answer(row: batch.Row) -> dict[str, Any]:
        documents = row.documents or tuple(arguments.document)
        return {"hits": plain(library.search(row.question, documents, arguments.k))}

    try:
        if arguments.batch is not None:
            return FAILED if batch.run(arguments.batch, answer, {"hits": []}) else 0
        hits = library.search(arguments.question, arguments.document, arguments.k)
    finally:
        library.close()
    if arguments.json:
        output.json_value({"hits": plain(hits)})
    else:
        for number, hit in enumerate(hits, 1):
            print(f"{number}. {describe(hit)}\n   {shorten(hit.chunk.text)}\n")
    return 0


def plain(hits: Sequence[Hit]) -> list[dict[str, Any]]:
    """Hits as `--json` prints them."""
    return [
        {
            "document": hit.chunk.document,
            "page": hit.chunk.page,
            "pages": list(hit.chunk.pages),
            "text": hit.chunk.text,
            "score": round(float(hit.score), 6),
        }
        for hit in hits
    ]


def describe(hit: Hit) -> str:
    """Where a hit stands."""
    pages = hit.chunk.pages
    place = f"p. {pages[0]}" if len(pages) == 1 else f"pp. {pages[0]}–{pages[-1]}"
    section = f" · {hit.chunk.section}" if hit.chunk.section else ""
    return f"{hit.chunk.document}, {place}{section}"


def shorten(text: str, most: int = _SHOWN) -> str:
    """A text in one line of at most `most` characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def _count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 1000:
        raise argparse.ArgumentTypeError(f"-k must be 1 to 1000, not {text}")
    return int(text)
