"""Keeps account of cells: which positions each sequence holds, and which cells are shared.

It counts and knows no memory: a backend whose library doesn't tell how many cells are free asks
here before it acts.
"""

from __future__ import annotations

from collections.abc import Iterable

from engine.errors import NoFreeSequence, OutOfCells
from engine.types import SequenceId


class CellBook:
    """Cells of numbered sequences; `capacity` of them, shared ones counted once."""

    def __init__(self, capacity: int, sequences: int) -> None:
        self.capacity, self._most = capacity, sequences
        self._cells: dict[SequenceId, dict[int, int]] = {}  # cell by position, in order
        self._users: dict[int, int] = {}
        self._next = 0

    @property
    def free(self) -> int:
        """Cells that no sequence holds."""
        return self.capacity - len(self._users)

    def open(self) -> SequenceId:
        """The lowest unused number. Raises NoFreeSequence."""
        for sequence in range(self._most):
            if sequence not in self._cells:
                self._cells[sequence] = {}
                return sequence
        raise NoFreeSequence(f"All {self._most} sequences are in use; free one first.")

    def close(self, sequence: SequenceId) -> None:
        """Gives a sequence's number and cells back."""
        self.drop(sequence, list(self._cells[sequence]))
        del self._cells[sequence]

    def need(self, count: int) -> None:
        """Raises OutOfCells unless so many cells are free."""
        if count > self.free:
            raise OutOfCells(f"{count} cells are needed, {self.free} are free.")

    def last(self, sequence: SequenceId) -> int:
        """The highest position, or -1."""
        return next(reversed(self._cells[sequence]), -1)

    def count(self, sequence: SequenceId) -> int:
        """Cells of a sequence."""
        return len(self._cells[sequence])

    def add(self, sequence: SequenceId, positions: Iterable[int]) -> None:
        """Notes new cells at `positions`, which go up and follow the last."""
        cells = self._cells[sequence]
        for position in positions:
            cells[position] = self._next
            self._users[self._next] = 1
            self._next += 1

    def within(self, sequence: SequenceId, start: int, stop: int) -> list[int]:
        """Positions start ≤ p < stop that the sequence holds."""
        return [position for position in self._cells[sequence] if start <= position < stop]

    def drop(self, sequence: SequenceId, positions: Iterable[int]) -> None:
        """Takes cells from a sequence."""
        cells = self._cells[sequence]
        for position in positions:
            cell = cells.pop(position)
            self._users[cell] -= 1
            if not self._users[cell]:
                del self._users[cell]

    def copy(self, source: SequenceId, target: SequenceId) -> None:
        """Lets the empty `target` share all cells of `source`."""
        self._cells[target] = dict(self._cells[source])
        for cell in self._cells[target].values():
            self._users[cell] += 1

    def ranges(self, sequence: SequenceId) -> list[tuple[int, int]]:
        """Position ranges [start, stop), in order."""
        return ranges_of(self._cells[sequence])


def ranges_of(positions: Iterable[int]) -> list[tuple[int, int]]:
    """Ranges [start, stop) of positions that go up."""
    ranges: list[tuple[int, int]] = []
    for position in positions:
        if ranges and ranges[-1][1] == position:
            ranges[-1] = (ranges[-1][0], position + 1)
        else:
            ranges.append((position, position + 1))
    return ranges
