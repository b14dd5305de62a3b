"""The library's file, opened while others use it."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

import pytest

from rag import database
from rag.database import FILE, Database
from rag.errors import StoreError


@pytest.fixture
def holder(tmp_path: Path) -> sqlite3.Connection:
    """Another that makes the library: its file is locked and not switched to the log yet."""
    connection = sqlite3.connect(tmp_path / FILE, isolation_level=None, check_same_thread=False)
    connection.execute("BEGIN EXCLUSIVE")
    return connection


def test_who_comes_second_waits_for_who_makes_the_library(
    tmp_path: Path, holder: sqlite3.Connection
) -> None:
    release = threading.Timer(0.2, holder.execute, ("COMMIT",))
    release.start()
    opened = Database(tmp_path)
    assert not holder.in_transaction
    assert opened.connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert opened.connection.execute("SELECT count(*) FROM documents").fetchone() == (0,)
    opened.close()
    release.join()
    holder.close()


class Refusing:
    """A connection that is refused as often as `times` says, as SQLite does without waiting."""

    def __init__(self, times: int, reason: str = "database is locked") -> None:
        self.left, self.reason = times, reason

    def execute(self, statement: str) -> None:
        if self.left:
            self.left -= 1
            raise sqlite3.OperationalError(self.reason)


def test_a_switch_that_is_refused_at_once_is_tried_again() -> None:
    connection = Refusing(3)
    database._log_ahead(connection)  # type: ignore[arg-type]
    assert connection.left == 0


def test_another_trouble_is_not_tried_again() -> None:
    connection = Refusing(3, "disk I/O error")
    with pytest.raises(sqlite3.OperationalError, match="I/O"):
        database._log_ahead(connection)  # type: ignore[arg-type]
    assert connection.left == 2


def test_a_library_that_stays_locked_is_told(
    tmp_path: Path, holder: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "_PATIENCE", 0.05)
    with pytest.raises(StoreError, match="in use by another program"):
        Database(tmp_path)
    holder.close()
