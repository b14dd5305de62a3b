"""Rows of chunks, with their vectors, keywords and the count of each word over the library.

Functions over a connection; those that write expect to be inside a transaction.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from rag.keywords import words
from rag.shelf import Row, Shelf
from rag.types import Chunk, Span
from rag.vectors import Vectors

_MOST_VALUES = 900  # values in one statement; old SQLite allows 999


def insert(db: sqlite3.Connection, document: int, chunk: Chunk, vector: Vectors) -> int:
    """Adds a chunk of the document with that row id; returns the chunk's id."""
    spans = json.dumps([(s.page, s.start, s.stop) for s in chunk.spans])
    number = db.execute(
        "INSERT INTO chunks (document, ordinal, section, text, spans, vector)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (document, chunk.ordinal, chunk.section, chunk.text, spans, vector.tobytes()),
    ).lastrowid
    assert number is not None
    held = words(f"{chunk.section}\n{chunk.text}")
    db.execute("INSERT INTO keywords (rowid, words) VALUES (?, ?)", (number, " ".join(held)))
    return number


def count_words(db: sqlite3.Connection, chunks: Sequence[int], by: int) -> None:
    """Adds `by` (1 or -1) to the count of each word that each of the chunks holds."""
    totals: Counter[str] = Counter()
    for held in _held(db, chunks).values():
        totals.update(set(held))
    db.executemany(
        "INSERT INTO words VALUES (?, ?) ON CONFLICT (word) DO UPDATE SET chunks = chunks + ?",
        [(word, by * count, by * count) for word, count in totals.items()],
    )
    db.execute("DELETE FROM words WHERE chunks <= 0")


def delete(db: sqlite3.Connection, document: int) -> list[int]:
    """Removes the chunks of a document; returns their ids."""
    ids = ids_of(db, [document])
    count_words(db, ids, -1)
    db.executemany("DELETE FROM keywords WHERE rowid = ?", [(number,) for number in ids])
    db.execute("DELETE FROM chunks WHERE document = ?", (document,))
    return ids


def ids_of(db: sqlite3.Connection, documents: Sequence[int]) -> list[int]:
    """Ids of all chunks of documents, given by row id."""
    marks = ",".join("?" * len(documents))
    query = f"SELECT id FROM chunks WHERE document IN ({marks}) ORDER BY id"
    return [int(row[0]) for row in db.execute(query, documents)]


def load(db: sqlite3.Connection, where: str, values: Sequence[object]) -> list[Chunk]:
    """The chunks that meet a condition over `chunks` and `documents.name`."""
    rows = db.execute(
        "SELECT chunks.id, name, ordinal, chunks.text, section, spans FROM chunks"
        f" JOIN documents ON documents.id = document WHERE {where}",
        values,
    )
    return [
        Chunk(number, name, ordinal, text, section, tuple(Span(*s) for s in json.loads(spans)))
        for number, name, ordinal, text, section, spans in rows
    ]


def vectors(db: sqlite3.Connection, after: int) -> Iterator[tuple[int, Vectors]]:
    """Id and vector of every chunk with an id above `after`, ascending."""
    rows = db.execute("SELECT id, vector FROM chunks WHERE id > ? ORDER BY id", (after,))
    for number, blob in rows:
        yield int(number), np.frombuffer(blob, np.float32)


def shelf(db: sqlite3.Connection, ids: Sequence[int]) -> Shelf:
    """The chunks of these ids as the ranking needs them."""
    rows: list[Row] = []
    blobs: list[bytes] = []
    held = _held(db, ids)
    for part in _parts(ids):
        marks = ",".join("?" * len(part))
        query = f"SELECT id, ordinal, text, section, vector FROM chunks WHERE id IN ({marks})"
        for number, ordinal, text, section, blob in db.execute(query, part):
            rows.append(Row(number, ordinal, text, section, held.get(number, ())))
            blobs.append(blob)
    dimension = len(blobs[0]) // 4 if blobs else 0
    matrix = np.frombuffer(b"".join(blobs), np.float32).reshape(len(rows), dimension)
    return Shelf(rows, matrix)


def match(
    db: sqlite3.Connection, terms: Sequence[str], limit: int, documents: Sequence[int]
) -> list[int]:
    """Ids of the chunks that hold any of `terms`, best by BM25 first; of `documents` if given."""
    if not terms:
        return []
    where = ""
    values: list[object] = [" OR ".join(f'"{term}"' for term in dict.fromkeys(terms))]
    if documents:
        marks = ",".join("?" * len(documents))
        where = f" AND rowid IN (SELECT id FROM chunks WHERE document IN ({marks}))"
        values += documents
    query = f"SELECT rowid FROM keywords WHERE keywords MATCH ?{where} ORDER BY rank LIMIT ?"
    return [int(row[0]) for row in db.execute(query, [*values, limit])]


def word_counts(db: sqlite3.Connection, terms: Sequence[str]) -> dict[str, int]:
    """In how many chunks of the library each word stands; words in none are left out."""
    marks = ",".join("?" * len(terms))
    return dict(db.execute(f"SELECT word, chunks FROM words WHERE word IN ({marks})", terms))


def unfinished(db: sqlite3.Connection, keys: Sequence[bytes]) -> dict[bytes, Vectors]:
    """The vectors that are kept under some of the keys."""
    found: dict[bytes, Vectors] = {}
    for start in range(0, len(keys), _MOST_VALUES):
        part = keys[start : start + _MOST_VALUES]
        marks = ",".join("?" * len(part))
        query = f"SELECT key, vector FROM unfinished WHERE key IN ({marks})"
        found.update(
            (key, np.frombuffer(blob, np.float32)) for key, blob in db.execute(query, part)
        )
    return found


def _held(db: sqlite3.Connection, ids: Sequence[int]) -> dict[int, list[str]]:
    held: dict[int, list[str]] = {}
    for part in _parts(ids):
        marks = ",".join("?" * len(part))
        query = f"SELECT rowid, words FROM keywords WHERE rowid IN ({marks})"
        held.update((number, text.split()) for number, text in db.execute(query, part))
    return held


def _parts(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    for start in range(0, len(ids), _MOST_VALUES):
        yield ids[start : start + _MOST_VALUES]
