import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag.errors import MigrationFailed, StoreError
from rag.migrations import CHANGES, migrate


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "library.sqlite3"


@pytest.fixture
def db(path: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(path, isolation_level=None)
    yield connection
    connection.close()


def tables(db: sqlite3.Connection) -> set[str]:
    return {row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def test_a_new_library_gets_every_change_and_no_backup(db: sqlite3.Connection, path: Path) -> None:
    assert migrate(db, path) == 0
    assert {"documents", "pages", "chunks", "keywords", "conversations", "messages"} <= tables(db)
    assert db.execute("PRAGMA user_version").fetchone()[0] == len(CHANGES)
    assert list(path.parent.glob("*.backup-*")) == []


def test_a_second_run_changes_nothing(db: sqlite3.Connection, path: Path) -> None:
    migrate(db, path)
    before = db.total_changes
    assert migrate(db, path) == len(CHANGES)
    assert db.total_changes == before


def test_an_old_library_is_backed_up_and_only_what_is_new_runs(
    db: sqlite3.Connection, path: Path
) -> None:
    migrate(db, path, CHANGES[:1])
    db.execute("INSERT INTO settings VALUES ('kept', 'yes')")
    migrate(db, path)
    assert "messages" in tables(db)
    assert db.execute("SELECT value FROM settings").fetchall() == [("yes",)]
    (backup,) = path.parent.glob("*.backup-1*")
    copy = sqlite3.connect(backup)
    assert "messages" not in tables(copy)
    assert copy.execute("SELECT value FROM settings").fetchall() == [("yes",)]
    copy.close()


def test_a_failed_change_leaves_the_library_as_it_was(db: sqlite3.Connection, path: Path) -> None:
    def half(db: sqlite3.Connection) -> None:
        db.execute("CREATE TABLE half_done (x)")
        db.execute("SELECT * FROM nowhere")

    migrate(db, path)
    with pytest.raises(MigrationFailed, match=r"left as it was.*backup"):
        migrate(db, path, (*CHANGES, half))
    assert "half_done" not in tables(db)
    assert migrate(db, path) == len(CHANGES)


def test_a_library_of_a_newer_version_is_not_touched(db: sqlite3.Connection, path: Path) -> None:
    db.execute("PRAGMA user_version = 99")
    with pytest.raises(StoreError, match="newer version"):
        migrate(db, path)
    assert tables(db) == set()
