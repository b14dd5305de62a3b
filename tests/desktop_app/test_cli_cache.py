"""`clausebook cache`: what is kept on disk, without a model."""

from __future__ import annotations

import pytest

from desktop_app import paths
from tests.desktop_app.cli_runner import Cli
from tests.engine.kept_engines import Kept


@pytest.fixture
def kept(cli: Cli) -> Kept:
    """A library with a conversation of two turns; its program has ended."""
    kept = Kept(paths.conversations_folder(cli.library))
    for question in ("What is the rent?", "When is it due?"):
        kept.ask("lease", question)
    kept.engine.close()
    return kept


def test_nothing_is_kept_yet(cli: Cli) -> None:
    assert cli("cache", "list") == 0
    assert cli.out == "Nothing is kept.\n"
    assert cli("cache", "list", "--json") == 0
    assert cli.json == []


def test_list_and_show(cli: Cli, kept: Kept) -> None:
    assert cli("cache") == 0
    assert "lease" in cli.out
    assert "(shared by 1)" in cli.out
    assert cli("cache", "list", "--json") == 0
    assert [one["turns"] for one in cli.json] == [2, 0]
    assert cli("cache", "show", "lease") == 0
    assert "2 turns" in cli.out
    assert "turn   2" in cli.out
    assert cli("cache", "show", "lease", "--json") == 0
    assert len(cli.json["turns"]) == 2
    assert cli("cache", "show", "other") == 1
    assert "There is no conversation 'other'" in cli.err


def test_verify_and_clear(cli: Cli, kept: Kept) -> None:
    assert cli("cache", "verify") == 0
    assert cli.out == "2 of 2 caches are good.\n"
    path = kept.file("lease")
    path.write_bytes(path.read_bytes()[:-5])
    assert cli("cache", "show", "lease") == 0
    assert "cut short" in cli.out
    assert cli("cache", "verify", "lease") == 1
    assert "0 of 1 caches are good" in cli.out
    assert cli("cache", "verify", "--json") == 1
    assert any(one["problem"] for one in cli.json)
    assert cli("cache", "clear") == 0
    assert "Freed" in cli.out
    assert not path.exists()
    kept.start()
    kept.ask("lease", "And now?")
    assert cli("cache", "list") == 0
    assert "(in use)" in cli.out
    assert cli("cache", "clear", "--json") == 1
    assert cli.json == {"freed_bytes": 0, "in_use": ["lease"]}
    assert cli("cache", "clear") == 1
    assert "close it there first" in cli.out
    kept.engine.close()
