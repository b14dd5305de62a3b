"""Conversations over the torch backend: reused, restored, moved away, trimmed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from engine.assembly import assemble
from engine.engine import Engine
from engine.errors import OutOfCells
from engine.fake_tokenizer import FakeTokenizer
from engine.load import load_backend
from engine.memory_probe import Memory
from engine.torch_backend import TorchBackend
from engine.torch_model import Decoder
from engine.types import EngineOptions, Finished, SamplingOptions, Turn
from tests.engine.torch_backends import Counting, backend_of
from tests.engine.torch_models import small_decoder

GB = 1 << 30
SYSTEM = "You answer questions about contracts."
QUESTIONS = [
    "When is the rent due, and what does it cost to pay it late?",
    "Who repairs the roof of the warehouse?",
    "May the tenant sublet a part of the premises?",
    "Which law governs the lease?",
]


class Kept:
    """An engine over a small random model and a folder."""

    def __init__(self, folder: Path | None, decoder: Counting, **options: Any) -> None:
        self.folder, self.decoder, self.options = folder, decoder, options
        self.engine = self.start()

    def start(self) -> Engine:
        settings = {"block": 16, "batch": 32, "cells": 2048, **self.options}
        self.backend: TorchBackend = backend_of(self.decoder, **settings)
        options = EngineOptions(
            model=Path(), backend="torch", window=1024, batch=32, cache_dir=self.folder
        )
        return assemble(self.backend, options, probe=lambda: [Memory("memory", 8 * GB, 16 * GB)])

    def restart(self) -> None:
        self.engine.close()
        self.engine = self.start()

    def ask(self, name: str, question: str, *, use_cache: bool = True) -> Finished:
        turn, sampling = Turn(question, SYSTEM), SamplingOptions(max_tokens=16)
        *_, last = self.engine.ask(name, turn, sampling, use_cache=use_cache)
        assert isinstance(last, Finished)
        return last


@pytest.fixture(scope="module")
def decoder() -> Decoder:
    return small_decoder(vocabulary=FakeTokenizer().vocabulary)


@pytest.fixture(params=[False, True], ids=["16 or 32 bits", "int8"])
def kept(request: pytest.FixtureRequest, tmp_path: Path, decoder: Decoder) -> Iterator[Kept]:
    kept = Kept(tmp_path, Counting(decoder), packed=request.param)
    yield kept
    kept.engine.close()


def test_a_follow_up_costs_only_the_new_words(kept: Kept) -> None:
    first = kept.ask("a", QUESTIONS[0])
    kept.decoder.rows = 0
    second = kept.ask("a", QUESTIONS[1])
    assert second.stats.backend == "torch"
    assert second.stats.reused_tokens >= first.stats.prompt_tokens
    assert second.stats.prefilled_tokens < second.stats.prompt_tokens / 2
    # whole blocks are computed, so a little more than the new tokens
    assert kept.decoder.rows <= second.stats.prefilled_tokens + second.stats.generated_tokens + 64


def test_warm_and_cold_answers_agree(kept: Kept) -> None:
    for question in QUESTIONS:
        warm, cold = kept.ask("a", question), kept.ask("b", question, use_cache=False)
        assert warm.text == cold.text
        assert cold.stats.reused_tokens == 0
    assert warm.stats.reused_tokens > 0


def test_after_a_restart_the_conversation_goes_on_as_if_nothing_was(
    kept: Kept, tmp_path_factory: pytest.TempPathFactory
) -> None:
    live = Kept(None, kept.decoder, packed=kept.options["packed"])
    for question in QUESTIONS[:3]:
        assert kept.ask("a", question).text == live.ask("a", question).text
    kept.restart()
    kept.decoder.rows = 0
    restored, expected = kept.ask("a", QUESTIONS[3]), live.ask("a", QUESTIONS[3])
    assert restored.stats.restored_from == "disk"
    assert restored.stats.reused_tokens == expected.stats.reused_tokens > 0
    assert restored.text == expected.text
    live.engine.close()


def test_conversations_take_turns_on_a_full_device(tmp_path: Path, decoder: Decoder) -> None:
    """Idle ones move to memory and come back; nobody reads anything twice."""
    small = Kept(tmp_path / "small", Counting(decoder), cells=320)
    roomy = Kept(tmp_path / "roomy", Counting(decoder), cells=4096)
    moved = 0
    for question in QUESTIONS[:3]:
        for name in ("a", "b", "c"):
            here, there = small.ask(name, question), roomy.ask(name, question)
            assert here.text == there.text
            moved += here.stats.restored_from == "memory"
    assert moved > 0
    small.engine.close()
    roomy.engine.close()


def test_a_device_whose_memory_runs_out_is_tried_again(
    tmp_path: Path, decoder: Decoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = Kept(tmp_path, Counting(decoder))
    expected = [kept.ask(name, QUESTIONS[0]).text for name in ("a", "b")]
    failures = 0
    original = TorchBackend._read

    def once(self: TorchBackend, *arguments: Any) -> Any:
        nonlocal failures
        if not failures:
            failures += 1
            raise torch.OutOfMemoryError("no memory")
        return original(self, *arguments)

    monkeypatch.setattr(TorchBackend, "_read", once)
    again = kept.ask("c", QUESTIONS[0])
    assert failures == 1
    assert again.text == expected[0]
    kept.engine.close()


def test_a_turn_that_never_fits_says_so(decoder: Decoder, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Kept(None, Counting(decoder))

    def full(self: TorchBackend, *arguments: Any) -> Any:
        raise torch.OutOfMemoryError("no memory")

    monkeypatch.setattr(TorchBackend, "_read", full)
    with pytest.raises(OutOfCells):
        kept.ask("a", QUESTIONS[0])
    monkeypatch.undo()
    assert kept.ask("b", QUESTIONS[0]).text
    kept.engine.close()


@pytest.mark.model
@pytest.mark.slow
def test_with_real_weights(model_path: Path, tmp_path: Path) -> None:
    options = EngineOptions(
        model=model_path, backend="torch", window=1024, cache_dir=tmp_path, threads=1
    )
    answers, stats = [], []
    for restart in (False, True):
        engine = assemble(load_backend(options), options)
        for question in ("What is a lease? Answer in one sentence.", "And who is a tenant?"):
            if restart and question.startswith("What"):
                continue
            *_, last = engine.ask("a", Turn(question, SYSTEM), SamplingOptions(max_tokens=24))
            assert isinstance(last, Finished)
            answers.append(last.text)
            stats.append(last.stats)
        engine.close()
    assert all(answers)
    assert stats[1].reused_tokens > stats[0].prompt_tokens
    assert stats[2].restored_from == "disk"
    assert stats[2].prefilled_tokens < stats[2].prompt_tokens / 2
