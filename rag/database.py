"""The library's SQLite file: opened safely, written in transactions, its errors explained.

Knows nothing of what is in the tables; `migrations` makes them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rag.errors import StoreError, StoreFull, StoreReadOnly
from rag.migrations import migrate

FILE = "library.sqlite3"
_PRAGMAS = (
    "journal_mode = WAL",
    "foreign_keys = ON",
    "synchronous = NORMAL",
    "temp_store = MEMORY",
)


class Database:
    """One connection; use it from the thread that made it."""

    def __init__(self, folder: Path) -> None:
        """Opens or makes the library in `folder`.

        Raises:
            StoreReadOnly, StoreFull, MigrationFailed, StoreError: see `rag.errors`.
        """
        self.folder = folder
        self._connection: sqlite3.Connection | None = None
        with self.guard():
            folder.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(folder / FILE, timeout=10, isolation_level=None)
            for pragma in _PRAGMAS:
                self._connection.execute(f"PRAGMA {pragma}")
            migrate(self._connection, folder / FILE)

    @property
    def connection(self) -> sqlite3.Connection:
        """The open connection.

        Raises:
            StoreError: the library was closed.
        """
        if self._connection is None:
            raise StoreError(f"The library {self.folder} is closed; open it again.")
        return self._connection

    def close(self) -> None:
        """Closes the connection; a second call does nothing."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def setting(self, key: str) -> str:
        """A stored setting; empty if it was never set."""
        row = self.connection.execute("SELECT value FROM settings WHERE key = ?", (key,)).fetchone()
        return str(row[0]) if row else ""

    def set_setting(self, key: str, value: str) -> None:
        """Stores a setting."""
        with self.guard():
            self.connection.execute("REPLACE INTO settings VALUES (?, ?)", (key, value))

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """A write transaction: all of it or nothing.

        Raises:
            StoreReadOnly, StoreFull, StoreError: nothing was changed.
        """
        with self.guard():
            db = self.connection
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise

    @contextmanager
    def guard(self) -> Iterator[None]:
        """Turns SQLite's and the system's errors into sentences for the user."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise _explained(error, self.folder) from error


def _explained(error: sqlite3.Error | OSError, folder: Path) -> StoreError:
    text = str(error).lower()
    number = getattr(error, "errno", 0)
    shared = getattr(error, "sqlite_errorname", "") == "SQLITE_IOERR_SHMSIZE"  # no room for it
    if "full" in text or shared or number in (28, 122):  # ENOSPC, EDQUOT
        return StoreFull(
            f"The disk with {folder} is full and nothing was changed; free some space."
        )
    if "readonly" in text or "unable to open" in text or number in (13, 17, 20, 30):
        return StoreReadOnly(f"The library folder {folder} can't be written to; choose another.")
    if "locked" in text:
        return StoreError(f"The library {folder} is in use by another program; try again.")
    return StoreError(f"The library {folder} can't be used ({error}); restore it from a backup.")
