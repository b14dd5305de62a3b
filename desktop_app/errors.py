"""The application's exceptions, and how any failure is told to a user.

AppError
├── UsageError        the command line itself is wrong (exit 2)
└── ModelMissing      no such model, or one that is cut short

`explain` turns every exception into a message and a hint: what is wrong, and what to do. It knows
the error classes of `rag` and `engine`, not their libraries.
"""

from __future__ import annotations

import errno
import sqlite3

from engine.errors import EngineDied, EngineError
from rag.errors import RagError


class AppError(Exception):
    """Root of what `desktop_app` raises on purpose. `hint` says what to do; it may be empty."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class UsageError(AppError):
    """The command line is wrong."""


class ModelMissing(AppError):
    """There is no such model, or it is cut short."""


_DISK_FULL = "The disk is full.", "Free some space and try again; nothing earlier is damaged."


def explain(error: BaseException) -> tuple[str, str]:
    """What is wrong, in one sentence, and what to do (empty if the message says it already)."""
    if isinstance(error, AppError):
        return _line(error), error.hint
    if isinstance(error, EngineDied):
        return _line(error), "Ask again; the conversation is kept."
    if isinstance(error, (EngineError, RagError)):
        return _DISK_FULL if _no_room(error.__cause__) else (_line(error), "")
    if isinstance(error, MemoryError):
        return "The machine is out of memory.", "Close other programs or choose a smaller model."
    if isinstance(error, (OSError, sqlite3.Error)):
        return _system(error)
    if isinstance(error, ModuleNotFoundError):
        return f"A part of the program is missing ({error.name}).", "Install it, or run doctor."
    return (
        f"Something unforeseen went wrong ({type(error).__name__}: {_line(error)}).",
        "Run it again with --debug, or look into the log.",
    )


def _no_room(cause: BaseException | None) -> bool:
    """Whether SQLite could not open a library since not a byte is left; it says "I/O error"."""
    return getattr(cause, "sqlite_errorname", "") == "SQLITE_IOERR_SHMSIZE"


def _system(error: OSError | sqlite3.Error) -> tuple[str, str]:
    text = str(error)
    if getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT) or "is full" in text:
        return _DISK_FULL
    where = getattr(error, "filename", None)
    at = f": {where}" if where else ""
    read_only = getattr(error, "errno", None) == errno.EROFS or "readonly database" in text
    if read_only or isinstance(error, PermissionError):
        return f"No permission to write or read{at}.", "Choose another folder or change its rights."
    if isinstance(error, FileNotFoundError):
        return f"There is no such file{at}.", "Check the path."
    if isinstance(error, sqlite3.DatabaseError):
        return f"The library can't be used ({_line(error)}).", "Run `clausebook doctor`."
    reason = getattr(error, "strerror", None) or _line(error)
    return f"The system refused ({reason}){at}.", "Check it and try again."


def _line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__
