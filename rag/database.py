"""The library's SQLite file: opened safely, written in transactions, its errors explained.

Knows nothing of what is in the tables; `migrations` makes them.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rag.errors import StoreError, StoreFull, StoreReadOnly
from rag.migrations import migrate

FILE = "library.sqlite3"
_PATIENCE = 10.0  # seconds that one waits for another's lock
_PAUSE = 0.01
_PRAGMAS = (
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
            self._connection = sqlite3.connect(
                folder / FILE, timeout=_PATIENCE, isolation_level=None
            )
            _log_ahead(self._connection)
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


def _log_ahead(connection: sqlite3.Connection) -> None:
    """Switches to the write-ahead log.

    Where two make a library and switch at the same moment, SQLite refuses one of them at once,
    whatever its timeout says: seen twice in 1,200 openings by four threads. So this waits itself.
    """
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(_PAUSE)


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
