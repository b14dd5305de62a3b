from __future__ import annotations

import errno
import sqlite3

import pytest

from desktop_app.errors import AppError, ModelMissing, explain
from engine.errors import EngineDied, ModelNotFound
from rag.errors import InvalidQuestion, StoreError


@pytest.mark.parametrize(
    ("error", "message", "hint"),
    [
        (ModelMissing("No model.", "Add one."), "No model.", "Add one."),
        (AppError("a\n b"), "a b", ""),
        (InvalidQuestion("The question is empty; type one."), "The question is empty", ""),
        (ModelNotFound("There is no such file."), "There is no such file.", ""),
        (EngineDied("The engine ended."), "The engine ended.", "Ask again"),
        (OSError(errno.ENOSPC, "No space left"), "The disk is full.", "Free some space"),
        (sqlite3.OperationalError("database or disk is full"), "The disk is full.", "Free"),
        (sqlite3.OperationalError("attempt to write a readonly database"), "permission", "folder"),
        (sqlite3.DatabaseError("file is not a database"), "can't be used", "doctor"),
        (
            PermissionError(errno.EACCES, "denied", "/x"),
            "permission to write or read: /x",
            "rights",
        ),
        (OSError(errno.EROFS, "read-only", "/x"), "No permission", "folder"),
        (FileNotFoundError(errno.ENOENT, "no", "/x"), "no such file: /x", "path"),
        (OSError(errno.EIO, "I/O error"), "I/O error", "try again"),
        (MemoryError(), "out of memory", "smaller"),
        (ModuleNotFoundError("no", name="torch"), "torch", "Install"),
        (ZeroDivisionError("division"), "ZeroDivisionError: division", "--debug"),
    ],
)
def test_every_failure_is_one_line_with_what_to_do(
    error: Exception, message: str, hint: str
) -> None:
    told, to_do = explain(error)
    assert message in told
    assert "\n" not in told
    assert hint in to_do


def test_a_library_on_a_disk_without_a_byte_left() -> None:
    cause = sqlite3.OperationalError("disk I/O error")
    cause.sqlite_errorname = "SQLITE_IOERR_SHMSIZE"
    error = StoreError("The library can't be used (disk I/O error).")
    error.__cause__ = cause
    assert explain(error)[0] == "The disk is full."
    error.__cause__ = sqlite3.OperationalError("disk I/O error")
    assert "I/O error" in explain(error)[0]
