"""The library's rows in SQLite: documents, pages, chunks with vectors, keywords. The truth.

A document is written in one transaction, so it is there whole or not at all. Knows no embedder
and no index file; SQLite's errors become `StoreError`s with a sentence for the user.
"""

from __future__ import annotations

import datetime
import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rag.errors import StoreError, StoreFull, StoreReadOnly, UnknownDocument
from rag.keywords import words
from rag.migrations import migrate
from rag.protocols import Vectors
from rag.types import Chunk, Document, Page, Span

FILE = "library.sqlite3"


@dataclass(frozen=True, slots=True)
class Draft:
    """A document ready to be written; chunk i has row i of `vectors`."""

    name: str
    path: str
    sha256: str
    pages: Sequence[Page]
    chunks: Sequence[Chunk]
    vectors: Vectors


class Store:
    """One connection to the library's database; use it from the thread that made it."""

    def __init__(self, folder: Path) -> None:
        """Opens or makes the library in `folder`.

        Raises:
            StoreReadOnly, StoreFull, MigrationFailed, StoreError: see `rag.errors`.
        """
        self.folder = folder
        self._db: sqlite3.Connection | None = None
        with self._guard():
            folder.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(folder / FILE, timeout=10, isolation_level=None)
            for pragma in ("journal_mode = WAL", "foreign_keys = ON", "synchronous = NORMAL"):
                self._db.execute(f"PRAGMA {pragma}")
            migrate(self._db, folder / FILE)

    @property
    def connection(self) -> sqlite3.Connection:
        """The open connection, for the tables of `history`."""
        if self._db is None:
            raise StoreError(f"The library {self.folder} is closed.")
        return self._db

    def close(self) -> None:
        """Closes the connection; a second call does nothing."""
        if self._db is not None:
            self._db.close()
            self._db = None

    def setting(self, key: str) -> str:
        """A stored setting; empty if it was never set."""
        row = self.connection.execute("SELECT value FROM settings WHERE key = ?", (key,)).fetchone()
        return row[0] if row else ""

    def set_setting(self, key: str, value: str) -> None:
        """Stores a setting."""
        with self._guard():
            self.connection.execute("REPLACE INTO settings VALUES (?, ?)", (key, value))

    # documents

    def documents(self) -> list[Document]:
        """All documents, oldest first."""
        rows = self.connection.execute(
            "SELECT name, path, sha256, pages, chunks, added FROM documents ORDER BY id"
        )
        return [Document(*row) for row in rows]

    def find(self, *, path: str = "", name: str = "") -> Document | None:
        """The document read from `path`, or called `name`."""
        column, value = ("path", path) if path else ("name", name)
        row = self.connection.execute(
            f"SELECT name, path, sha256, pages, chunks, added FROM documents WHERE {column} = ?",
            (value,),
        ).fetchone()
        return Document(*row) if row else None

    def counts(self, name: str) -> tuple[int, int]:
        """Pages recognised by OCR, and pages without text."""
        row = self.connection.execute(
            "SELECT pages_ocr, pages_empty FROM documents WHERE name = ?", (name,)
        ).fetchone()
        if row is None:
            raise _unknown(name)
        return int(row[0]), int(row[1])

    def put(self, draft: Draft) -> tuple[list[int], list[int]]:
        """Writes a document in place of one of the same name; returns new and removed chunk ids."""
        with self.transaction() as db:
            removed = self._delete(db, draft.name)
            statuses = [page.status for page in draft.pages]
            now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
            document = db.execute(
                "INSERT INTO documents (name, path, sha256, pages, pages_ocr, pages_empty, chunks,"
                " added) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    draft.name,
                    draft.path,
                    draft.sha256,
                    len(draft.pages),
                    statuses.count("ocr"),
                    statuses.count("empty") + statuses.count("garbled"),
                    len(draft.chunks),
                    now,
                ),
            ).lastrowid
            db.executemany(
                "INSERT INTO pages VALUES (?, ?, ?, ?, ?)",
                [(document, p.number, p.printed, p.status, p.text) for p in draft.pages],
            )
            added = [
                self._insert(db, int(document or 0), chunk, vector)
                for chunk, vector in zip(draft.chunks, draft.vectors, strict=True)
            ]
        return added, removed

    def move(self, name: str, path: str) -> None:
        """Notes that a document's file is now at `path`."""
        with self._guard():
            self.connection.execute("UPDATE documents SET path = ? WHERE name = ?", (path, name))

    def remove(self, name: str) -> list[int]:
        """Removes a document; returns the ids of its chunks.

        Raises:
            UnknownDocument: there is none of that name.
        """
        if self.find(name=name) is None:
            raise _unknown(name)
        with self.transaction() as db:
            return self._delete(db, name)

    def document_ids(self, names: Sequence[str]) -> list[int]:
        """Row ids of documents.

        Raises:
            UnknownDocument: there is none of that name.
        """
        found = dict(self.connection.execute("SELECT name, id FROM documents").fetchall())
        for name in names:
            if name not in found:
                raise _unknown(name)
        return [int(found[name]) for name in names]

    # pages and chunks

    def pages(self, name: str) -> list[Page]:
        """All pages of a document."""
        rows = self.connection.execute(
            "SELECT number, pages.text, printed, status FROM pages JOIN documents"
            " ON documents.id = document WHERE name = ? ORDER BY number",
            (name,),
        )
        return [Page(*row) for row in rows]

    def chunks(self, name: str) -> list[Chunk]:
        """All chunks of a document, in order."""
        return self._chunks("name = ? ORDER BY ordinal", [name])

    def chunks_by_id(self, ids: Sequence[int]) -> dict[int, Chunk]:
        """The chunks that exist among `ids`."""
        marks = ",".join("?" * len(ids))
        return {chunk.id: chunk for chunk in self._chunks(f"chunks.id IN ({marks})", ids)}

    def vectors(self, after: int = 0) -> Iterator[tuple[int, Vectors]]:
        """Id and vector of every chunk with an id above `after`, ascending."""
        rows = self.connection.execute(
            "SELECT id, vector FROM chunks WHERE id > ? ORDER BY id", (after,)
        )
        for number, blob in rows:
            yield int(number), np.frombuffer(blob, np.float32)

    def chunk_ids(self, documents: Sequence[int]) -> list[int]:
        """Ids of all chunks of documents, given by row id."""
        marks = ",".join("?" * len(documents))
        rows = self.connection.execute(
            f"SELECT id FROM chunks WHERE document IN ({marks})", documents
        )
        return [int(row[0]) for row in rows]

    def match(self, terms: Sequence[str], limit: int, documents: Sequence[int] = ()) -> list[int]:
        """Ids of the chunks that hold any of `terms`, best by BM25 first."""
        if not terms:
            return []
        query = " OR ".join(f'"{term}"' for term in dict.fromkeys(terms))
        where, values = "", list[object]([query])
        if documents:
            marks = ",".join("?" * len(documents))
            where = f" AND rowid IN (SELECT id FROM chunks WHERE document IN ({marks}))"
            values += documents
        rows = self.connection.execute(
            f"SELECT rowid FROM keywords WHERE keywords MATCH ?{where} ORDER BY rank LIMIT ?",
            [*values, limit],
        )
        return [int(row[0]) for row in rows]

    def replace_vectors(self, ids: Sequence[int], vectors: Vectors) -> None:
        """Writes other vectors for chunks."""
        with self.transaction() as db:
            rows = [(v.tobytes(), i) for i, v in zip(ids, vectors, strict=True)]
            db.executemany("UPDATE chunks SET vector = ? WHERE id = ?", rows)

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """A write transaction: all of it or nothing.

        Raises:
            StoreReadOnly, StoreFull, StoreError
        """
        with self._guard():
            db = self.connection
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise

    def _chunks(self, where: str, values: Sequence[object]) -> list[Chunk]:
        rows = self.connection.execute(
            "SELECT chunks.id, name, ordinal, chunks.text, section, spans FROM chunks"
            f" JOIN documents ON documents.id = document WHERE {where}",
            values,
        )
        return [
            Chunk(i, name, ordinal, text, section, tuple(Span(*s) for s in json.loads(spans)))
            for i, name, ordinal, text, section, spans in rows
        ]

    def _insert(self, db: sqlite3.Connection, document: int, chunk: Chunk, vector: Vectors) -> int:
        spans = json.dumps([(s.page, s.start, s.stop) for s in chunk.spans])
        number = db.execute(
            "INSERT INTO chunks (document, ordinal, section, text, spans, vector)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (document, chunk.ordinal, chunk.section, chunk.text, spans, vector.tobytes()),
        ).lastrowid
        searched = " ".join(words(f"{chunk.section}\n{chunk.text}"))
        db.execute("INSERT INTO keywords (rowid, words) VALUES (?, ?)", (number, searched))
        return int(number or 0)

    def _delete(self, db: sqlite3.Connection, name: str) -> list[int]:
        ids = [
            int(row[0])
            for row in db.execute(
                "SELECT chunks.id FROM chunks JOIN documents ON documents.id = document"
                " WHERE name = ?",
                (name,),
            )
        ]
        db.executemany("DELETE FROM keywords WHERE rowid = ?", [(i,) for i in ids])
        db.execute("DELETE FROM documents WHERE name = ?", (name,))
        return ids

    @contextmanager
    def _guard(self) -> Iterator[None]:
        """Turns SQLite's and the system's errors into sentences for the user."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise _explained(error, self.folder) from error


def _unknown(name: str) -> UnknownDocument:
    return UnknownDocument(f"There is no document called {name!r} in the library; add it first.")


def _explained(error: sqlite3.Error | OSError, folder: Path) -> StoreError:
    text = str(error).lower()
    number = getattr(error, "errno", 0)
    if "readonly" in text or "read-only" in text or number in (13, 30):  # EACCES, EROFS
        return StoreReadOnly(f"The library folder {folder} can't be written to; choose another.")
    if "full" in text or number in (28, 122):  # ENOSPC, EDQUOT
        return StoreFull(f"The disk with {folder} is full; nothing was changed. Free some space.")
    if "unable to open" in text:
        return StoreReadOnly(
            f"The library folder {folder} can't be opened or made; choose another."
        )
    if "locked" in text:
        return StoreError(f"The library {folder} is in use by another program; try again.")
    return StoreError(f"The library {folder} can't be used ({error}); restore it from a backup.")
