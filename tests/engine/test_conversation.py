"""What of a conversation is on the device, after everything that can happen to it."""

from __future__ import annotations

import pytest

from engine.cache_plan import Span
from engine.conversation import Conversation
from engine.errors import ContextTooLong
from engine.fake_backend import FakeBackend
from engine.transcript import Segment


def make(
    turns: list[int], *, can_trim: bool = True, batch: int = 16, block: int = 1
) -> Conversation:
    """A conversation on the device with turns of so many tokens; the first has 10 of system."""
    backend = FakeBackend(batch=batch, block=block, can_trim=can_trim)
    conversation = Conversation("a", backend)
    conversation.sequence = backend.new_sequence()
    for number, count in enumerate(turns):
        system = [Segment("system", "", tuple(range(10)))] if number == 0 else []
        conversation.transcript.begin([*system, Segment("user", "", tuple(range(count)))])
        conversation.transcript.commit("")
        conversation.catch_up()
    read(conversation)
    return conversation


def read(conversation: Conversation) -> list[int]:
    """Reads what is pending; sizes of the batches."""
    sizes = []
    assert conversation.sequence is not None
    for batch in conversation.batches():
        conversation._backend.forward(conversation.sequence, batch.tokens, batch.start)
        conversation.mark_read(len(batch.tokens))
        sizes.append(len(batch.tokens))
    return sizes


@pytest.mark.parametrize(
    ("count", "sizes"), [(1, [1]), (16, [16]), (17, [15, 2]), (33, [16, 15, 2]), (34, [16, 16, 2])]
)
def test_no_batch_but_an_only_one_has_one_token(count: int, sizes: list[int]) -> None:
    conversation = make([6])
    conversation.transcript.begin([Segment("user", "", tuple(range(count)))])
    conversation.catch_up()
    assert read(conversation) == sizes
    assert conversation.pending == 0


@pytest.mark.parametrize(
    ("count", "sizes"),
    [
        (3, [3]),
        (8, [8]),
        (9, [9]),
        (15, [15]),
        (24, [16, 8]),
        (17, [15, 2]),
        (25, [16, 9]),
        (40, [16, 16, 8]),
    ],
)
def test_a_long_read_stops_where_blocks_do(count: int, sizes: list[int]) -> None:
    """16 tokens are held and a block has 8, so that the first batch ends with a block."""
    conversation = make([6], block=8)
    conversation.transcript.begin([Segment("user", "", tuple(range(count)))])
    conversation.catch_up()
    assert read(conversation) == sizes


def test_after_a_part_of_a_block_its_rest_is_read() -> None:
    conversation = make([9], block=8)  # 19 tokens are held, 3 of them in the third block
    conversation.transcript.begin([Segment("user", "", tuple(range(31)))])
    conversation.catch_up()
    assert read(conversation) == [13, 16, 2]


def test_trimming_drops_whole_turns_and_at_least_a_quarter() -> None:
    conversation = make([30] * 8)
    assert conversation.make_room(10, 260) == 0
    assert conversation.make_room(20, 260) == 90
    assert [turn.in_window for turn in conversation.turn_infos()] == [False] * 3 + [True] * 5
    assert conversation.window.hidden == [(10, 100)]
    assert conversation.held == len(conversation.window) == 160


def test_the_last_turn_goes_only_if_it_must() -> None:
    conversation = make([30, 30])
    assert conversation.make_room(40, 100) == 30
    assert conversation.turn_infos()[1].in_window
    assert conversation.make_room(85, 100) == 30
    with pytest.raises(ContextTooLong) as caught:
        conversation.make_room(91, 100)
    assert (caught.value.tokens, caught.value.window) == (101, 100)


def test_a_model_that_cannot_trim_reads_again_what_is_left() -> None:
    conversation = make([30] * 8, can_trim=False)
    conversation.make_room(20, 260)
    assert conversation.held == 0
    assert sum(read(conversation)) == 160
    assert conversation.window.next_position == 160


def test_dropping_what_is_not_on_the_device() -> None:
    conversation = make([30, 30])
    conversation.keep(20)
    assert conversation.drop(15, 50) == 35
    assert conversation.held == 15
    assert conversation.drop(15, 50) == 0
    read(conversation)
    assert conversation.window.at(15) == (50, 15)


def test_rewinding_to_a_visible_turn_keeps_the_trim() -> None:
    conversation = make([30] * 6)
    conversation.make_room(1, 180)
    conversation.transcript.rewind(5)
    conversation.truncate(conversation.transcript.committed)
    assert conversation.window.hidden
    assert conversation.held == len(conversation.window)


def test_rewinding_into_the_trimmed_part_shows_all_of_it() -> None:
    conversation = make([30] * 6)
    conversation.make_room(1, 180)
    conversation.transcript.rewind(1)
    conversation.truncate(conversation.transcript.committed)
    assert conversation.window.hidden == []
    assert conversation.held == 10
    assert len(conversation.window) == 40
    assert sum(read(conversation)) == 30


def test_renumbering_begins_at_nought() -> None:
    conversation = make([30] * 4)
    conversation.drop(10, 40)
    conversation.renumber()
    assert conversation.held == 0
    assert conversation.window.next_position == 100
    assert sum(read(conversation)) == 100


def test_spans_tell_what_was_read_and_what_was_written() -> None:
    conversation = make([6])
    conversation.transcript.begin([Segment("user", "", (1, 2))])
    conversation.catch_up()
    read(conversation)
    for token in (3, 4, 5):
        conversation.transcript.append(token)
        conversation.catch_up()
        assert conversation.sequence is not None
        position = conversation.window.at(conversation.held)[1]
        conversation._backend.forward(conversation.sequence, [token], position)
        conversation.mark_decoded()
    ids = (*range(10), *range(6), 1, 2)
    assert conversation.spans() == [Span(0, 0, ids, True), Span(18, 18, (3, 4, 5), False)]
    conversation.drop(12, 19)
    assert conversation.spans() == [Span(0, 0, ids[:12], True), Span(19, 19, (4, 5), False)]
    conversation.keep(13)
    read(conversation)
    assert [span.exact for span in conversation.spans()] == [True, False, True]


def test_leaving_the_device_frees_it() -> None:
    conversation = make([30])
    assert conversation.nbytes == 40 * 16
    conversation.leave_device()
    conversation.leave_device()
    assert conversation.nbytes == 0
    assert conversation.spans() == []
    assert conversation._backend.free_cells == 5120
    assert conversation.visible_ids() == [*range(10), *range(30)]
