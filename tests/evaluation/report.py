"""Tables of figures: printed, written as JSON, compared with the last run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from tests.evaluation.questions import ROOT

FOLDER = ROOT / "build" / "evaluation"
Table = Mapping[str, Mapping[str, float | int | None]]


def report(name: str, table: Table, folder: Path = FOLDER) -> str:
    """Writes `<name>.json`, keeps the one before, and returns the table with what has changed."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    before: Table = {}
    if path.exists():
        before = json.loads(path.read_text(encoding="utf-8"))
        path.replace(folder / f"{name}.previous.json")
    path.write_text(json.dumps(table, indent=1, ensure_ascii=False), encoding="utf-8")
    return layout(table, before)


def layout(table: Table, before: Table) -> str:
    """The table as text; a figure that differs from the last run has the difference beside it."""
    columns = list(dict.fromkeys(column for row in table.values() for column in row))
    cells = [["", *columns]]
    for label, row in table.items():
        last = before.get(label, {})
        cells.append([label, *(_cell(row.get(c), last.get(c)) for c in columns)])
    widths = [max(len(line[i]) for line in cells) for i in range(len(cells[0]))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in cells
    )


def _cell(value: float | int | None, last: float | int | None) -> str:
    if value is None:
        return "-"
    text = f"{value:g}" if isinstance(value, int) else f"{value:.3f}".rstrip("0").rstrip(".")
    if last is None or abs(value - last) < 5e-4:
        return text
    return f"{text} ({value - last:+.3f})"
