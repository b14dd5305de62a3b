"""Each test of the application has a home folder of its own, and sees no models but its own."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The application's folder in this test; its name has a space and Chinese characters."""
    folder = tmp_path / "张 三"
    folder.mkdir()
    monkeypatch.setenv("CLAUSEBOOK_HOME", str(folder))
    return folder
