"""Helpers of the tests of kept conversations: engines over a folder, restarted at will."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from engine.assembly import assemble
from engine.disk import Disk
from engine.engine import Engine
from engine.fake_backend import FakeBackend, _Cell
from engine.idle import IdleTime
from engine.memory_probe import Memory
from engine.types import EngineOptions, Event, Finished, Notice, SamplingOptions, Turn
from tests.engine.conversations import write

SYSTEM = "You answer questions about contracts, and name the clause that you used."
QUESTIONS = [f"Question {n}: what does clause {n}.{n + 1} say about the rent?" for n in range(5)]
GB = 1 << 30


class HastyDisk(Disk):
    """Doesn't wait until bytes are on the device, for tests that write much."""

    def sync(self, file: object) -> None:
        pass

    def sync_folder(self, folder: Path) -> None:
        pass


@dataclass
class Kept:
    """An engine over a fake backend and a folder."""

    root: Path | None
    backend_options: dict[str, object] = field(default_factory=dict)
    engine_options: dict[str, object] = field(default_factory=dict)
    disk: Disk = field(default_factory=Disk)
    now: float = 0.0
    free: int = 8 * GB
    notices: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.start()

    def start(self) -> Engine:
        options = {"window": 1024, "batch": 32, "sequences": 8, **self.engine_options}
        self.options = EngineOptions(
            model=Path(),
            backend="fake",
            cache_dir=self.root,
            **options,  # type: ignore[arg-type]
        )
        given = {"cells": 4096, "batch": 32, "sequences": 8, **self.backend_options}
        self.backend = FakeBackend(**given)  # type: ignore[arg-type]
        self.engine = assemble(
            self.backend,
            self.options,
            probe=lambda: [Memory("memory", self.free, 16 * GB)],
            idle_time=IdleTime(quiet_seconds=0, clock=lambda: self.now, battery=lambda: False),
            disk=self.disk,
        )
        self.engine._tier.store.memory._clock = lambda: self.now  # type: ignore[attr-defined]
        return self.engine

    def restart(self, **backend_options: object) -> Engine:
        self.engine.close()
        self.backend_options |= backend_options
        return self.start()

    def events(self, name: str, question: str, most: int = 24, **more: object) -> Iterator[Event]:
        self.now += 1.0
        use_cache = bool(more.pop("use_cache", True))
        system = str(more.pop("system", SYSTEM))
        turn = Turn(question, system, **more)  # type: ignore[arg-type]
        return self.engine.ask(name, turn, SamplingOptions(max_tokens=most), use_cache=use_cache)

    def ask(self, name: str, question: str, most: int = 24, **more: object) -> Finished:
        last: Event | None = None
        for last in self.events(name, question, most, **more):
            if isinstance(last, Notice):
                self.notices.append(last.text)
        assert isinstance(last, Finished)
        return last

    def flush(self) -> None:
        self.engine._tier.store.flush()  # type: ignore[attr-defined]

    def idle(self) -> int:
        """Works until nothing is left; how many steps it took."""
        steps = 0
        while self.engine.idle_step():
            steps += 1
            assert steps < 10_000
        self.flush()
        return steps

    def file(self, name: str, part: str = "cache") -> Path:
        assert self.root is not None
        from engine.transcript_file import folder_name

        return self.root / folder_name(name) / part

    def ids(self, name: str) -> list[int]:
        found = self.engine._register.find(name)
        assert found is not None
        return list(found.transcript.ids)


def plain(root: Path | None, question_answers: list[str], name: str = "a") -> list[Finished]:
    """What an engine that is never interrupted answers to these questions."""
    kept = Kept(root)
    try:
        return [kept.ask(name, question) for question in question_answers]
    finally:
        kept.engine.close()


def quick_greedy(cells: dict[int, int], count: int) -> list[int]:
    """What a fresh backend writes after these tokens at these positions, however far apart."""
    backend = FakeBackend(cells=1 << 16)
    sequence = backend.new_sequence()
    *first, last = sorted(cells)
    own = backend._sequences[sequence]
    for position in first:
        (value,) = backend._cell_hashes([cells[position]], position).tolist()
        backend._attach(own, _Cell(position, cells[position], value))
    return write(backend, sequence, cells[last], last, count)


def texts(answers: list[Finished]) -> list[str]:
    """The answers' texts."""
    return [answer.text for answer in answers]
