"""The rows of pages, and of pages recognised for a document that isn't written yet.

Knows the two tables; `store` knows when they change.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from rag.raw_page import Piece, RawPage
from rag.types import Page

_OF = "FROM pages JOIN documents ON documents.id = document WHERE name = ?"


def insert(db: sqlite3.Connection, document: int, pages: Sequence[Page]) -> None:
    """Writes the pages of a document."""
    db.executemany(
        "INSERT INTO pages (document, number, printed, status, text, pieces)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        [(document, p.number, p.printed, p.status, p.text, _packed(p.pieces)) for p in pages],
    )


def load(db: sqlite3.Connection, name: str) -> list[Page]:
    """All pages of a document, without where recognised text stands on them."""
    query = f"SELECT number, pages.text, printed, status {_OF} ORDER BY number"
    return [Page(*row) for row in db.execute(query, (name,))]


def find(db: sqlite3.Connection, name: str, number: int) -> Page | None:
    """A page by its physical number; None if there is none."""
    query = f"SELECT number, pages.text, printed, status, pieces {_OF} AND number = ?"
    row = db.execute(query, (name, number)).fetchone()
    return Page(row[0], row[1], row[2], row[3], _unpacked(row[4])) if row else None


def recognised(db: sqlite3.Connection, sha256: str) -> dict[int, RawPage]:
    """Pages that were recognised for the file with that content, by number."""
    query = "SELECT number, text, label, pieces FROM recognised WHERE sha256 = ?"
    return {
        number: RawPage(number, text, label, _unpacked(pieces))
        for number, text, label, pieces in db.execute(query, (sha256,))
    }


def keep_recognised(db: sqlite3.Connection, sha256: str, page: RawPage) -> None:
    """Keeps a page that was recognised."""
    row = (sha256, page.number, page.text, page.label, _packed(page.pieces))
    db.execute("REPLACE INTO recognised VALUES (?, ?, ?, ?, ?)", row)


def forget_recognised(db: sqlite3.Connection) -> None:
    """Forgets the pages kept: no text of a file that was given up stays for long."""
    db.execute("DELETE FROM recognised")


def _packed(pieces: Sequence[Piece]) -> str:
    """Pieces as they are kept; to a tenth of a point."""
    rows = [(p.text, *(round(side, 1) for side in (p.x0, p.y0, p.x1, p.y1))) for p in pieces]
    return json.dumps(rows, ensure_ascii=False) if rows else ""


def _unpacked(text: str) -> tuple[Piece, ...]:
    return tuple(Piece(*row) for row in json.loads(text or "[]"))
