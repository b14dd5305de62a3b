"""What the command line writes: results on stdout, everything else on stderr, UTF-8 always."""

from __future__ import annotations

import dataclasses
import io
import json
import os
import sys
from collections.abc import Mapping
from typing import Any

_BAR = 24


def use_utf8() -> None:
    """UTF-8 on all three streams whatever the locale; what can't be written is escaped.

    A lone surrogate of a file name is escaped as JSON does it, so a JSON string stays right.
    """
    for stream, errors in (
        (sys.stdin, "replace"),
        (sys.stdout, "backslashreplace"),
        (sys.stderr, "backslashreplace"),
    ):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors=errors)


def json_value(value: Any) -> None:
    """The one JSON value of a `--json` command."""
    print(json.dumps(value, ensure_ascii=False, indent=1, default=_plain), flush=True)


def json_line(value: Any) -> None:
    """One line of a `--batch` command, written at once."""
    print(json.dumps(value, ensure_ascii=False, default=_plain), flush=True)


def tell(text: str) -> None:
    """A line for the user that is no result."""
    Status.clear()
    print(text, file=sys.stderr, flush=True)


def complain(message: str, hint: str = "") -> None:
    """What is wrong and what to do, as one line."""
    tell("clausebook: " + " ".join(f"{message} {hint}".split()))


class Status:
    """A line at the bottom of a terminal that is written over; nothing where there is none."""

    _shown = False

    @classmethod
    def show(cls, text: str) -> None:
        if sys.stderr.isatty():
            width = max(20, _columns() - 1)
            print(f"\r\x1b[K{text[:width]}", end="", file=sys.stderr, flush=True)
            cls._shown = True

    @classmethod
    def clear(cls) -> None:
        if cls._shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
            cls._shown = False


def bar(done: int, total: int) -> str:
    """A bar of progress."""
    filled = _BAR * done // total if total else 0
    return "[" + "#" * filled + " " * (_BAR - filled) + "]"


def figures(stats: Mapping[str, object]) -> str:
    """The status line of an answer: what was reused, what was read, how fast."""

    def number(key: str) -> float:
        value = stats.get(key)
        return float(value) if isinstance(value, (int, float)) else 0.0

    parts = [
        f"{number('reused_tokens'):.0f} tokens reused",
        f"{number('prefilled_tokens'):.0f} read",
        f"first word after {number('ttft_ms') / 1000:.2f} s",
    ]
    if number("tokens_per_second"):
        parts.append(f"{number('tokens_per_second'):.0f} tokens/s")
    if number("trimmed_tokens"):
        parts.append(f"{number('trimmed_tokens'):.0f} trimmed")
    if stats.get("restored_from"):
        parts.append(f"restored from {stats['restored_from']}")
    return " · ".join(parts)


def _columns() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns
    except (OSError, ValueError):
        return 80


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    return str(value)
