"""llama.cpp with each kind of cache: all positions, a sliding window, a recurrent state.

The models are tiny and their weights random; what matters is that a conversation never depends on
how its words came into the cache, whatever llama.cpp can or can't do with a part of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from engine.assembly import assemble
from engine.engine import Engine
from engine.errors import CannotTrim, RestoreError
from engine.llama_backend import LlamaBackend
from engine.load import load_backend
from engine.model_file import read_model_file
from engine.types import EngineOptions, Prefilling, TextDelta
from tests.engine.conversations import ask, start
from tests.engine.tiny_models import TOKENS, write_tiny

pytest.importorskip("llama_cpp")
KINDS = ["llama", "gemma3", "mamba"]
LONG = "the supplier shall deliver goods within thirty days. "
CLOSE = 2e-3


@pytest.fixture(scope="module", params=KINDS)
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    return write_tiny(folder / f"{request.param}.gguf", request.param)


@pytest.fixture
def backend(model: Path) -> Iterator[LlamaBackend]:
    backend = LlamaBackend(read_model_file(model), cells=512, sequences=4, batch=32, threads=1)
    yield backend
    backend.close()


@pytest.fixture
def make(model: Path) -> Iterator[Callable[..., Engine]]:
    made: list[Engine] = []

    def build(folder: Path | None = None, **options: int) -> Engine:
        settings = {"window": 384, "sequences": 4, "batch": 32, "threads": 1} | options
        all_options = EngineOptions(model, "llama.cpp", cache_dir=folder, **settings)  # type: ignore[arg-type]
        made.append(assemble(load_backend(all_options), all_options))
        return made[-1]

    yield build
    for engine in made:
        engine.close()


def said(engine: Engine, name: str) -> tuple[int, ...]:
    """Ids of the last answer; what random weights say is mostly no text."""
    return engine._register.known(name).transcript.turns[-1].segments[-1].ids


def read(backend: LlamaBackend, sequence: int, tokens: list[int], start: int = 0) -> np.ndarray:
    logits = np.empty(0)
    for at in range(0, len(tokens), backend.batch):
        logits = backend.forward(sequence, tokens[at : at + backend.batch], start + at)
    return logits


def test_the_kind_is_recognised(backend: LlamaBackend, model: Path) -> None:
    assert backend.info.can_trim == (model.stem == "llama")
    assert backend.info.vocabulary == len(TOKENS)
    assert backend.info.trained_context == 2048
    assert backend.tokenizer.marks == ("<s>", "</s>")
    assert backend.tokenizer.begin_token == 1


def test_text_gets_no_space_before_it(backend: LlamaBackend) -> None:
    for text in ("the goods", " the goods", "\nthe", "é—款"):
        ids = backend.tokenizer.encode(text)
        assert b"".join(map(backend.tokenizer.piece, ids)).decode() == text


def test_forks_and_restored_states_go_on_as_the_original(backend: LlamaBackend) -> None:
    tokens = [10 + n % 200 for n in range(90)]
    sequence = backend.new_sequence()
    read(backend, sequence, tokens)
    state = backend.save(sequence, 0, 90)
    fork, restored = backend.fork(sequence), backend.new_sequence()
    backend.load(restored, state)
    assert backend.positions(restored) == backend.positions(fork) == [(0, 90)]
    for tail in ([70, 71, 72], [80], [90]):
        start = backend.positions(sequence)[-1][1]
        rows = [backend.forward(one, tail, start) for one in (sequence, fork, restored)]
        assert np.abs(rows[0] - rows[1]).max() < CLOSE
        assert np.abs(rows[0] - rows[2]).max() < CLOSE
    backend.remove(sequence, 0, 1 << 30)
    assert backend.positions(sequence) == []
    assert np.abs(read(backend, sequence, [*tokens, 70, 71, 72, 80, 90]) - rows[0]).max() < CLOSE


def test_what_a_model_cannot_do_in_part_is_refused(backend: LlamaBackend) -> None:
    sequence, other = backend.new_sequence(), backend.new_sequence()
    read(backend, sequence, list(range(10, 60)))
    if backend.info.can_trim:
        backend.remove(sequence, 10, 20)
        assert backend.positions(sequence) == [(0, 10), (20, 50)]
        return
    before = backend.free_cells
    with pytest.raises(CannotTrim, match="drop a part"):
        backend.remove(sequence, 10, 20)
    with pytest.raises(CannotTrim, match="saved whole"):
        backend.save(sequence, 10, 20)
    assert (backend.positions(sequence), backend.free_cells) == ([(0, 50)], before)
    read(backend, other, [10, 11])
    with pytest.raises(RestoreError, match=r"empty sequence|follow"):
        backend.load(other, backend.save(sequence, 0, 50))
    assert backend.positions(other) == []


def test_warm_answers_equal_cold_ones(make: Callable[..., Engine]) -> None:
    engine = make()
    for number in range(3):
        question = f"{LONG[: 10 + 12 * number]}?"
        warm = ask(engine, "warm", question, most=12)
        cold = ask(engine, "cold", question, most=12, use_cache=False)
        assert said(engine, "warm") == said(engine, "cold")
        assert cold.stats.reused_tokens == 0
        assert (warm.stats.reused_tokens > 0) == (number > 0)


def test_edits_forks_and_stops_lead_to_the_same_answers(make: Callable[..., Engine]) -> None:
    engine, other = make(), make()
    for question in ("one?", "two?", "three?"):
        ask(engine, "a", question, most=8)
    engine.fork("a", "b", turns=2)
    engine.rewind("a", 1)
    for event in start(engine, "a", LONG * 2):
        if isinstance(event, Prefilling):
            engine.stop("a")
    engine.rewind("a", 1)
    pieces = 0
    for event in start(engine, "a", "longer?", most=60):
        pieces += isinstance(event, TextDelta)
        if pieces == 3:
            engine.stop("a")
    engine.rewind("a", 1)
    for question in ("one?", "two?", "four?"):
        ask(other, "a", question, most=8)
    ask(engine, "a", "two?", most=8)
    for name in "ab":
        ask(engine, name, "four?", most=8)
        assert said(engine, name) == said(other, "a")


def test_a_restart_reads_only_the_new_words(make: Callable[..., Engine], tmp_path: Path) -> None:
    engine, whole = make(tmp_path), make()
    for question in ("one?", "two?"):
        ask(engine, "a", question, most=8)
        ask(whole, "a", question, most=8)
    engine.close()
    again = make(tmp_path)
    last = ask(again, "a", "three?", most=8)
    assert last.stats.restored_from == "disk"
    assert last.stats.reused_tokens > last.stats.prefilled_tokens
    ask(whole, "a", "three?", most=8)
    assert said(again, "a") == said(whole, "a")


def test_many_turns_in_a_small_window(make: Callable[..., Engine]) -> None:
    engine = make(window=256)
    trims = 0
    for number in range(14):
        last = ask(engine, "a", f"{number} {LONG}", most=8)
        trims += last.stats.trimmed_tokens > 0
        assert last.stats.prompt_tokens <= 256
        ask(engine, "b", "else?", most=4)
    assert trims >= 2
    conversation = engine._register.known("a")
    if not engine.info.can_trim:  # read again from the start: without gaps
        assert conversation.window.next_position == len(conversation.window)


def test_conversations_that_left_come_back(make: Callable[..., Engine]) -> None:
    engine, alone = make(window=256, cells=256), make()
    for question in ("one?", "two?", "three?"):
        for each in (alone, engine):
            ask(each, "a", question, most=8)
        assert said(engine, "a") == said(alone, "a")
        ask(engine, "b", LONG * 2, most=8)
        engine.delete("b")
