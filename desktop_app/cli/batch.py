"""`--batch FILE`: JSON lines in, one JSON line each out, in order; a bad row doesn't end it."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from desktop_app.cli import output
from desktop_app.errors import UsageError, explain

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Row:
    """A question of a batch; `error` says why it can't be asked."""

    id: Any = None
    question: str = ""
    documents: tuple[str, ...] = ()
    conversation: str = ""
    error: str = ""


def read(path: str) -> Iterator[Row]:
    """The rows of a file of JSON lines ("-" is stdin); an unreadable line is a row with an error.

    Raises:
        UsageError: there is no such file.
    """
    if path == "-":
        yield from _rows(line.encode("utf8", "replace") for line in sys.stdin)
        return
    try:
        with Path(path).open("rb") as file:
            yield from _rows(file)
    except OSError as error:
        reason = error.strerror or "it can't be read"
        raise UsageError(f"The batch file {path} can't be read: {reason}.") from error


def run(path: str, answer: Callable[[Row], dict[str, Any]], empty: dict[str, Any]) -> int:
    """Answers every row, writing each line at once; returns how many rows failed.

    Args:
        path: see `read`.
        answer: the fields of a row's line.
        empty: the fields of a row that failed, besides id and error.
    """
    failed = 0
    for row in read(path):
        fields: dict[str, Any]
        if row.error:
            failed += 1
            fields = {"error": row.error, **empty}
        else:
            try:
                fields = answer(row)
            except BrokenPipeError:
                raise
            except Exception as error:  # a row's failure is the row's
                logger.exception("a row of a batch failed")
                failed += 1
                fields = {"error": " ".join(part for part in explain(error) if part), **empty}
        output.json_line({"id": row.id, **fields})
    if failed:
        output.complain(f"{failed} of the batch's rows failed; each says why in its line.")
    return failed


def _rows(lines: Iterable[bytes]) -> Iterator[Row]:
    for number, line in enumerate(lines, 1):
        if line.strip(b"\xef\xbb\xbf \t\r\n"):
            yield _row(line, number)


def _row(line: bytes, number: int) -> Row:
    try:
        value = json.loads(line.decode("utf-8-sig"))
    except ValueError:
        return Row(error=f"Line {number} of the batch is not JSON.")
    if not isinstance(value, dict):
        return Row(error=f"Line {number} of the batch is not a JSON object.")
    row = value.get("id")
    question, conversation = value.get("question", ""), value.get("conversation") or ""
    documents = value.get("document") or []
    documents = [documents] if isinstance(documents, str) else documents
    if not isinstance(question, str):
        return Row(row, error="The question must be a text.")
    if not isinstance(conversation, str):
        return Row(row, error="The conversation must be a text.")
    if not isinstance(documents, list) or not all(isinstance(d, str) for d in documents):
        return Row(row, error="The document must be a name or a list of names.")
    return Row(row, question, tuple(documents), conversation)
