"""Account of cells: who holds which, and how many are free."""

from __future__ import annotations

import pytest

from engine.cell_book import CellBook, ranges_of
from engine.errors import NoFreeSequence, OutOfCells


def test_shared_cells_count_once_and_are_free_when_nobody_holds_them() -> None:
    book = CellBook(100, 3)
    one = book.open()
    book.add(one, range(40))
    two = book.open()
    book.copy(one, two)
    assert book.free == 60
    book.drop(one, book.within(one, 10, 20))
    assert book.free == 60
    book.drop(two, book.within(two, 0, 15))
    assert book.free == 65
    assert (book.count(one), book.count(two)) == (30, 25)
    assert book.ranges(one) == [(0, 10), (20, 40)]
    book.close(one)
    book.close(two)
    assert book.free == 100


def test_numbers_run_out_and_come_back() -> None:
    book = CellBook(10, 2)
    assert [book.open(), book.open()] == [0, 1]
    with pytest.raises(NoFreeSequence, match="All 2"):
        book.open()
    book.close(0)
    assert book.open() == 0


def test_need_and_last() -> None:
    book = CellBook(10, 2)
    one = book.open()
    assert book.last(one) == -1
    book.add(one, range(5, 9))
    assert book.last(one) == 8
    book.need(6)
    with pytest.raises(OutOfCells, match="7 cells"):
        book.need(7)


def test_ranges() -> None:
    assert ranges_of([]) == []
    assert ranges_of([1, 2, 5, 6, 7, 9]) == [(1, 3), (5, 8), (9, 10)]
