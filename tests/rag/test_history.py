"""Conversations in the library's database."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag.errors import StoreError, StoreFull, StoreReadOnly
from rag.history import History
from rag.store import FILE, Store
from rag.types import Answer, Citation, Span

ANSWER = Answer(
    "按合同第三条 [1].",
    True,
    (Citation("合同.pdf", 2, "三十日", 7, (Span(2, 4, 7),), "ii"),),
    {"ttft_ms": 12.5, "reused_tokens": 3},
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(tmp_path)
    yield store
    store.close()


def test_a_turn_comes_back_as_it_was(store: Store) -> None:
    history = History(store.connection)
    history.begin("c", "Payment", ["合同.pdf"])
    assert history.add("c", "何时付款?", ANSWER) == 0
    assert history.add("c", "And then?", Answer("No.", False, (), stopped=True)) == 1
    first, second = history.messages("c")
    assert (first.turn, first.question, first.answer) == (0, "何时付款?", ANSWER)
    assert second.answer == Answer("No.", False, (), stopped=True)
    found = history.find("c")
    assert found is not None
    assert (found.title, found.documents, found.turns) == ("Payment", ("合同.pdf",), 2)


def test_the_one_used_last_comes_first(store: Store) -> None:
    history = History(store.connection)
    for name in ("a", "b", "c"):
        history.begin(name)
    history.add("a", "q", ANSWER)
    assert [c.id for c in history.conversations()] == ["a", "c", "b"]
    history.rename("b", "Bee")
    history.delete("c")
    history.delete("unknown")
    assert [(c.id, c.title) for c in history.conversations()] == [("a", ""), ("b", "Bee")]


def test_beginning_twice_changes_nothing(store: Store) -> None:
    history = History(store.connection)
    first = history.begin("c", "one")
    assert history.begin("c", "two") == first


def test_later_turns_can_be_dropped_and_all_go_with_the_conversation(store: Store) -> None:
    history = History(store.connection)
    history.begin("c")
    for question in ("0", "1", "2"):
        history.add("c", question, ANSWER)
    history.keep("c", 1)
    assert [m.question for m in history.messages("c")] == ["0"]
    assert history.add("c", "again", ANSWER) == 1
    history.delete("c")
    assert history.messages("c") == []
    assert store.connection.execute("SELECT count(*) FROM messages").fetchone() == (0,)


def test_a_fork_has_the_first_turns_and_a_life_of_its_own(store: Store) -> None:
    history = History(store.connection)
    history.begin("c", "title")
    for question in ("0", "1"):
        history.add("c", question, ANSWER)
    assert history.fork("c", "half", 1).turns == 1
    assert history.fork("c", "all", title="other").title == "other"
    history.delete("c")
    assert [m.question for m in history.messages("all")] == ["0", "1"]
    assert history.messages("half")[0].answer == ANSWER
    for source, target in (("c", "new"), ("all", "half")):
        with pytest.raises(StoreError, match="can't be copied"):
            history.fork(source, target)


def test_an_answer_of_a_deleted_conversation_is_not_kept(store: Store) -> None:
    with pytest.raises(StoreError, match="could not be saved"):
        History(store.connection).add("gone", "q", ANSWER)
    assert not store.connection.in_transaction


def test_another_connection_sees_it(store: Store, tmp_path: Path) -> None:
    History(store.connection).begin("c")
    other = Store(tmp_path)
    assert [c.id for c in History(other.connection).conversations()] == ["c"]
    other.close()


def test_a_read_only_library_is_told(store: Store, tmp_path: Path) -> None:
    connection = sqlite3.connect(f"file:{tmp_path / FILE}?mode=ro", uri=True)
    with pytest.raises(StoreReadOnly, match="can't be written"):
        History(connection).begin("c")
    connection.close()


def test_a_disk_without_room_for_the_shared_memory_file_is_full(store: Store) -> None:
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorname = "SQLITE_IOERR_SHMSIZE"
    with pytest.raises(StoreFull, match="free some space"), store._database.guard():
        raise error


def test_a_full_disk_is_told(store: Store) -> None:
    history = History(store.connection)
    history.begin("c")
    pages = store.connection.execute("PRAGMA page_count").fetchone()[0]
    store.connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreFull, match="disk is full"):
        history.add("c", "x" * 1_000_000, ANSWER)
    assert history.messages("c") == []
