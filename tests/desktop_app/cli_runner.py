"""Runs the command line inside the test's process, with the fakes in place of the models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from desktop_app.cli.main import main
from tests.desktop_app.fakes import FakeEngine, fakes


class Cli:
    """Runs commands in this process, on a library of the test's own."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.library = folder / "library"
        self.engines: list[FakeEngine] = []
        self.reply = "Within thirty days after receipt."
        self.pace = 0.0
        self._capsys = capsys

    def __call__(self, *argv: str | Path) -> int:
        self.code = main(
            [*map(str, argv), "--library", str(self.library)],
            fakes(self._engine),
        )
        self.out, self.err = self._capsys.readouterr()
        return self.code

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]

    def _engine(self, options: Any, on_notice: Any) -> FakeEngine:
        self.engines.append(FakeEngine(options, on_notice, self.reply, self.pace))
        return self.engines[-1]


def batch(folder: Path, *rows: object) -> Path:
    path = folder / "batch.jsonl"
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("\n".join(lines), encoding="utf8")
    return path
