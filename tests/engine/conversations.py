"""Helpers of the tests of conversations: asking, and what a fresh backend would say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from engine.conversation import Conversation
from engine.engine import Engine
from engine.fake_backend import FakeBackend
from engine.types import EngineOptions, Event, Finished, SamplingOptions, TextDelta, Turn

LONG = "the supplier shall deliver goods " * 12
SYSTEM = "You answer questions about contracts."


@dataclass
class Fake:
    """An engine over a fake backend, both within reach."""

    engine: Engine
    backend: FakeBackend

    def conversation(self, name: str) -> Conversation:
        found = self.engine._register.find(name)
        assert found is not None
        return found


def fake_engine(
    window: int = 1024, sequences: int = 4, cells: int = 0, batch: int = 32, **options: object
) -> Fake:
    cells = cells or window + window // 4
    backend = FakeBackend(cells=cells, sequences=sequences, batch=batch, **options)  # type: ignore[arg-type]
    engine_options = EngineOptions(
        model=Path(), backend="fake", window=window, sequences=sequences, batch=batch
    )
    return Fake(Engine(backend, engine_options), backend)


def start(
    engine: Engine,
    name: str,
    question: str,
    most: int = 40,
    system: str = SYSTEM,
    use_cache: bool = True,
    **turn: object,
) -> Iterator[Event]:
    return engine.ask(
        name,
        Turn(question, system, **turn),  # type: ignore[arg-type]
        SamplingOptions(max_tokens=most),
        use_cache=use_cache,
    )


def ask(engine: Engine, name: str, question: str, most: int = 40, **more: object) -> Finished:
    """Asks and checks that the stream adds up."""
    events = list(start(engine, name, question, most, **more))  # type: ignore[arg-type]
    last = events[-1]
    assert isinstance(last, Finished)
    assert "".join(e.text for e in events if isinstance(e, TextDelta)) == last.text
    assert last.stats.prompt_tokens == last.stats.reused_tokens + last.stats.prefilled_tokens
    assert last.stats.generated_tokens <= most
    return last


def check_device(fake: Fake) -> None:
    """The device holds the first visible tokens of each conversation, and nothing else.

    While an answer is written, guessed tokens may stand behind them.
    """
    used = 0
    cells: set[int] = set()
    for conversation in fake.engine._register.used():
        assert conversation.window.end == len(conversation.transcript.ids)
        assert 0 <= conversation.held <= len(conversation.window)
        if conversation.sequence is None:
            assert conversation.held == 0
            continue
        used += 1
        expected = expected_cells(conversation)
        held = fake.backend._sequences[conversation.sequence].cells
        found = {p: cell.token for p, cell in held.items()}
        if fake.engine._device.running(conversation):
            found = {p: token for p, token in found.items() if p <= max(expected, default=-1)}
        assert found == expected
        cells |= {id(cell) for cell in held.values()}
    assert len(fake.backend._sequences) == used
    assert fake.backend.free_cells == fake.backend._capacity - len(cells)


def expected_cells(conversation: Conversation) -> dict[int, int]:
    """Token by position of the first `held` visible tokens."""
    ids = conversation.transcript.ids
    return {
        run.position + place - run.start: ids[place]
        for run in conversation.window.parts(0, conversation.held)
        for place in range(run.start, run.stop)
    }


def fresh_greedy(cells: dict[int, int], count: int) -> list[int]:
    """What a fresh backend writes after it has read these tokens at these positions."""
    backend = FakeBackend(cells=1 << 16)
    sequence = backend.new_sequence()
    last = max(cells)
    for position in range(last):
        backend.forward(sequence, [cells.get(position, 0)], position)
    for position in range(last):
        if position not in cells:
            backend.remove(sequence, position, position + 1)
    return write(backend, sequence, cells[last], last, count)


def write(backend: FakeBackend, sequence: int, token: int, position: int, count: int) -> list[int]:
    """Reads `token` and writes at most `count` likeliest tokens, up to an end token."""
    logits = backend.forward(sequence, [token], position)
    written: list[int] = []
    while len(written) < count:
        written.append(int(logits.argmax()))
        if written[-1] in backend.tokenizer.end_tokens or len(written) == count:
            break
        logits = backend.forward(sequence, written[-1:], position + len(written))
    return written
