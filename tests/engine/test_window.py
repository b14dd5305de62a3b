"""Which places of a transcript can be seen, and at which positions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.window import Run, Window


def positions(window: Window) -> dict[int, int]:
    """Position by visible place."""
    return {
        place: run.position + place - run.start
        for run in window.runs
        for place in range(run.start, run.stop)
    }


def test_dropping_keeps_the_others_positions() -> None:
    window = Window(100)
    assert window.drop(10, 40) == [(10, 40)]
    assert window.runs == [Run(0, 10, 0), Run(40, 100, 40)]
    assert window.hidden == [(10, 40)]
    assert len(window) == 70
    assert window.next_position == 100


def test_dropping_what_is_hidden_already_gives_the_rest() -> None:
    window = Window(100)
    window.drop(10, 20)
    assert window.drop(5, 30) == [(5, 10), (20, 30)]
    assert window.drop(5, 30) == []


def test_extending_goes_on_at_the_next_position() -> None:
    window = Window(10)
    window.drop(4, 6)
    window.extend(5)
    window.extend(0)
    assert window.runs == [Run(0, 4, 0), Run(6, 15, 6)]
    window.drop(4, 15)
    window.extend(2)
    assert window.runs == [Run(0, 4, 0), Run(15, 17, 4)]


def test_closing_a_gap_moves_what_comes_after_it() -> None:
    window = Window(20)
    window.drop(5, 10)
    window.close_gap(5)
    assert window.runs == [Run(0, 5, 0), Run(10, 20, 5)]
    window.drop(12, 15)
    window.close_gap(7)
    assert positions(window) == {p: p for p in range(5)} | {10: 5, 11: 6} | {
        p: p - 8 for p in range(15, 20)
    }


def test_truncating_forgets_places() -> None:
    window = Window(20)
    window.drop(5, 10)
    window.truncate(15)
    assert window.runs == [Run(0, 5, 0), Run(10, 15, 10)]
    assert window.end == 15
    window.truncate(0)
    assert window.runs == []
    assert window.hidden == []
    assert window.next_position == 0


def test_places_and_indexes_go_there_and_back() -> None:
    window = Window(20)
    window.drop(5, 10)
    assert window.at(4) == (4, 4)
    assert window.at(5) == (10, 10)
    assert [window.index_of(place) for place in (0, 5, 7, 10, 11, 99)] == [0, 5, 5, 5, 6, 15]
    assert window.visible(10, 20)
    assert not window.visible(4, 6)
    assert list(window.parts(4, 7)) == [Run(4, 5, 4), Run(10, 12, 10)]


def test_an_index_past_the_end_is_an_error() -> None:
    with pytest.raises(IndexError, match="no such"):
        Window(3).at(3)


def test_a_copy_is_its_own() -> None:
    window = Window(10)
    copy = window.copy()
    copy.drop(0, 5)
    copy.extend(1)
    assert window.runs == [Run(0, 10, 0)]
    assert window.end == 10


Change = tuple[str, int, int]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["extend", "drop", "truncate", "close"]),
            st.integers(0, 60),
            st.integers(0, 60),
        ),
        max_size=12,
    )
)
def test_it_agrees_with_a_plain_list(changes: list[Change]) -> None:
    window, end, seen = Window(), 0, {}
    for what, one, two in changes:
        if what == "extend":
            first = max(seen.values(), default=-1) + 1
            seen |= {end + n: first + n for n in range(one)}
            end += one
            window.extend(one)
        elif what == "drop":
            low, high = min(one, two), max(one, two)
            gone = sorted(seen[place] for place in seen if low <= place < high)
            assert [p for a, b in window.drop(low, high) for p in range(a, b)] == gone
            seen = {place: p for place, p in seen.items() if not low <= place < high}
        elif what == "truncate":
            end = min(end, one)
            window.truncate(end)
            seen = {place: p for place, p in seen.items() if place < end}
        else:
            at = min(one, len(seen))
            window.close_gap(at)
            places = sorted(seen)
            first = seen[places[at - 1]] + 1 if at else 0
            seen |= {place: first + n for n, place in enumerate(places[at:])}
        assert positions(window) == seen
        assert window.end == end
        assert len(window) == len(seen)
        hidden = {place for low, high in window.hidden for place in range(low, high)}
        assert hidden == set(range(end)) - set(seen)
