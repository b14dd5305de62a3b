from __future__ import annotations

from pathlib import Path

import pytest

from desktop_app import composition
from desktop_app.composition import Composition, engine_options
from desktop_app.errors import ModelMissing
from desktop_app.settings import Settings, change
from rag.fake_embedder import FakeEmbedder
from tests.desktop_app.fakes import CONTRACT, fakes

FAKES = Settings(backend="fake", embedder="fake")


@pytest.fixture
def composed(tmp_path: Path) -> Composition:
    return Composition(
        tmp_path / "库",
        FAKES,
        makers=fakes(),
    )


def test_the_settings_become_the_engines_options(tmp_path: Path) -> None:
    settings = change(FAKES, {"window": 1024, "memory_mb": 2, "disk_mb": 3, "idle_minutes": 2})
    options = engine_options(settings, tmp_path)
    assert options.cache_dir == tmp_path / "conversations"
    assert (options.window, options.memory_budget, options.disk_budget) == (1024, 2 << 20, 3 << 20)
    assert options.idle_seconds == 120
    assert engine_options(settings, None).cache_dir is None
    assert options.idle_work
    assert not engine_options(change(settings, {"idle_work": False}), tmp_path).idle_work


def test_a_missing_model_is_told_before_anything_starts(composed: Composition) -> None:
    missing = Composition(Path("/l"), Settings(), backend="llama.cpp", model="nothing")
    with pytest.raises(ModelMissing, match="no model 'nothing'"):
        missing.check_model()
    composed.check_model()
    assert (missing.model, missing.backend) == ("nothing", "llama.cpp")


def test_engine_and_embedder_are_made_once_and_when_needed(composed: Composition) -> None:
    assert not composed.engine_started
    assert composed.engine is composed.engine
    assert composed.embedder is composed.embedder
    engine = composed.engine
    composed.close()
    composed.close()
    assert engine.calls == ["close"]
    assert not composed.engine_started


def test_a_change_that_concerns_the_engine_starts_it_anew(composed: Composition) -> None:
    first, embedder = composed.engine, composed.embedder
    composed.change(change(FAKES, {"theme": "dark"}))
    assert composed.engine is first
    composed.change(change(FAKES, {"window": 1024, "embedder": "other"}))
    assert composed.engine is not first
    assert composed.engine.options.window == 1024
    assert composed.embedder is not embedder
    assert first.calls == ["close"]


def test_a_reader_sees_what_another_one_adds_and_removes(
    composed: Composition, tmp_path: Path
) -> None:
    # given two readers of one library
    writer, reader = composed.reader(), composed.reader()
    assert reader.library.documents() == []
    unchanged = reader.library
    assert reader.library is unchanged
    # when one of them adds a document
    (tmp_path / "a.txt").write_text(CONTRACT, encoding="utf8")
    list(writer.library.ingest([tmp_path / "a.txt"]))
    # then the other one finds its passages, and no longer after it is removed
    assert reader.library.search("invoice")[0].chunk.document == "a.txt"
    writer.library.remove("a.txt")
    assert reader.library.documents() == []
    reader.close()
    writer.close()


def test_fakes_are_named_in_the_settings() -> None:
    assert isinstance(composition.load_embedder("fake"), FakeEmbedder)
