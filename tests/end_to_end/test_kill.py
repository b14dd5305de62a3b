"""kill -9 at random moments: every start is clean, and no committed turn is lost."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import sys
import time
from collections import Counter
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from tests.end_to_end.killed_engine import NAMES, PHASES, look, work

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL and forkserver")

KILLS = 200


Committed = dict[str, dict[int, str]]  # by conversation and number of turns: digest of the ids


def listen(told: Connection, committed: Committed, until: float) -> None:
    """Takes note of committed turns until a moment."""
    while (left := until - time.monotonic()) > 0:
        if told.poll(left):
            note(told.recv(), committed)


def note(message: tuple[str, int, str], committed: Committed) -> None:
    """Notes a turn; without a digest, that the turns above a number may be taken back now."""
    name, turns, digest = message
    left = {n: one for n, one in committed.get(name, {}).items() if n <= turns}
    committed[name] = {**left, turns: digest} if digest else left


def drain(told: Connection, committed: Committed) -> None:
    try:
        while told.poll(0):
            note(told.recv(), committed)
    except (EOFError, OSError):
        pass


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_two_hundred_kills(tmp_path: Path) -> None:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.end_to_end.killed_engine"])
    rng = random.Random(11)
    phase = context.RawValue("i", 0)  # without a lock, which a killed process would keep
    hit: Counter[str] = Counter()
    committed: Committed = {}
    checked = 0
    for number in range(KILLS):
        told, tell = context.Pipe(duplex=False)
        child = context.Process(target=work, args=(tmp_path, number, phase, tell))
        child.start()
        tell.close()
        if number % 10:
            assert told.poll(60)  # it has started
        listen(told, committed, time.monotonic() + rng.random() * 0.3)
        assert child.pid is not None
        hit[PHASES[phase.value]] += 1
        os.kill(child.pid, signal.SIGKILL)
        child.join()
        drain(told, committed)
        told.close()
        phase.value = 0
        if number % 5 == 4 or number == KILLS - 1:
            checked += check(context, tmp_path, committed)
    assert checked > 20
    assert not {"prefill", "decode", "saving", "compaction"} - set(hit), hit
    assert sum(hit.values()) == KILLS


def check(context, folder: Path, committed: Committed) -> int:  # type: ignore[no-untyped-def]
    """Starts cleanly, finds each committed turn, answers as a fresh engine does."""
    told, tell = context.Pipe(duplex=False)
    child = context.Process(target=look, args=(folder, tell))
    child.start()
    tell.close()
    assert told.poll(60)
    found, notices, aside = told.recv()
    child.join()
    assert child.exitcode == 0
    assert notices == []
    assert aside == []
    for name in NAMES:
        digests, right = found.get(name, ([], True))
        assert right
        for turns, digest in committed.get(name, {}).items():
            assert digests[turns - 1 : turns] == [digest]
        # What was committed without being told before the kill is there too.
        committed[name] = dict(enumerate(digests, start=1))
    return len(found)
