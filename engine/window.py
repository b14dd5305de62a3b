"""Which places of a transcript the model can see, and at which positions.

When places are dropped the others keep their positions: attention depends on distances only, so
that removing entries without renumbering is the same as masking them. The window knows numbers
and neither tokens nor a device.

A place is an index into the transcript; an index counts visible places from the first.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Run:
    """Places start ≤ p < stop, the first at `position`."""

    start: int
    stop: int
    position: int

    def __len__(self) -> int:
        return self.stop - self.start

    @property
    def end(self) -> int:
        """The position behind the run."""
        return self.position + len(self)

    def cut(self, start: int, stop: int) -> Run | None:
        """The part within start ≤ p < stop."""
        low, high = max(start, self.start), min(stop, self.stop)
        return Run(low, high, self.position + low - self.start) if low < high else None


class Window:
    """Runs in order of place and position."""

    def __init__(self, places: int = 0) -> None:
        """All of the first `places` are visible, at positions from 0."""
        self.runs: list[Run] = [Run(0, places, 0)] if places else []
        self.end = places

    def __len__(self) -> int:
        """Visible places."""
        return sum(len(run) for run in self.runs)

    @property
    def next_position(self) -> int:
        """Position of the next place that is appended."""
        return self.runs[-1].end if self.runs else 0

    @property
    def hidden(self) -> list[tuple[int, int]]:
        """Ranges of places that were dropped."""
        edges = [0, *itertools.chain(*((run.start, run.stop) for run in self.runs)), self.end]
        pairs = zip(edges[::2], edges[1::2], strict=True)
        return [(low, high) for low, high in pairs if low < high]

    def extend(self, count: int) -> None:
        """Makes `count` more places, visible ones."""
        if not count:
            return
        start, self.end = self.end, self.end + count
        last = self.runs[-1] if self.runs else None
        if last and last.stop == start:
            self.runs[-1] = Run(last.start, self.end, last.position)
        else:
            self.runs.append(Run(start, self.end, self.next_position))

    def drop(self, start: int, stop: int) -> list[tuple[int, int]]:
        """Hides places start ≤ p < stop; the positions [from, to) that they had."""
        gone = [part for run in self.runs if (part := run.cut(start, stop))]
        left = [(run.cut(0, start), run.cut(stop, self.end)) for run in self.runs]
        self.runs = [part for parts in left for part in parts if part]
        return [(part.position, part.end) for part in gone]

    def truncate(self, places: int) -> None:
        """Forgets the places from `places` on."""
        self.drop(places, self.end)
        self.end = places

    def at(self, index: int) -> tuple[int, int]:
        """Place and position of the visible place number `index`."""
        for run in self.runs:
            if index < len(run):
                return run.start + index, run.position + index
            index -= len(run)
        raise IndexError("there is no such visible place")

    def index_of(self, place: int) -> int:
        """How many visible places stand before `place`."""
        return sum(len(part) for run in self.runs if (part := run.cut(0, place)))

    def visible(self, start: int, stop: int) -> bool:
        """Whether all of start ≤ p < stop can be seen."""
        return self.index_of(stop) - self.index_of(start) == stop - start

    def parts(self, first: int, last: int) -> Iterator[Run]:
        """The runs of the visible places first ≤ index < last."""
        begin = 0
        for run in self.runs:
            low, high = max(first - begin, 0), min(last - begin, len(run))
            if low < high:
                yield Run(run.start + low, run.start + high, run.position + low)
            begin += len(run)

    def close_gap(self, index: int) -> None:
        """Lets the places from number `index` on follow at the next positions, without gaps."""
        position = self.at(index - 1)[1] + 1 if index else 0
        runs = list(self.parts(0, index))
        for part in self.parts(index, len(self)):
            runs.append(Run(part.start, part.stop, position))
            position += len(part)
        self.runs = _joined(runs)

    def copy(self) -> Window:
        """A window of its own with the same content."""
        copy = Window()
        copy.runs, copy.end = list(self.runs), self.end
        return copy


def _joined(runs: list[Run]) -> list[Run]:
    joined: list[Run] = []
    for run in runs:
        last = joined[-1] if joined else None
        if last and last.stop == run.start and last.end == run.position:
            joined[-1] = Run(last.start, run.stop, last.position)
        else:
            joined.append(run)
    return joined
