"""What several tests of the engine begin with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine.kept_engines import Kept


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    """An engine over a fake backend that keeps its conversations in a folder."""
    kept = Kept(tmp_path / "张 三")
    yield kept
    kept.engine.close()
