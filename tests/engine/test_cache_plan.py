"""What a file lacks of what the device holds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.cache_plan import BLOCK_TOKENS, Planned, Span, context_of, joined
from engine.cache_plan import compare as compare_with

IDS = list(range(3000))


def span(
    position: int, length: int, *, exact: bool = True, first: int = 0, place: int = -1
) -> Span:
    ids = tuple(range(position + first, position + first + length))
    place = position if place < 0 else place
    return Span(position, place, ids, exact, context_of(IDS[:place]))


def compare(
    planned: list[Span], spans: list[Span], *, whole: bool = False
) -> tuple[list[Planned], list[Span]]:
    return compare_with(planned, spans, IDS, whole=whole)


def covered(spans: list[Span]) -> list[int]:
    return [position for one in spans for position in range(one.position, one.stop)]


def test_nothing_is_missing_from_the_same() -> None:
    spans = [span(0, 10), span(10, 5, exact=False), span(40, 7)]
    assert compare(spans, spans) == (spans, [])


def test_a_new_turn_is_missing() -> None:
    old = [span(0, 10)]
    assert compare(old, [*old, span(10, 4)]) == (old, [span(10, 4)])
    assert compare(old, [span(0, 14)]) == (old, [span(10, 4)])


def test_trimmed_blocks_go_and_a_block_cut_in_two_is_saved_again() -> None:
    old = [span(0, 10), span(10, 10), span(20, 10)]
    keep, missing = compare(old, [span(0, 10), span(15, 15)])
    assert keep == [old[0], old[2]]
    assert missing == [span(15, 5)]


def test_other_ids_places_or_exactness_are_saved_again() -> None:
    old = [span(0, 10)]
    for new in (span(0, 10, first=1), span(0, 10, place=3), span(0, 10, exact=False)):
        assert compare(old, [new]) == ([], [new])


def test_the_same_words_after_other_words_are_saved_again() -> None:
    old = [span(0, 10), span(10, 5)]
    edited = [*range(9), 99, *range(10, 15)]
    new = [Span(0, 0, tuple(edited[:10]), True), old[1]]
    keep, missing = compare_with(old, new, edited)
    assert keep == []
    assert [one.position for one in missing] == [0, 10]
    assert compare_with(missing, new, edited) == (missing, [])


def test_long_spans_are_cut_into_blocks() -> None:
    _, missing = compare([], [span(0, 2 * BLOCK_TOKENS + 1)])
    assert [len(one.ids) for one in missing] == [BLOCK_TOKENS, BLOCK_TOKENS, 1]
    assert [one.place for one in missing] == [0, BLOCK_TOKENS, 2 * BLOCK_TOKENS]


def test_a_state_that_is_saved_whole_is_one_block() -> None:
    spans = joined([span(0, 600), span(600, 5, exact=False)])
    assert [(one.ids, one.exact) for one in spans] == [(tuple(range(605)), False)]
    keep, missing = compare([span(0, 600)], spans, whole=True)
    assert keep == []
    assert missing == [span(0, 605, exact=False)]
    assert compare(missing, spans, whole=True) == (missing, [])
    assert joined([]) == []
    assert compare([span(0, 3)], [], whole=True) == ([], [])


SPANS = st.lists(st.tuples(st.integers(0, 40), st.integers(1, 30), st.booleans()), max_size=5)


def build(parts: list[tuple[int, int, bool]]) -> list[Span]:
    spans: list[Span] = []
    position = 0
    for gap, length, exact in parts:
        spans.append(span(position + gap, length, exact=exact))
        position = spans[-1].stop
    return spans


@given(SPANS, SPANS)
def test_kept_and_missing_are_exactly_the_device(
    old: list[tuple[int, int, bool]], new: list[tuple[int, int, bool]]
) -> None:
    planned, spans = build(old), build(new)
    keep, missing = compare(planned, spans)
    assert sorted(covered([*keep, *missing])) == covered(spans)  # type: ignore[list-item]
    exact = {p: one.exact for one in spans for p in range(one.position, one.stop)}
    for one in (*keep, *missing):
        assert all(exact[p] == one.exact for p in range(one.position, one.stop))
