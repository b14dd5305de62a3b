"""Any interleaving of conversations gives each the bits that it gets alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import NoFreeSequence, OutOfCells
from engine.torch_backend import TorchBackend
from tests.engine.torch_backends import Counting, backend_of, read
from tests.engine.torch_models import random_tokens, small_decoder

BLOCK = 16

Step = tuple[str, int, int, int]  # what, which conversation, two numbers
STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            ["new", "read", "read", "read", "token", "trim", "fork", "restore", "drop"]
        ),
        st.integers(0, 7),
        st.integers(0, 90),
        st.integers(1, 40),
    ),
    min_size=4,
    max_size=25,
)


@dataclass
class Conversation:
    """A sequence and all that was done to it, forks' past included."""

    sequence: int
    stop: int = 0
    history: list[tuple[str, int, int]] = field(default_factory=list)


class Mixed:
    """Plays steps on one backend and remembers each conversation's own part."""

    def __init__(self, backend: TorchBackend) -> None:
        self.backend = backend
        self.conversations: list[Conversation] = []
        self.restored = 0

    def play(self, step: Step) -> None:
        what, which, first, second = step
        if what == "new" or not self.conversations:
            self.conversations.append(Conversation(self.backend.new_sequence()))
            return
        getattr(self, what)(self.conversations[which % len(self.conversations)], first, second)

    def read(self, own: Conversation, seed: int, count: int) -> None:
        read(self.backend, own.sequence, random_tokens(count, seed), own.stop)
        own.history.append(("read", seed, count))
        own.stop += count

    def token(self, own: Conversation, seed: int, _: int) -> None:
        self.backend.forward(own.sequence, random_tokens(1, seed), own.stop)
        own.history.append(("token", seed, 1))
        own.stop += 1

    def trim(self, own: Conversation, first: int, count: int) -> None:
        stop = min(first + count, own.stop - 1)  # the last token stays
        if first < stop:
            self.backend.remove(own.sequence, first, stop)
            own.history.append(("trim", first, stop))

    def fork(self, own: Conversation, _: int, __: int) -> None:
        copy = self.backend.fork(own.sequence)
        self.conversations.append(Conversation(copy, own.stop, list(own.history)))

    def restore(self, own: Conversation, _: int, __: int) -> None:
        state = self.backend.save(own.sequence, 0, own.stop)
        self.backend.free_sequence(own.sequence)
        own.sequence = self.backend.new_sequence()
        self.backend.load(own.sequence, state)
        self.restored += 1

    def drop(self, own: Conversation, _: int, __: int) -> None:
        self.backend.free_sequence(own.sequence)
        self.conversations.remove(own)


def alone(backend: TorchBackend, own: Conversation) -> int:
    """The conversation's history on a backend of its own, prompts cut in other pieces."""
    sequence, stop = backend.new_sequence(), 0
    for what, first, second in own.history:
        if what == "trim":
            backend.remove(sequence, first, second)
            continue
        tokens = random_tokens(second, first)
        if what == "token":
            backend.forward(sequence, tokens, stop)
        else:
            for start in range(0, second, 7):
                read(backend, sequence, tokens[start : start + 7], stop + start)
        stop += second
    return sequence


@pytest.mark.parametrize(
    ("dtype", "changes", "options"),
    [
        (torch.float32, {}, {}),
        (torch.bfloat16, {}, {}),
        (torch.float32, {}, {"dtype": torch.float16}),
        (torch.bfloat16, {}, {"packed": True}),
        (torch.float32, {"sliding_window": 24, "local_layers": (True, False)}, {}),
    ],
    ids=["fp32", "bf16", "fp32-kept-in-fp16", "int8", "sliding"],
)
@given(steps=STEPS)
@settings(max_examples=40, deadline=None, derandomize=True)
def test_a_conversation_never_feels_the_others(
    dtype: torch.dtype, changes: dict[str, Any], options: dict[str, Any], steps: list[Step]
) -> None:
    decoder = Counting(small_decoder(dtype=dtype, **changes))
    backend = backend_of(decoder, block=BLOCK, cells=1024, sequences=6, **options)
    mixed = Mixed(backend)
    for step in steps:
        try:
            mixed.play(step)
        except (NoFreeSequence, OutOfCells):
            continue
    for own in mixed.conversations:
        lonely = backend_of(decoder, block=BLOCK, cells=2048, **options)
        sequence = alone(lonely, own)
        assert backend.positions(own.sequence) == lonely.positions(sequence)
        decoder.rows = 0
        found = [read(backend, own.sequence, [3, 4], own.stop)] if _fits(backend) else []
        assert decoder.rows <= 2 * BLOCK  # what it held was used, not computed again
        if found:
            assert np.array_equal(found[0], read(lonely, sequence, [3, 4], own.stop))
            backend.remove(own.sequence, own.stop, own.stop + 2)
    for own in list(mixed.conversations):
        backend.free_sequence(own.sequence)
    assert backend.free_cells == 1024


def _fits(backend: TorchBackend) -> bool:
    return backend.free_cells >= 2
