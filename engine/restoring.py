"""From kept blocks to the device and back: what fits a conversation, and in which order.

It knows one conversation and one backend at a time, and neither files nor budgets.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from engine.backend import Backend
from engine.cache_file import Block
from engine.cache_format import BlockEntry
from engine.cache_plan import Span, compare, context_of, joined
from engine.conversation import Conversation
from engine.device import Device
from engine.errors import OutOfCells, RestoreError


def fits(conversation: Conversation, block: Block | BlockEntry, *, whole: bool) -> bool:
    """Whether a block is what the conversation's tokens at its positions would give.

    Its tokens must be visible, at the block's positions, and what stands before it in the
    transcript must be what stood there when it was computed. Tokens of the open turn don't count,
    even if they were asked before: there must be something left to read.
    """
    window, ids = conversation.window, conversation.transcript.ids
    first = window.index_of(block.place)
    last = first + len(block.ids)
    if last > window.index_of(conversation.transcript.settled) or window.at(first) != (
        block.place,
        block.position,
    ):
        return False
    parts = list(window.parts(first, last))
    if parts[-1].end != block.stop or (len(parts) > 1 and not whole):
        return False
    tokens = tuple(token for part in parts for token in ids[part.start : part.stop])
    return tokens == block.ids and block.context == context_of(ids[: block.place])


def load_blocks(conversation: Conversation, device: Device, blocks: Sequence[Block]) -> int:
    """Loads blocks for as long as each follows what is held; how many tokens came back.

    Raises:
        RestoreError: the backend refused one; nothing is held.
        OutOfCells: no room, though all idle conversations left; nothing is held.
    """
    sequence, window = conversation.sequence, conversation.window
    assert sequence is not None
    begin = conversation.held
    try:
        for block in sorted(blocks, key=lambda block: block.position):
            held = conversation.held
            if window.at(held) != (block.place, block.position):
                break
            device.load(sequence, block.state)
            conversation.held += len(block.ids)
            if not block.exact:
                for part in window.parts(held, conversation.held):
                    conversation.decoded.update(range(part.start, part.stop))
    except RestoreError:
        conversation.held = 0
        raise
    except OutOfCells:
        conversation.keep(0)
        raise
    return conversation.held - begin


def spans_behind(conversation: Conversation, places: int) -> list[Span]:
    """What the device holds behind the first `places`, cut where turns meet.

    Turns are dropped whole; so a block is either dropped or kept, and never has to be cut.
    """
    transcript = conversation.transcript
    edges = {places, transcript.protected, *(turn.stop for turn in transcript.turns)}
    parts: list[Span] = []
    for span in conversation.spans():
        end = span.place + len(span.ids)
        cuts = sorted({span.place, end, *(edge for edge in edges if span.place < edge < end)})
        for low, high in itertools.pairwise(cuts):
            if low >= places:
                position = span.position + low - span.place
                ids = span.ids[low - span.place : high - span.place]
                parts.append(Span(position, low, ids, span.exact))
    return parts


def save_blocks(conversation: Conversation, backend: Backend, places: int = 0) -> list[Block]:
    """All that the device holds of a conversation behind its first `places`."""
    sequence = conversation.sequence
    assert sequence is not None
    spans, whole = spans_behind(conversation, places), not backend.info.can_trim
    if whole:
        spans = joined(spans)
    _, parts = compare([], spans, conversation.transcript.ids, whole=whole)
    return [
        Block(
            part.position,
            part.place,
            part.ids,
            part.exact,
            backend.save(sequence, part.position, part.stop),
            part.context,
        )
        for part in parts
    ]
