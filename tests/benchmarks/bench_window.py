"""Seconds from the start of the process to the painted window, and what the process imported.

    xvfb-run -a python -m tests.benchmarks.bench_window [--runs 5]

The first run may read from a cold disk. Without a display it is measured offscreen, and said so.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from dataclasses import asdict
from pathlib import Path

from tests.desktop_app.window_probe import Shown, probe


def measure(runs: int) -> list[Shown]:
    """One record a run."""
    environment = {} if "DISPLAY" in os.environ else {"QT_QPA_PLATFORM": "offscreen"}
    rows = []
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as folder:
            rows.append(probe(Path(folder), **environment))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    display = "a display" if "DISPLAY" in os.environ else "offscreen"
    rows = [asdict(row) for row in measure(parser.parse_args().runs)]
    print(json.dumps({"on": display, "runs": rows}, indent=1))


if __name__ == "__main__":
    main()
