"""An engine for the tests of host and client: slow on purpose, durable, and it dies on demand."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from engine.assembly import assemble
from engine.engine import Engine
from engine.errors import (
    BackendUnavailable,
    ContextTooLong,
    ModelNotFound,
    UnknownConversation,
)
from engine.fake_backend import FakeBackend
from engine.types import (
    CacheReport,
    ConversationInfo,
    EngineOptions,
    Event,
    Finished,
    ModelInfo,
    Notice,
    Prefilling,
    SamplingOptions,
    TextDelta,
    Turn,
    TurnInfo,
    TurnStats,
)

STEP = 0.02
INFO = ModelInfo("fake model", "fake", "f" * 64, 300, 1, 8192, 16, 0)


class FakeEngine:
    """Answers "one two … ten" in ten pieces after ten steps of reading."""

    def __init__(self, options: EngineOptions) -> None:
        self.info = INFO
        self._folder = options.cache_dir
        self._stop = threading.Event()
        self._idle_left = 1 << 30
        if self._folder is not None:
            (self._folder / "pid").write_text(str(os.getpid()))

    def ask(
        self,
        conversation: str,
        turn: Turn,
        sampling: SamplingOptions,
        *,
        use_cache: bool,
    ) -> Iterator[Event]:
        self._stop.clear()
        if turn.user == "too long":
            raise ContextTooLong(9000, 4096)
        if turn.user == "bug":
            raise ZeroDivisionError("a bug")
        text = turn.prefix
        for done in range(10):
            time.sleep(STEP)
            yield Prefilling(done + 1, 10)
            if turn.user == "dies while reading" or self._dies_once(turn, "reading"):
                os.kill(os.getpid(), signal.SIGKILL)
            if turn.user == "meets an unknown instruction":
                os.kill(os.getpid(), signal.SIGILL)
            if self._stop.is_set():
                break
        yield Notice(f"cache {use_cache}, at most {sampling.max_tokens}")
        for word in "one two three four five six seven eight nine ten".split():
            if self._stop.is_set():
                break
            time.sleep(STEP)
            text += word + " "
            yield TextDelta(word + " ")
        self._commit(conversation, turn, text)
        reason = "stopped" if self._stop.is_set() else "end"
        yield Finished(text, reason, TurnStats("fake", "fake model", 10, 0, 10, 10, 1.0, 2.0))

    def stop(self, conversation: str) -> None:
        self._stop.set()

    def score(self, conversation: str, turn: Turn, answers: Sequence[str]) -> list[float]:
        return [-float(len(answer)) for answer in answers]

    def count_tokens(self, text: str) -> int:
        if text == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        return len(text.split())

    def prefill_speed(self) -> float:
        return 123.5

    def conversation(self, name: str) -> ConversationInfo:
        turns = self.turns(name)
        if not turns:
            raise UnknownConversation(f"There is no conversation {name!r}.")
        infos = tuple(TurnInfo(n, 3, True, turn["record"]) for n, turn in enumerate(turns))
        return ConversationInfo(name, 3 * len(turns), 3, 4096, "device", 48, 0, infos)

    def conversations(self) -> list[str]:
        return sorted(path.stem for path in self._files())

    def open(self, name: str) -> None:
        self.conversation(name)

    def rewind(self, name: str, turns: int) -> None:
        self._write(name, self.turns(name)[:turns])

    def fork(self, name: str, new: str, turns: int | None = None) -> None:
        self._write(new, self.turns(name)[:turns])

    def delete(self, name: str) -> None:
        self._path(name).unlink()

    def adopt_partial(self, conversation: str, turn: Turn, text: str, turns: int) -> None:
        if len(self.turns(conversation)) == turns:
            self._commit(conversation, turn, text)

    def idle_step(self) -> bool:
        time.sleep(0.005)
        if self._folder is not None:
            count = self._folder / "idle"
            count.write_text(str(int(count.read_text() or 0) + 1 if count.exists() else 1))
            if (self._folder / "dies when idle").exists():
                os.kill(os.getpid(), signal.SIGKILL)
            if (self._folder / "fails when idle").exists():
                raise RuntimeError("idle trouble")
        return True

    def cache_report(self) -> CacheReport:
        return CacheReport(4096, 7, 1, 2, 3, 4, 5, (self.conversation("c"),))

    def close(self) -> None:
        if self._folder is not None:
            (self._folder / "closed").touch()

    def turns(self, name: str) -> list[dict]:
        path = self._path(name)
        return json.loads(path.read_text()) if path.exists() else []

    def _dies_once(self, turn: Turn, when: str) -> bool:
        if self._folder is None or turn.user != f"dies once while {when}":
            return False
        mark = self._folder / "died"
        first = not mark.exists()
        mark.touch()
        return first

    def _commit(self, conversation: str, turn: Turn, text: str) -> None:
        if conversation:
            turn_as_kept = {"user": turn.user, "text": text, "record": turn.record}
            self._write(conversation, [*self.turns(conversation), turn_as_kept])

    def _write(self, name: str, turns: list[dict]) -> None:
        self._path(name).write_text(json.dumps(turns))

    def _path(self, name: str) -> Path:
        assert self._folder is not None
        return self._folder / f"{name}.json"

    def _files(self) -> list[Path]:
        return list(self._folder.glob("*.json")) if self._folder else []


def make(options: EngineOptions) -> FakeEngine:
    return FakeEngine(options)


def slow(options: EngineOptions) -> Engine:
    """The real engine, over a backend that takes its time."""
    reply = "the buyer shall pay the price within thirty days of the invoice"
    return assemble(FakeBackend(batch=16, seconds_per_batch=STEP, reply=reply), options)


def no_model(options: EngineOptions) -> FakeEngine:
    raise ModelNotFound(f"There is no model at {options.model}; choose another one.")


def no_library(options: EngineOptions) -> FakeEngine:
    raise BackendUnavailable("llama.cpp is not installed; install it.")


def broken(options: EngineOptions) -> FakeEngine:
    raise ZeroDivisionError("a bug")


def killed(options: EngineOptions) -> FakeEngine:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


class HangsWhenClosed(FakeEngine):
    def close(self) -> None:
        time.sleep(60)


def hangs_when_closed(options: EngineOptions) -> FakeEngine:
    return HangsWhenClosed(options)
