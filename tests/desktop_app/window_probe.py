"""A fresh process that shows the window and says when it was painted and what it imported."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent.parent
_HEAVY = (
    "torch llama_cpp faiss sentence_transformers onnxruntime numpy pypdfium2 pypdf tokenizers "
    "jinja2 transformers"
).split()
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

application = make_application(["probe"])
state = WindowState(Path(sys.argv[1]) / "window.ini")
client = WorkerClient(WorkerOptions())
window = build_window(application, client, Settings(), state).window
painted = Painted()
window.centralWidget().installEventFilter(painted)
window.show()
while not painted.at:
    application.processEvents()
heavy = [name for name in {_HEAVY!r} if name in sys.modules]
print(json.dumps({{"painted": painted.at, "processor": time.process_time(), "heavy": heavy}}))
"""


@dataclass(frozen=True, slots=True)
class Shown:
    """What one start took.

    Attributes:
        seconds: from the start of the process to the first painting.
        processor: processor time till then, the interpreter's start included: a busy machine
            doesn't stretch it.
        heavy: modules that a window's process must not import, and did.
    """

    seconds: float
    processor: float
    heavy: tuple[str, ...]


def probe(folder: Path, **environment: str) -> Shown:
    """Shows the window once, with its state in `folder`."""
    begun = time.time()
    done = subprocess.run(
        [sys.executable, "-c", _PROBE, str(folder)],
        env=os.environ | environment, cwd=_ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = json.loads(done.stdout.splitlines()[-1])
    return Shown(found["painted"] - begun, found["processor"], tuple(found["heavy"]))
