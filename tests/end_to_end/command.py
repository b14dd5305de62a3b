"""Runs the program as a user does: the real command line, in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 280


class Program:
    """`clausebook` with a home of its own, given to it in the environment."""

    def __init__(self, home: Path, environment: Mapping[str, str] = {}) -> None:
        self.home = home
        self.environment = os.environ | {"CLAUSEBOOK_HOME": str(home), **environment}

    def run(self, *words: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
        """Runs a command to its end, whatever the exit code."""
        command = [sys.executable, "-m", "desktop_app", *words]
        return subprocess.run(
            command,
            input=text,
            capture_output=True,
            text=True,
            cwd=ROOT,
            env=self.environment,
            timeout=SECONDS,
            check=False,
        )

    def json(self, *words: str) -> Any:
        """What a command prints with --json; it must end well."""
        done = self.run(*words, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def batch(self, verb: str, rows: Sequence[dict[str, Any]], folder: Path) -> list[Any]:
        """One answer for each row, in order."""
        path = folder / "batch.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf8")
        done = self.run(verb, "--batch", str(path), "--json")
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]
