from __future__ import annotations

import sys
from pathlib import Path

import pytest

from desktop_app import paths


def test_everything_is_below_the_home_that_is_named(home: Path) -> None:
    for path in (
        paths.data_folder(),
        paths.settings_file(),
        paths.log_folder(),
        paths.default_library(),
        paths.user_models(),
    ):
        assert path.is_relative_to(home)
    assert paths.conversations_folder(Path("/l")) == Path("/l/conversations")


def test_without_a_home_the_systems_folders_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLAUSEBOOK_HOME")
    assert paths.data_folder().name == "clausebook"
    assert paths.settings_file().name == "settings.json"
    assert "clausebook" in str(paths.log_folder())


def test_models_are_searched_in_order(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, home: Path
) -> None:
    monkeypatch.setenv("CLAUSEBOOK_MODELS", str(tmp_path / "m"))
    root = Path(__file__).resolve().parents[2]
    assert paths.model_folders() == [tmp_path / "m", root / "build" / "models", home / "models"]
    # when packaged, the bundle takes the checkout's place
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "_MEIPASS", str(tmp_path / "bundle"), raising=False)
    assert paths.model_folders()[1] == tmp_path / "bundle" / "models"
    assert paths.checkout() is None
    assert paths.samples_folder() is None
    (tmp_path / "bundle" / "assets" / "samples").mkdir(parents=True)
    assert paths.samples_folder() == tmp_path / "bundle" / "assets" / "samples"
