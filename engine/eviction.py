"""Which conversation leaves a tier first. A pure function of what is known about each.

Expired ones go first, the longest unused before the others; then those whose loss costs least:
seconds to get it back × chance that it is wanted again, per byte that is freed (the greedy rule
of GreedyDual-Size, Cao and Irani 1997, with the chance taken from the time since the last use).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

HALF_LIVES_PER_IDLE_TIME = 3


@dataclass(frozen=True, slots=True)
class Candidate:
    """A conversation in a tier.

    Attributes:
        key: names it. nbytes: what its leaving frees.
        restore_seconds: how long getting it back takes: reading it from the next tier, or
            prefilling it again.
        unused_seconds: since its last use. pinned: it runs now and can't leave.
    """

    key: str
    nbytes: int
    restore_seconds: float
    unused_seconds: float
    pinned: bool = False


def worth(candidate: Candidate, idle_seconds: float) -> float:
    """Expected seconds that a byte of it saves."""
    half_life = max(idle_seconds, 1.0) / HALF_LIVES_PER_IDLE_TIME
    chance = 0.5 ** (candidate.unused_seconds / half_life)
    return float(candidate.restore_seconds * chance / max(candidate.nbytes, 1))


def eviction_order(candidates: Iterable[Candidate], idle_seconds: float) -> list[str]:
    """Keys in the order in which they should leave; pinned ones are not among them."""
    free = [candidate for candidate in candidates if not candidate.pinned]
    expired = [one for one in free if one.unused_seconds >= idle_seconds]
    others = [one for one in free if one.unused_seconds < idle_seconds]
    expired.sort(key=lambda one: (-one.unused_seconds, one.key))
    others.sort(key=lambda one: (worth(one, idle_seconds), -one.unused_seconds, one.key))
    return [one.key for one in (*expired, *others)]


def expired(candidates: Iterable[Candidate], idle_seconds: float) -> list[str]:
    """Keys of those that were unused for too long."""
    return [one.key for one in candidates if not one.pinned and one.unused_seconds >= idle_seconds]
