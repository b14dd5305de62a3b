"""The log: one rotating file for each kind of process, without text of documents or questions.

Lines are cut at a fixed length and carry no record contents; what a user wrote or read stays in
the library. The log never goes anywhere by itself.
"""

from __future__ import annotations

import logging
import logging.handlers
import sys
from pathlib import Path

_BYTES = 1 << 20
_FILES = 3
_LONGEST = 4000


class _Short(logging.Formatter):
    """Cuts long lines: a traceback fits, a document doesn't."""

    def format(self, record: logging.LogRecord) -> str:
        text = super().format(record)
        return text if len(text) <= _LONGEST else text[:_LONGEST] + " …"


def set_up(folder: Path, process: str, *, debug: bool = False) -> Path | None:
    """Sends the log of this process to `folder`/`process`.log; with `debug`, to stderr as well.

    Returns:
        The file's path, or None where the folder can't be written: the program runs without.
    """
    root = logging.getLogger()
    for handler in [h for h in root.handlers if getattr(h, "clausebook", False)]:
        root.removeHandler(handler)
        handler.close()
    root.setLevel(logging.DEBUG if debug else logging.INFO)
    for noisy in ("faiss", "matplotlib", "PIL", "urllib3", "filelock", "pypdf"):
        logging.getLogger(noisy).setLevel(logging.ERROR)
    path: Path | None = folder / f"{process}.log"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _add(
            logging.handlers.RotatingFileHandler(
                folder / f"{process}.log",
                maxBytes=_BYTES,
                backupCount=_FILES - 1,
                encoding="utf8",
                errors="backslashreplace",
            )
        )
    except OSError:
        path = None
        _add(logging.NullHandler())
    if debug:
        _add(logging.StreamHandler(sys.stderr))
    logging.raiseExceptions = debug  # a full disk must not fill stderr with tracebacks
    return path


def _add(handler: logging.Handler) -> None:
    handler.setFormatter(_Short("%(asctime)s %(levelname)s %(process)d %(name)s: %(message)s"))
    handler.clausebook = True  # type: ignore[attr-defined]
    logging.getLogger().addHandler(handler)
