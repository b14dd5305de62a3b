"""Schema changes of the library, as numbered functions in one list.

A change runs in a transaction after the database has been backed up beside itself; if it fails,
the transaction is rolled back and the library is as it was. Never edit a released change: append.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from rag.errors import MigrationFailed, StoreError

Change = Callable[[sqlite3.Connection], None]


def _documents(db: sqlite3.Connection) -> None:
    """Documents, their pages, and chunks with vectors and keywords."""
    _run(
        db,
        "CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
        """CREATE TABLE documents (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            name TEXT NOT NULL UNIQUE,
            path TEXT NOT NULL,
            sha256 TEXT NOT NULL,
            pages INTEGER NOT NULL,
            pages_ocr INTEGER NOT NULL,
            pages_empty INTEGER NOT NULL,
            chunks INTEGER NOT NULL,
            added TEXT NOT NULL)""",
        "CREATE UNIQUE INDEX documents_path ON documents (path)",
        """CREATE TABLE pages (
            document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
            number INTEGER NOT NULL,
            printed TEXT NOT NULL,
            status TEXT NOT NULL,
            text TEXT NOT NULL,
            PRIMARY KEY (document, number)) WITHOUT ROWID""",
        # AUTOINCREMENT: an id is never used twice, so a stale index can't name another chunk.
        """CREATE TABLE chunks (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
            ordinal INTEGER NOT NULL,
            section TEXT NOT NULL,
            text TEXT NOT NULL,
            spans TEXT NOT NULL,
            vector BLOB NOT NULL)""",
        "CREATE UNIQUE INDEX chunks_place ON chunks (document, ordinal)",
        'CREATE VIRTUAL TABLE keywords USING fts5 (words, tokenize = "unicode61")',
    )


def _history(db: sqlite3.Connection) -> None:
    """Conversations as the user sees them: questions, answers, citations."""
    _run(
        db,
        """CREATE TABLE conversations (
            id TEXT PRIMARY KEY,
            title TEXT NOT NULL DEFAULT '',
            created TEXT NOT NULL,
            used TEXT NOT NULL,
            documents TEXT NOT NULL DEFAULT '[]') WITHOUT ROWID""",
        """CREATE TABLE messages (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            conversation TEXT NOT NULL REFERENCES conversations ON DELETE CASCADE,
            turn INTEGER NOT NULL,
            question TEXT NOT NULL,
            answer TEXT NOT NULL,
            found INTEGER NOT NULL,
            stopped INTEGER NOT NULL,
            citations TEXT NOT NULL DEFAULT '[]',
            stats TEXT NOT NULL DEFAULT '{}',
            created TEXT NOT NULL)""",
        "CREATE UNIQUE INDEX messages_turn ON messages (conversation, turn)",
    )


def _words(db: sqlite3.Connection) -> None:
    """In how many chunks each search word stands, for its rarity without a look at the index."""
    _run(db, "CREATE TABLE words (word TEXT PRIMARY KEY, chunks INTEGER NOT NULL) WITHOUT ROWID")
    counts: Counter[str] = Counter()
    for (held,) in db.execute("SELECT words FROM keywords"):
        counts.update(set(held.split()))
    db.executemany("INSERT INTO words VALUES (?, ?)", counts.items())


def _unfinished(db: sqlite3.Connection) -> None:
    """Vectors of a document that is being read, so that a long one goes on where it was."""
    _run(db, "CREATE TABLE unfinished (key BLOB PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID")


def _pieces(db: sqlite3.Connection) -> None:
    """Where text that was recognised stands on its page."""
    _run(db, "ALTER TABLE pages ADD COLUMN pieces TEXT NOT NULL DEFAULT ''")


def _recognised(db: sqlite3.Connection) -> None:
    """Pages recognised for a document that is being read, so that a long scan goes on."""
    _run(
        db,
        """CREATE TABLE recognised (
            sha256 TEXT NOT NULL,
            number INTEGER NOT NULL,
            text TEXT NOT NULL,
            label TEXT NOT NULL,
            pieces TEXT NOT NULL,
            PRIMARY KEY (sha256, number)) WITHOUT ROWID""",
    )


CHANGES: tuple[Change, ...] = (_documents, _history, _words, _unfinished, _pieces, _recognised)


def migrate(db: sqlite3.Connection, path: Path, changes: Sequence[Change] = CHANGES) -> int:
    """Brings the database at `path` to the newest schema; returns the version it had before.

    Raises:
        MigrationFailed: a change failed; nothing was changed, and a backup is beside the file.
        StoreError: the database was written by a newer version.
    """
    version = int(db.execute("PRAGMA user_version").fetchone()[0])
    if version > len(changes):
        raise StoreError(
            f"The library {path.parent} was written by a newer version of Clausebook; update it."
        )
    if version == len(changes):
        return version
    backup = _back_up(db, path, version) if version else None
    try:
        db.execute("BEGIN IMMEDIATE")
        # Another thread or program may have done some of it while this one waited for the lock.
        done = int(db.execute("PRAGMA user_version").fetchone()[0])
        for number in range(done, len(changes)):
            changes[number](db)
        db.execute(f"PRAGMA user_version = {len(changes)}")
        db.execute("COMMIT")
    except sqlite3.Error as error:
        if db.in_transaction:
            db.execute("ROLLBACK")
        kept = f" A backup is in {backup}." if backup else ""
        raise MigrationFailed(
            f"The library {path.parent} was left as it was: updating it failed ({error}).{kept}"
        ) from error
    return version


def _back_up(db: sqlite3.Connection, path: Path, version: int) -> Path:
    backup = path.with_name(f"{path.stem}.backup-{version}{path.suffix}")
    copy = sqlite3.connect(backup)
    try:
        db.backup(copy)
    finally:
        copy.close()
    return backup


def _run(db: sqlite3.Connection, *statements: str) -> None:
    for statement in statements:
        db.execute(statement)
