"""Who leaves first."""

from __future__ import annotations

from engine.eviction import Candidate, eviction_order, expired, worth

IDLE = 1800.0


def candidate(key: str, **changes: float) -> Candidate:
    values = {"nbytes": 1000, "restore_seconds": 1.0, "unused_seconds": 10.0, **changes}
    return Candidate(key, pinned=bool(values.pop("pinned", 0)), **values)  # type: ignore[arg-type]


def test_expired_ones_go_first_the_oldest_before_the_others() -> None:
    order = eviction_order(
        [
            candidate("cheap", restore_seconds=0.001),
            candidate("old", unused_seconds=2000, restore_seconds=99),
            candidate("older", unused_seconds=3000, restore_seconds=99),
        ],
        IDLE,
    )
    assert order == ["older", "old", "cheap"]


def test_the_least_worth_per_byte_goes_before_the_rest() -> None:
    order = eviction_order(
        [
            candidate("dear", restore_seconds=20),
            candidate("big", nbytes=50_000),
            candidate("stale", unused_seconds=1700),
            candidate("plain"),
        ],
        IDLE,
    )
    assert order == ["big", "stale", "plain", "dear"]


def test_the_running_one_never_leaves() -> None:
    running = candidate("running", unused_seconds=9999, pinned=1)
    assert eviction_order([running, candidate("other")], IDLE) == ["other"]
    assert expired([running, candidate("old", unused_seconds=1800)], IDLE) == ["old"]


def test_worth_halves_with_time() -> None:
    now, later = candidate("a", unused_seconds=0), candidate("a", unused_seconds=600)
    assert worth(later, IDLE) == worth(now, IDLE) / 2
    assert worth(candidate("a", nbytes=0), 0) == 0.5**30
