"""The benchmarks' own parts: tables, slopes, the chart and the command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from desktop_app.cli import bench
from engine.fake_backend import FakeBackend
from tests.benchmarks import bench_decode, bench_memory, bench_restore, bench_turns, chart, report
from tests.benchmarks import ours as ours_module
from tests.benchmarks.script import conversation, passage
from tests.desktop_app.cli_runner import Cli


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Cli:
    return Cli(tmp_path, capsys)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fake decoder in place of the model."""

    def load(options: object) -> FakeBackend:
        return FakeBackend(cells=20_000)

    for module in (ours_module, bench_restore, bench_decode, bench_memory):
        monkeypatch.setattr(module, "load_backend", load)
    monkeypatch.setattr("desktop_app.models.find_language_model", lambda name: Path("fake.gguf"))


def test_no_two_passages_are_alike() -> None:
    assert len({passage("rent", number) for number in range(200)}) == 200
    turns = conversation(12)
    assert len({turn.user for turn in turns}) == 12
    assert turns[0].user.endswith("Question: What is the monthly rent and when is it due?")


def test_slope() -> None:
    assert report.slope([1.0, 2.0, 3.0, 4.0]) == (1.0, 0.0)
    gradient, error = report.slope([5.0, 5.1, 4.9, 5.0, 5.05])
    assert abs(gradient) < 2 * error


def test_table() -> None:
    text = report.table(["name", "n"], [["a", 1234], ["long name", 2.0], ["none", None]])
    assert text.splitlines()[2:] == ["a          1,234", "long name    2.0", "none           –"]


@pytest.mark.usefixtures("fake")
def test_turns_are_flat_with_the_cache_and_grow_without(cli: Cli, tmp_path: Path) -> None:
    target = tmp_path / "out" / "turns.json"
    assert (
        cli("bench", "turns", "--no-peers", "--output", target, "--turns", "7", "--passages", "3")
        == 0
    )
    result: dict[str, Any] = json.loads(target.read_text())
    assert "Milliseconds to the first token" in cli.out
    cached, restarted, cold = result["runs"].values()
    own = [len(turn.user) for turn in conversation(7, 3)]
    for rows in (cached, restarted):
        read = [row["prefilled_tokens"] for row in rows[1:]]
        assert max(read) <= max(own) + 40
        assert abs(report.slope(read)[0]) < 40
    assert report.slope([row["prefilled_tokens"] for row in cold])[0] > min(own) / 2
    assert [row["prompt_tokens"] for row in cold] == [row["prompt_tokens"] for row in cached]
    assert result["machine"]["cores"]
    chart.draw(result, tmp_path / "chart.png")
    assert (tmp_path / "chart.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.usefixtures("fake")
@pytest.mark.parametrize("kind", ["restore", "decode", "memory"])
def test_the_other_kinds(cli: Cli, kind: str) -> None:
    assert cli("bench", kind, "--no-peers", "--json", "--turns", "3") == 0
    assert cli.json["benchmark"] == kind
    assert cli("bench", kind, "--no-peers", "--turns", "3") == 0
    assert len(cli.out.splitlines()) > 3


def test_a_state_as_large_as_it_must_be(cli: Cli, fake: None) -> None:
    assert cli("bench", "restore", "--json") == 0
    for row in cli.json["rows"]:
        assert row["file_bytes"] <= 1.05 * row["bytes_per_token"] * row["tokens"] + (64 << 10)


def test_wrong_use_is_told(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cli("bench") == 2
    assert "turns, restore, decode or memory" in cli.err
    assert cli("bench", "turns", "--turns", "2") == 2
    assert "too short" in cli.err
    monkeypatch.setattr(bench, "_ROOT", Path("/nowhere"))
    assert cli("bench", "turns") == 2
    assert "from a checkout" in cli.err


def test_what_is_missing_is_not_measured(monkeypatch: pytest.MonkeyPatch, fake: None) -> None:
    from tests.benchmarks.peers import PeerMissing

    def absent(*_: object) -> Any:
        raise PeerMissing("it isn't installed")

    monkeypatch.setattr(bench_turns, "PEERS", {"a peer": absent})
    result = bench_turns.measure(Path("fake.gguf"), "llama.cpp", 3, 1, peers=True)
    assert result["missing"] == {"a peer": "it isn't installed"}
