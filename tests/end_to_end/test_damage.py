"""Cache files that are damaged in every way: set aside, read again, and never another answer."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engine.assembly import assemble
from engine.backend import Backend
from engine.cold_store import DAMAGED, FOREIGN
from engine.engine import Engine
from engine.load import load_backend
from engine.transcript_file import folder_name
from engine.types import EngineOptions, Finished, SamplingOptions, Turn
from tests.engine.kept_engines import SYSTEM, HastyDisk, Kept

CORRUPTIONS = 1000
QUESTIONS = ["What is the rent?", "When is it due?", "And the deposit?"]
NEXT = "Who may terminate the agreement, and when?"


def flip(raw: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(raw))
    return raw[:at] + bytes([raw[at] ^ (1 << rng.randrange(8))]) + raw[at + 1 :]


def cut(raw: bytes, rng: random.Random) -> bytes:
    return raw[: rng.randrange(len(raw))]


def scribble(raw: bytes, rng: random.Random) -> bytes:
    at, length = rng.randrange(len(raw)), rng.randrange(1, 400)
    return (raw[:at] + rng.randbytes(length) + raw[at + length :])[: len(raw)]


def lose(raw: bytes, rng: random.Random) -> bytes:
    at, length = rng.randrange(len(raw)), rng.randrange(1, 400)
    return raw[:at] + raw[at + length :]


def another_version(raw: bytes, rng: random.Random) -> bytes:
    return raw[:8] + bytes([2 + rng.randrange(200)]) + raw[9:]


KINDS = (flip, flip, flip, cut, cut, scribble, lose, another_version)


class Folder:
    """A folder that is put back into its first state before each damage."""

    def __init__(self, root: Path) -> None:
        self.root, self.pristine = root, root.with_name("pristine")
        shutil.copytree(root, self.pristine)

    def restore(self) -> None:
        shutil.rmtree(self.root)
        shutil.copytree(self.pristine, self.root)

    def file(self, name: str) -> Path:
        return self.root / folder_name(name) / "cache"


def written(root: Path, **backend: object) -> None:
    """Conversations with compact files, so that each byte of them means something."""
    kept = Kept(root, backend)
    for name in ("a", "b"):
        for question in QUESTIONS:
            kept.ask(name, f"{question} ({name})")
        kept.idle()
        kept.flush()
    for name in ("a", "b"):
        cold = kept.engine._tier.store._cold._disk._cold[name]  # type: ignore[attr-defined]
        cold.file.compact()
    kept.engine.close()


@pytest.mark.slow
@pytest.mark.timeout(280)
def test_a_thousand_corruptions(tmp_path: Path) -> None:
    # given a conversation on disk, the answer that it goes on with, and files of others
    root = tmp_path / "cache"
    written(root)
    written(tmp_path / "other model", salt=5)
    folder = Folder(root)
    kept = Kept(root)
    clean = kept.ask("a", NEXT)
    assert clean.stats.restored_from == "disk"
    shared = len(kept.engine._register.known("a").transcript.turns[0].segments[0].ids)
    assert clean.stats.reused_tokens > 2 * shared
    kept.engine.close()
    folder.restore()
    raw = folder.file("a").read_bytes()
    strangers = [
        folder.file("b").read_bytes(),
        (tmp_path / "other model" / folder_name("a") / "cache").read_bytes(),
        b"",
        bytes(len(raw)),
        raw + raw,
    ]
    rng = random.Random(7)
    detected = 0
    while detected < CORRUPTIONS:
        # when its file is damaged
        folder.restore()
        path = folder.file("a")
        kind = rng.randrange(len(KINDS) + 2)
        whole = False
        if kind < len(KINDS):
            damaged = KINDS[kind](raw, rng)
            if damaged == raw:
                continue
            path.write_bytes(damaged)
        elif kind == len(KINDS):
            stranger = rng.choice(strangers)
            whole = stranger.startswith(raw)  # more behind the end is a torn append: ignored
            path.write_bytes(stranger)
        else:
            path.unlink()
            path.mkdir()
            (path / "inside").write_bytes(b"x")
        # then the answer is the clean one, and the file was set aside
        kept = Kept(root, disk=HastyDisk())
        answer = kept.ask("a", NEXT)
        assert answer.text == clean.text
        if not whole:
            detected += 1
            assert answer.stats.reused_tokens <= shared
            assert set(kept.notices) & {DAMAGED, FOREIGN}
            assert list(path.parent.glob("cache.*.bad"))
        kept.engine.close()


class Lasting:
    """A backend that several engines use one after the other."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    def __getattr__(self, name: str) -> object:
        return getattr(self._backend, name)

    def close(self) -> None:
        for sequence in range(8):
            try:
                self._backend.free_sequence(sequence)
            except KeyError:
                continue


@pytest.fixture(scope="module")
def engine_of(model_path: Path) -> Iterator[Callable[[Path], Engine]]:
    options = EngineOptions(model=model_path, backend="llama.cpp", window=1024, batch=64, threads=1)
    backend = load_backend(options)

    def make(root: Path) -> Engine:
        return assemble(Lasting(backend), replace(options, cache_dir=root))  # type: ignore[arg-type]

    yield make
    backend.close()


def ask(engine: Engine, question: str) -> Finished:
    turn = Turn(question, SYSTEM)
    *_, last = engine.ask("a", turn, SamplingOptions(max_tokens=8))
    assert isinstance(last, Finished)
    return last


@pytest.mark.model
@pytest.mark.slow
def test_a_real_models_damaged_files(tmp_path: Path, engine_of: Callable[[Path], Engine]) -> None:
    root = tmp_path / "cache"
    engine = engine_of(root)
    for question in QUESTIONS[:2]:
        ask(engine, question)
    engine.close()
    folder = Folder(root)
    engine = engine_of(root)
    clean = ask(engine, NEXT)
    assert clean.stats.restored_from == "disk"
    engine.close()
    folder.restore()
    raw = folder.file("a").read_bytes()
    rng = random.Random(3)
    for kind in (flip, flip, cut, scribble, lose, another_version):
        folder.restore()
        folder.file("a").write_bytes(kind(raw, rng))
        engine = engine_of(root)
        answer = ask(engine, NEXT)
        assert answer.stats.reused_tokens < clean.stats.reused_tokens
        assert answer.text == clean.text
        assert list(folder.file("a").parent.glob("cache.*.bad"))
        engine.close()
