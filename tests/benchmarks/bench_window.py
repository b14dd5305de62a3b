"""Seconds from the start of the process to the painted window, and what the process imported.

    xvfb-run -a python -m tests.benchmarks.bench_window [--runs 5]

The first run may read from a cold disk. Without a display it is measured offscreen, and said so.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent.parent
_HEAVY = ("torch", "llama_cpp", "faiss", "sentence_transformers", "numpy", "onnxruntime")
_PROBE = f"""
import json, sys, time
from pathlib import Path
from PySide6.QtCore import QEvent, QObject
from desktop_app.settings import Settings
from desktop_app.window.app import build_window, make_application
from desktop_app.window.window_state import WindowState
from desktop_app.worker_client import WorkerClient, WorkerOptions

class Painted(QObject):
    at = 0.0
    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.Paint:
            self.at = self.at or time.time()
        return False

application = make_application(["bench"])
state = WindowState(Path(sys.argv[1]) / "window.ini")
make = lambda on_reply: WorkerClient(WorkerOptions(), on_reply)
window = build_window(application, make, Settings(), state).window
painted = Painted()
window.centralWidget().installEventFilter(painted)
window.show()
while not painted.at:
    application.processEvents()
heavy = [name for name in {_HEAVY!r} if name in sys.modules]
print(json.dumps({{"painted": painted.at, "processor": time.process_time(), "heavy": heavy}}))
"""


def measure(runs: int) -> list[dict[str, object]]:
    """One record a run: seconds until painted, seconds of processor time, heavy modules."""
    environment = os.environ.copy()
    if "DISPLAY" not in environment:
        environment["QT_QPA_PLATFORM"] = "offscreen"
    rows = []
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as folder:
            begun = time.time()
            done = subprocess.run(
                [sys.executable, "-c", _PROBE, folder],
                env=environment, cwd=_ROOT, capture_output=True, text=True, check=True,
            )  # fmt: skip
        found = json.loads(done.stdout.splitlines()[-1])
        rows.append(
            {
                "seconds": round(found["painted"] - begun, 3),
                "processor": round(found["processor"], 3),
                "heavy": found["heavy"],
            }
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    display = "a display" if "DISPLAY" in os.environ else "offscreen"
    print(json.dumps({"on": display, "runs": measure(parser.parse_args().runs)}, indent=1))


if __name__ == "__main__":
    main()
