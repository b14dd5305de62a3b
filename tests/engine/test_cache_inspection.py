"""Looking at caches without a model."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.cache_inspection import clear_caches, list_caches, show_cache, verify_caches
from engine.errors import UnknownConversation
from tests.engine.kept_engines import Kept

QUESTIONS = ["What is the rent?", "When is it due?"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Two conversations, one forked from the other, and their shared beginning."""
    kept = Kept(tmp_path)
    for question in QUESTIONS:
        kept.ask("a 合同", question)
    kept.flush()
    kept.engine.fork("a 合同", "fork")
    kept.engine.close()
    return tmp_path


def test_listing(root: Path) -> None:
    caches = {one.conversation: one for one in list_caches(root)}
    assert set(caches) == {"a 合同", "fork", ""}
    one, shared = caches["a 合同"], caches[""]
    assert one.turns == 2
    assert 0 < one.exact_tokens < one.cached_tokens < one.tokens
    assert one.cached_tokens + shared.cached_tokens >= one.tokens - 4
    assert one.key == shared.key
    assert one.model == shared.model == "fake-0"
    assert one.layout == "fake"
    assert shared.users == 2
    assert one.cache_bytes > 1000
    assert one.words_bytes > 500
    assert not one.in_use
    assert not any(cache.problem for cache in caches.values())
    assert caches["fork"].cached_tokens == one.cached_tokens


def test_showing(root: Path) -> None:
    details = show_cache(root, "a 合同")
    assert [turn.index for turn in details.turns] == [0, 1]
    assert sum(int(str(block["tokens"])) for block in details.blocks) == details.cache.cached_tokens
    with pytest.raises(UnknownConversation):
        show_cache(root, "b")


def test_verifying_finds_damage_and_changes_nothing(root: Path) -> None:
    assert all(problem == "" for _, problem in verify_caches(root))
    assert len(list(verify_caches(root))) == 3
    path = next(root.glob("a-*/cache"))
    raw = path.read_bytes()
    path.unlink()  # the fork's name stays
    path.write_bytes(raw[:4200] + bytes([raw[4200] ^ 1]) + raw[4201:])
    found = dict(verify_caches(root))
    assert "damaged" in found["a 合同"]
    assert found["fork"] == ""
    assert dict(verify_caches(root, ["fork"])) == {"fork": ""}
    path.write_bytes(raw[:100])
    assert "cut short" in dict(verify_caches(root))["a 合同"]
    assert path.exists()
    shared = next(root.glob("shared/*/cache"))
    shared.write_bytes(b"junk" * 2000)
    assert any("isn't a cache file" in problem for _, problem in verify_caches(root))
    assert {one.problem for one in list_caches(root)} > {""}


def test_clearing_keeps_the_words(root: Path) -> None:
    before = sum(one.cache_bytes for one in list_caches(root) if one.conversation != "fork")
    freed, busy = clear_caches(root, ["fork"])
    assert (freed > 0, busy) == (True, [])
    freed, busy = clear_caches(root)
    assert (freed, busy) == (before, [])
    assert [one.cache_bytes for one in list_caches(root)] == [0, 0, 0]
    kept = Kept(root)
    assert kept.ask("a 合同", "And now?").stats.restored_from == "prefill"
    # what a program uses is left alone
    kept.flush()
    assert {one.conversation: one.in_use for one in list_caches(root)}["a 合同"]
    freed, busy = clear_caches(root)
    assert busy == ["a 合同"]
    assert next(root.glob("a-*/cache")).exists()
    kept.engine.close()


def test_files_set_aside_are_counted_and_cleared(root: Path) -> None:
    path = next(root.glob("a-*/cache"))
    path.with_name("cache.1.bad").write_bytes(bytes(700))
    assert {one.conversation: one.aside_bytes for one in list_caches(root)}["a 合同"] == 700
    clear_caches(root, ["a 合同"])
    assert list(path.parent.glob("*.bad")) == []


def test_an_empty_folder(tmp_path: Path) -> None:
    assert list_caches(tmp_path / "none") == []
    assert list(verify_caches(tmp_path / "none")) == []
    assert clear_caches(tmp_path / "none") == (0, [])
