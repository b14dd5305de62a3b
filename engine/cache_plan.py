"""What a cache file lacks of what the device holds. Pure functions over positions and ids.

Keys and values depend on every token before them, so that the same token at the same position is
not enough: each block carries a digest of the transcript before it, its context.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from engine.cache_format import BlockEntry
from engine.types import TokenId

BLOCK_TOKENS = 512


@dataclass(frozen=True, slots=True)
class Span:
    """Consecutive positions that the device holds. Fields as in `cache_file.Block`."""

    position: int
    place: int
    ids: tuple[TokenId, ...]
    exact: bool
    context: bytes = b""

    @property
    def stop(self) -> int:
        """The position behind the span."""
        return self.position + len(self.ids)


Planned = Span | BlockEntry


def context_of(ids: Sequence[TokenId]) -> bytes:
    """The digest of a transcript's beginning."""
    return hashlib.blake2b(np.asarray(ids, "<u4").tobytes(), digest_size=16).digest()


def joined(spans: Sequence[Span]) -> list[Span]:
    """One span for all, for a state that can only be saved whole."""
    if not spans:
        return []
    ids = tuple(token for span in spans for token in span.ids)
    exact = all(span.exact for span in spans)
    return [Span(spans[0].position, spans[0].place, ids, exact)]


def compare(
    planned: Sequence[Planned],
    spans: Sequence[Span],
    ids: Sequence[TokenId],
    *,
    whole: bool = False,
) -> tuple[list[Planned], list[Span]]:
    """What of `planned` is still right, and the spans (cut to blocks) that are missing.

    Args:
        planned: what the file has, or will have. spans: what the device has.
        ids: the transcript.
        whole: there is one span, and nothing but the whole of it can be kept.
    """
    on_device: dict[int, tuple[int, TokenId, bool]] = {}
    for span in spans:
        for offset, token in enumerate(span.ids):
            on_device[span.position + offset] = (span.place + offset, token, span.exact)
    keep = [
        one
        for one in planned
        if _matches(one, on_device) and one.context == context_of(ids[: one.place])
    ]
    if whole:
        keep = [one for one in keep if one.stop - one.position == len(on_device)]
    have = {position for one in keep for position in range(one.position, one.stop)}
    most = max(len(on_device), 1) if whole else BLOCK_TOKENS
    missing = [part for span in spans for part in _cut(span, have, most)]
    return keep, [replace(part, context=context_of(ids[: part.place])) for part in missing]


def _matches(one: Planned, on_device: dict[int, tuple[int, TokenId, bool]]) -> bool:
    return all(
        on_device.get(one.position + offset) == (one.place + offset, token, one.exact)
        for offset, token in enumerate(one.ids)
    )


def _cut(span: Span, have: set[int], most: int) -> list[Span]:
    """The parts of `span` that aren't in `have`, each of at most `most` tokens."""
    parts: list[Span] = []
    begin = span.position
    for position in range(span.position, span.stop + 1):
        if position < span.stop and position not in have and position - begin < most:
            continue
        if position > begin:
            first = begin - span.position
            ids = span.ids[first : position - span.position]
            parts.append(Span(begin, span.place + first, ids, span.exact))
        begin = position + 1 if position in have else position
    return parts
