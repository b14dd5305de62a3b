"""The library's documents in SQLite: their rows, pages and chunks. The truth.

A document is written in one transaction, so it is there whole or not at all. Knows no embedder
and no index file.
"""

from __future__ import annotations

import datetime
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rag import chunk_table, page_table
from rag.database import FILE, Database
from rag.errors import UnknownDocument
from rag.raw_page import RawPage
from rag.shelf import Shelf
from rag.types import Chunk, Document, Page
from rag.vectors import Vectors

__all__ = ["FILE", "Draft", "Store"]
_LAST = (1 << 31) - 1
_COLUMNS = "name, path, sha256, pages, chunks, added"


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
    """The documents of one library folder."""

    def __init__(self, folder: Path) -> None:
        """Opens or makes the library; see `Database`."""
        self._database = Database(folder)
        self.close = self._database.close
        self.setting = self._database.setting
        self.set_setting = self._database.set_setting

    @property
    def connection(self) -> sqlite3.Connection:
        """The open connection, for the tables of `history`."""
        return self._database.connection

    # documents

    def documents(self) -> list[Document]:
        """All documents, oldest first."""
        rows = self.connection.execute(f"SELECT {_COLUMNS} FROM documents ORDER BY id")
        return [Document(*row) for row in rows]

    def find(self, *, path: str = "", name: str = "") -> Document | None:
        """The document read from `path`, or called `name`."""
        column, value = ("path", path) if path else ("name", name)
        query = f"SELECT {_COLUMNS} FROM documents WHERE {column} = ?"
        row = self.connection.execute(query, (value,)).fetchone()
        return Document(*row) if row else None

    def page_counts(self, name: str) -> tuple[int, int]:
        """Pages of a document recognised by OCR, and pages without text."""
        query = "SELECT pages_ocr, pages_empty FROM documents WHERE name = ?"
        row = self.connection.execute(query, (name,)).fetchone()
        if row is None:
            raise _unknown(name)
        return int(row[0]), int(row[1])

    def put(self, draft: Draft) -> tuple[list[int], list[int]]:
        """Writes a document in place of one of the same name; returns new and removed chunk ids.

        Raises:
            StoreReadOnly, StoreFull, StoreError: nothing was changed.
        """
        with self._database.transaction() as db:
            removed = self._delete(db, draft.name)
            document = self._insert(db, draft)
            rows = zip(draft.chunks, draft.vectors, strict=True)
            added = [chunk_table.insert(db, document, chunk, vector) for chunk, vector in rows]
            chunk_table.count_words(db, added, 1)
            db.execute("DELETE FROM unfinished")
            page_table.forget_recognised(db)
        return added, removed

    def move(self, name: str, path: str) -> None:
        """Notes that a document's file is now at `path`."""
        with self._database.guard():
            self.connection.execute("UPDATE documents SET path = ? WHERE name = ?", (path, name))

    def remove(self, name: str) -> list[int]:
        """Removes a document; returns the ids of its chunks.

        Raises:
            UnknownDocument: there is none of that name.
        """
        if self.find(name=name) is None:
            raise _unknown(name)
        with self._database.transaction() as db:
            return self._delete(db, name)

    def sizes(self, names: Sequence[str] = ()) -> dict[int, int]:
        """Chunks of each document, by row id; of those named, or of all.

        Raises:
            UnknownDocument: there is none of that name.
        """
        rows = self.connection.execute("SELECT name, id, chunks FROM documents ORDER BY id")
        known = {name: (int(number), int(chunks)) for name, number, chunks in rows}
        for name in names:
            if name not in known:
                raise _unknown(name)
        return dict(known[name] for name in names or known)

    # pages and chunks

    def pages(self, name: str) -> list[Page]:
        """All pages of a document, without where recognised text stands on them."""
        return page_table.load(self.connection, name)

    def page(self, name: str, number: int) -> Page | None:
        """A page by its physical number; None if there is none."""
        return page_table.find(self.connection, name, number)

    def chunks(self, name: str, first: int = 0, last: int = _LAST) -> list[Chunk]:
        """The chunks of a document, in order; those with an ordinal from `first` to `last`."""
        where = "name = ? AND ordinal BETWEEN ? AND ? ORDER BY ordinal"
        return chunk_table.load(self.connection, where, [name, first, last])

    def chunks_by_id(self, ids: Sequence[int]) -> dict[int, Chunk]:
        """The chunks that exist among `ids`."""
        marks = ",".join("?" * len(ids))
        found = chunk_table.load(self.connection, f"chunks.id IN ({marks})", ids)
        return {chunk.id: chunk for chunk in found}

    def size(self) -> int:
        """Chunks of the library."""
        return int(self.connection.execute("SELECT count(*) FROM chunks").fetchone()[0])

    def chunk_ids(self, documents: Sequence[int]) -> list[int]:
        """Ids of all chunks of documents, given by row id."""
        return chunk_table.ids_of(self.connection, documents)

    def shelf(self, document: int) -> Shelf:
        """A document's chunks as the ranking needs them."""
        return chunk_table.shelf(self.connection, self.chunk_ids([document]))

    def shelf_of(self, ids: Sequence[int]) -> Shelf:
        """Some chunks as the ranking needs them; ids of removed ones are left out."""
        return chunk_table.shelf(self.connection, ids)

    def match(self, terms: Sequence[str], limit: int, documents: Sequence[int] = ()) -> list[int]:
        """Ids of the chunks that hold any of `terms`, best by BM25 first."""
        return chunk_table.match(self.connection, terms, limit, documents)

    def word_counts(self, terms: Sequence[str]) -> dict[str, int]:
        """In how many chunks of the library each word stands."""
        return chunk_table.word_counts(self.connection, terms)

    def vectors(self, after: int = 0) -> Iterator[tuple[int, Vectors]]:
        """Id and vector of every chunk with an id above `after`, ascending."""
        return chunk_table.vectors(self.connection, after)

    def replace_vectors(self, ids: Sequence[int], vectors: Vectors) -> None:
        """Writes other vectors for chunks."""
        with self._database.transaction() as db:
            rows = [(v.tobytes(), number) for number, v in zip(ids, vectors, strict=True)]
            db.executemany("UPDATE chunks SET vector = ? WHERE id = ?", rows)

    def unfinished(self, keys: Sequence[bytes]) -> dict[bytes, Vectors]:
        """Vectors that were kept by an ingestion that didn't end."""
        return chunk_table.unfinished(self.connection, keys)

    def keep_unfinished(self, keys: Sequence[bytes], vectors: Vectors) -> None:
        """Keeps vectors of a document that isn't written yet; `put` forgets them."""
        with self._database.transaction() as db:
            rows = [(key, v.tobytes()) for key, v in zip(keys, vectors, strict=True)]
            db.executemany("REPLACE INTO unfinished VALUES (?, ?)", rows)

    def recognised(self, sha256: str) -> dict[int, RawPage]:
        """Pages recognised by an ingestion of that content that didn't end, by number."""
        return page_table.recognised(self.connection, sha256)

    def keep_recognised(self, sha256: str, page: RawPage) -> None:
        """Keeps a recognised page of a document that isn't written yet; `put` forgets all."""
        with self._database.transaction() as db:
            page_table.keep_recognised(db, sha256, page)

    def _insert(self, db: sqlite3.Connection, draft: Draft) -> int:
        statuses = [page.status for page in draft.pages]
        empty = statuses.count("empty") + statuses.count("garbled")
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        number = db.execute(
            "INSERT INTO documents (name, path, sha256, pages, pages_ocr, pages_empty, chunks,"
            " added) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                draft.name,
                draft.path,
                draft.sha256,
                len(draft.pages),
                statuses.count("ocr"),
                empty,
                len(draft.chunks),
                now,
            ),
        ).lastrowid
        assert number is not None
        page_table.insert(db, number, draft.pages)
        return number

    def _delete(self, db: sqlite3.Connection, name: str) -> list[int]:
        row = db.execute("SELECT id FROM documents WHERE name = ?", (name,)).fetchone()
        if row is None:
            return []
        removed = chunk_table.delete(db, int(row[0]))
        db.execute("DELETE FROM documents WHERE id = ?", (row[0],))
        return removed


def _unknown(name: str) -> UnknownDocument:
    return UnknownDocument(f"There is no document called {name!r} in the library; add it first.")
