"""Secrets of one conversation never reach another: no token, no byte, no bit of a logit."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.assembly import assemble
from engine.backend import Backend
from engine.engine import Engine
from engine.load import load_backend
from engine.memory_probe import Memory
from engine.transcript_file import folder_name
from engine.types import EngineOptions, Finished, SamplingOptions, Turn
from tests.engine.kept_engines import SYSTEM, Kept

SECRETS = ("PLUM-7731-XK", "FIGS-0042-QZ")  # as many tokens of one letter each
HARMLESS = "What does clause 4 say about the rent?"


class Watched:
    """A backend that notes a digest of all logits it gives, by what is asked for."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.seen: list[str] = []
        self.watching = False

    def __getattr__(self, name: str) -> object:
        return getattr(self._backend, name)

    def forward(self, sequence: int, tokens: list[int], start: int, *, every: bool = False):  # type: ignore[no-untyped-def]
        logits = self._backend.forward(sequence, tokens, start, every=every)
        if self.watching:
            self.seen.append(hashlib.blake2b(np.ascontiguousarray(logits).tobytes()).hexdigest())
        return logits


class Scene:
    """Two conversations on one engine; what is asked in "b" is watched."""

    def __init__(self, root: Path, secret: str, backend: Backend, options: EngineOptions) -> None:
        self.root, self.secret = root, secret
        self.watched = Watched(backend)
        self.options = options
        self.answers: list[str] = []
        self.engine = self.start()

    def start(self) -> Engine:
        self.watched.close = lambda: None  # type: ignore[attr-defined]
        return assemble(
            self.watched,  # type: ignore[arg-type]
            self.options,
            probe=lambda: [Memory("memory", 8 << 30, 16 << 30)],
        )

    def restart(self) -> None:
        for one in self.engine._device.resident:
            self.engine._device.forget(one)
        self.engine.close()
        self.engine = self.start()

    def ask(self, name: str, question: str, most: int = 6) -> str:
        self.watched.watching = name == "b"
        turn = Turn(question, SYSTEM)
        *_, last = self.engine.ask(name, turn, SamplingOptions(max_tokens=most))
        assert isinstance(last, Finished)
        self.watched.watching = False
        if name == "b":
            self.answers.append(last.text)
        return last.text

    def tell(self) -> None:
        self.ask("a", f"Keep this to yourself: {self.secret}. Say only yes.", 2)

    def file(self, name: str) -> Path:
        return self.root / folder_name(name) / "cache"

    def play(self) -> None:
        """All that could carry something over."""
        self.tell()
        self.ask("b", HARMLESS)
        # both leave the device and come back from memory
        for _ in range(4):
            self.engine._device.evict_one()
        self.ask("b", HARMLESS)
        self.tell()
        # both come back from disk
        self.restart()
        self.ask("a", "And now?", 2)
        self.ask("b", HARMLESS)
        # a restore of the other's file fails
        self.engine._tier.store.flush()  # type: ignore[attr-defined]
        theirs = self.file("a").read_bytes()
        for one in self.engine._device.resident:
            self.engine._device.forget(one)
        self.engine.close()
        self.file("b").write_bytes(theirs)
        self.engine = self.start()
        self.ask("b", HARMLESS)
        assert list(self.file("b").parent.glob("*.bad"))
        for bad in self.file("b").parent.glob("*.bad"):
            bad.unlink()
        # forks and deletion: the cells of the deleted one are used again
        self.engine.fork("a", "a2")
        self.ask("a2", "More?", 2)
        self.engine.delete("a")
        self.ask("b", HARMLESS)
        self.engine.delete("a2")
        self.ask("b", HARMLESS)
        for _ in range(50):
            self.engine.idle_step()
        self.ask("b", HARMLESS)
        self.engine._tier.store.flush()  # type: ignore[attr-defined]


def compare(scenes: list[Scene]) -> None:
    one, other = scenes
    assert len(one.watched.seen) > 15
    assert one.watched.seen == other.watched.seen
    assert one.answers == other.answers
    for scene in scenes:
        assert all(secret not in " ".join(scene.answers) for secret in SECRETS)
        left = [path for path in scene.root.rglob("*") if path.is_file()]
        assert left
        for path in left:
            data = path.read_bytes()
            for secret in SECRETS:
                assert secret.encode() not in data
                ids = np.asarray(scene.engine._backend.tokenizer.encode(secret), "<u4").tobytes()
                assert ids not in data
        scene.restart()
        scene.engine.close()


def test_secrets_change_no_logit_of_another_conversation(tmp_path: Path) -> None:
    scenes = []
    for number, secret in enumerate(SECRETS):
        root = tmp_path / str(number)
        kept = Kept(root)
        scene = Scene(root, secret, kept.backend, kept.options)
        scene.play()
        scenes.append(scene)
    compare(scenes)


Made = tuple[Backend, EngineOptions]


@pytest.fixture(params=["llama.cpp", "torch"])
def real(request: pytest.FixtureRequest) -> Iterator[Made]:
    """llama.cpp with the default model, torch with a small random one."""
    path = Path()
    if request.param == "llama.cpp":
        path = request.getfixturevalue("model_path")
    options = EngineOptions(model=path, backend=request.param, window=1024, batch=64, threads=1)
    backend: Backend
    if request.param == "torch":
        from engine.fake_tokenizer import FakeTokenizer
        from tests.engine.torch_backends import backend_of
        from tests.engine.torch_models import small_decoder

        decoder = small_decoder(vocabulary=FakeTokenizer().vocabulary)
        backend = backend_of(decoder, cells=1280, batch=64)
    else:
        backend = load_backend(options)
    yield backend, options
    backend.close()


@pytest.mark.model
@pytest.mark.slow
def test_secrets_and_real_decoders(tmp_path: Path, real: Made) -> None:
    backend, options = real
    scenes = []
    for number, secret in enumerate(SECRETS):
        root = tmp_path / str(number)
        scene = Scene(root, secret, backend, replace(options, cache_dir=root))
        scene.play()
        scenes.append(scene)
        for one in scene.engine._device.resident:
            scene.engine._device.forget(one)
    compare(scenes)
