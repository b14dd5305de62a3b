"""What runs in the processes that `test_kill` ends: an engine that works until it is killed."""

from __future__ import annotations

import contextlib
import hashlib
import random
import time
from ctypes import c_int
from multiprocessing.connection import Connection
from pathlib import Path

from engine import cache_file
from engine.disk import Disk
from engine.errors import ContextTooLong
from engine.types import Notice, Prefilling, TextDelta
from tests.engine.conversations import expected_cells
from tests.engine.kept_engines import Kept, quick_greedy

PHASES = ("start", "prefill", "decode", "idle", "words", "saving", "compaction", "rename")
NAMES = ("a", "b")


class SlowDisk(Disk):
    """Takes its time, so that a kill can hit the middle of it, and says what it does."""

    def __init__(self, phase: c_int) -> None:
        self._phase = phase
        self._made: set[int] = set()

    def write_at(self, file, offset, parts):  # type: ignore[no-untyped-def]
        self._say("compaction" if id(file) in self._made else "saving")
        for part in parts:
            view = memoryview(part).cast("B")
            half = max(1, len(view) // 2)
            for piece in (view[:half], view[half:]):
                offset = super().write_at(file, offset, [piece]) if piece else offset
                time.sleep(0.0005)
        return offset

    def open_write(self, path: Path, *, create: bool = False):  # type: ignore[no-untyped-def]
        self._say("words" if "transcript" in path.name else "saving")
        time.sleep(0.0005)
        file = super().open_write(path, create=create)
        self._made.discard(id(file))
        if create and "cache" in path.name:
            self._made.add(id(file))
        return file

    def sync(self, file) -> None:  # type: ignore[no-untyped-def]
        time.sleep(0.001)

    def replace(self, new: Path, path: Path) -> None:
        self._say("rename")
        time.sleep(0.0005)
        super().replace(new, path)
        time.sleep(0.0005)

    def _say(self, phase: str) -> None:
        self._phase.value = PHASES.index(phase)


def digest(ids: list[int]) -> str:
    return hashlib.blake2b(repr(ids).encode(), digest_size=8).hexdigest()


def start(folder: Path, phase: c_int) -> Kept:
    return Kept(
        folder,
        {"cells": 700, "sequences": 5, "batch": 16, "seconds_per_batch": 0.0003},
        {"window": 512, "sequences": 5, "batch": 16},
        SlowDisk(phase),
    )


def work(folder: Path, seed: int, phase: c_int, told: Connection) -> None:
    """Asks, edits and idles until it is killed; tells each committed turn."""
    rng = random.Random(seed)
    cache_file.WASTE_FLOOR = 512  # small states: else nothing would ever be compacted
    kept = start(folder, phase)
    told.send(("", -1, ""))
    while True:
        name = rng.choice(NAMES)
        question = " the supplier shall deliver goods within days" * rng.randrange(1, 5)
        known = name in kept.engine.conversations()
        turns = len(kept.engine.conversation(name).turns) if known else 0
        if rng.random() < 0.2 and turns:
            told.send((name, turns - 1, ""))  # what is about to be taken back
            kept.engine.rewind(name, turns - 1)
        if rng.random() < 0.05 and known:
            told.send((name, 0, ""))
            kept.engine.delete(name)
        with contextlib.suppress(ContextTooLong):
            for event in kept.events(name, question, most=rng.randrange(2, 30)):
                if isinstance(event, Prefilling):
                    phase.value = PHASES.index("prefill")
                elif isinstance(event, TextDelta):
                    phase.value = PHASES.index("decode")
            ids = kept.ids(name)
            told.send((name, len(kept.engine.conversation(name).turns), digest(ids)))
        for _ in range(rng.randrange(6)):
            phase.value = PHASES.index("idle")
            kept.engine.idle_step()


def look(folder: Path, told: Connection) -> None:
    """Starts on what a kill left; tells turns, ids and whether an answer is a clean one."""
    kept = Kept(
        folder,
        {"cells": 700, "sequences": 5, "batch": 16},
        {"window": 512, "sequences": 5, "batch": 16},
    )
    found: dict[str, tuple[list[str], bool]] = {}
    notices: list[str] = []
    for name in kept.engine.conversations():
        conversation = kept.engine._register.known(name)
        ids = list(conversation.transcript.ids)
        digests = [digest(ids[: turn.stop]) for turn in conversation.transcript.turns]
        before: dict[int, int] = {}
        hidden: list[tuple[int, int]] = []
        for event in kept.events(name, "Is all well?"):
            if isinstance(event, Prefilling):
                before, hidden = expected_cells(conversation), list(conversation.window.hidden)
            elif isinstance(event, Notice):
                notices.append(event.text)
        turn = conversation.transcript.turns[-1]
        written = list(turn.segments[-1].ids)
        right = conversation.window.hidden != hidden or (
            written[: len(expected := quick_greedy(before, 24))] == expected
        )
        kept.engine.rewind(name, len(digests))
        found[name] = digests, right
    kept.engine.close()
    aside = [str(path.name) for path in folder.rglob("*.bad")]
    told.send((found, notices, aside))
    told.close()
