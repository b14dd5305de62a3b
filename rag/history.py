"""Conversations as the user saw them: questions, answers, citations, figures.

It is the text for people; what the model has read is the engine's. Works on the connection of the
library that it belongs to, so each thread has its own. Knows no model and no screen.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

from rag.errors import StoreError, StoreFull, StoreReadOnly
from rag.types import Answer, Citation, Span

_ENTRY = """SELECT id, title, created, used, documents,
    (SELECT count(*) FROM messages WHERE conversation = conversations.id) FROM conversations"""


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation of the list. Times are ISO 8601 in UTC.

    Attributes:
        documents: names of the documents it is restricted to; empty if it isn't.
        turns: how many questions were answered.
    """

    id: str
    title: str
    created: str
    used: str
    documents: tuple[str, ...]
    turns: int


@dataclass(frozen=True, slots=True)
class Message:
    """A question and its answer; `turn` counts from 0."""

    turn: int
    question: str
    answer: Answer


class History:
    """The conversations of a library."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection

    def conversations(self) -> list[Conversation]:
        """All of them, the one used last first."""
        rows = self._db.execute(f"{_ENTRY} ORDER BY used DESC, id").fetchall()
        return [_conversation(row) for row in rows]

    def find(self, id: str) -> Conversation | None:  # noqa: A002
        """The conversation of that id, or None."""
        row = self._db.execute(f"{_ENTRY} WHERE id = ?", (id,)).fetchone()
        return _conversation(row) if row else None

    def begin(self, id: str, title: str = "", documents: Sequence[str] = ()) -> Conversation:  # noqa: A002
        """The conversation of that id; it is made if there is none."""
        now = _now()
        with _told():
            self._db.execute(
                "INSERT INTO conversations VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
                (id, title, now, now, json.dumps(list(documents))),
            )
        found = self.find(id)
        assert found is not None
        return found

    def rename(self, id: str, title: str) -> None:  # noqa: A002
        """Gives a conversation a title; an unknown id is ignored."""
        with _told():
            self._db.execute("UPDATE conversations SET title = ? WHERE id = ?", (title, id))

    def delete(self, id: str) -> None:  # noqa: A002
        """Forgets a conversation with its messages; an unknown id is ignored."""
        with _told():
            self._db.execute("DELETE FROM conversations WHERE id = ?", (id,))

    def add(self, id: str, question: str, answer: Answer) -> int:  # noqa: A002
        """Adds a turn at the end and returns its number.

        Raises:
            StoreError: the conversation isn't there (any more), or can't be written.
        """
        with self._transaction() as db:
            last = db.execute(
                "SELECT coalesce(max(turn), -1) FROM messages WHERE conversation = ?", (id,)
            ).fetchone()[0]
            turn = int(last) + 1
            values = (id, turn, question, *_columns(answer), _now())
            db.execute(
                "INSERT INTO messages (conversation, turn, question, answer, found, stopped,"
                " citations, stats, created) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                values,
            )
            db.execute("UPDATE conversations SET used = ? WHERE id = ?", (_now(), id))
        return turn

    def messages(self, id: str) -> list[Message]:  # noqa: A002
        """All turns of a conversation, oldest first."""
        rows = self._db.execute(
            "SELECT turn, question, answer, found, citations, stats, stopped FROM messages"
            " WHERE conversation = ? ORDER BY turn",
            (id,),
        )
        return [Message(row[0], row[1], _answer(*row[2:])) for row in rows]

    def keep(self, id: str, turns: int) -> None:  # noqa: A002
        """Drops every turn after the first `turns`."""
        with _told():
            self._db.execute(
                "DELETE FROM messages WHERE conversation = ? AND turn >= ?", (id, turns)
            )

    def fork(self, id: str, new_id: str, turns: int | None = None, title: str = "") -> Conversation:  # noqa: A002
        """Copies a conversation's first `turns` turns (None: all) under a new id.

        Raises:
            StoreError: there is no conversation `id`, or there is a `new_id` already.
        """
        source = self.find(id)
        if source is None or self.find(new_id) is not None:
            raise StoreError(
                f"The conversation {id!r} can't be copied to {new_id!r}; open another."
            )
        now = _now()
        with self._transaction() as db:
            db.execute(
                "INSERT INTO conversations VALUES (?, ?, ?, ?, ?)",
                (new_id, title or source.title, now, now, json.dumps(source.documents)),
            )
            db.execute(
                "INSERT INTO messages (conversation, turn, question, answer, found, stopped,"
                " citations, stats, created) SELECT ?, turn, question, answer, found, stopped,"
                " citations, stats, created FROM messages WHERE conversation = ? AND turn < ?",
                (new_id, id, source.turns if turns is None else turns),
            )
        found = self.find(new_id)
        assert found is not None
        return found

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with _told():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise


@contextmanager
def _told() -> Iterator[None]:
    """SQLite's errors as sentences for the user."""
    try:
        yield
    except sqlite3.Error as error:
        text = str(error).lower()
        if "full" in text:
            raise StoreFull(
                "The disk is full, so the conversation could not be saved; free some space."
            ) from error
        if "readonly" in text:
            raise StoreReadOnly(
                "The library can't be written to, so the conversation was not saved; "
                "change its rights or choose another."
            ) from error
        raise StoreError(
            f"The conversation could not be saved ({error}); open it again or begin a new one."
        ) from error


def _columns(answer: Answer) -> tuple[Any, ...]:
    citations = json.dumps([asdict(c) for c in answer.citations], ensure_ascii=False)
    stats = json.dumps(answer.stats, ensure_ascii=False, default=str)
    return answer.text, answer.found, answer.stopped, citations, stats


def _answer(text: str, found: int, citations: str, stats: str, stopped: int) -> Answer:
    return Answer(
        text=text,
        found=bool(found),
        citations=tuple(_citation(value) for value in json.loads(citations)),
        stats=json.loads(stats),
        stopped=bool(stopped),
    )


def _citation(value: dict[str, Any]) -> Citation:
    citation = Citation(**(value | {"spans": ()}))
    return replace(citation, spans=tuple(Span(**span) for span in value["spans"]))


def _conversation(row: Sequence[Any]) -> Conversation:
    identity, title, created, used, documents, turns = row
    return Conversation(identity, title, created, used, tuple(json.loads(documents)), turns)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
