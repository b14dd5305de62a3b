from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.quiet_import import NICENESS, import_quietly

NOTES_PRIORITY = """
import os, threading
priority = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
"""


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder from which modules are imported; they are forgotten afterwards."""
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


@pytest.mark.skipif(sys.platform != "linux", reason="threads have no priority of their own")
def test_the_import_alone_has_a_low_priority(modules: Path) -> None:
    (modules / "quiet_one.py").write_text(NOTES_PRIORITY)
    (modules / "quiet_two.py").write_text(NOTES_PRIORITY)
    usual = os.getpriority(os.PRIO_PROCESS, 0)

    import_quietly("quiet_one", "quiet_two")

    priorities = [sys.modules[name].priority for name in ("quiet_one", "quiet_two")]
    assert priorities == [max(usual, NICENESS)] * 2
    assert os.getpriority(os.PRIO_PROCESS, 0) == usual


def test_the_import_statement_after_it_says_what_is_wrong(modules: Path) -> None:
    (modules / "quiet_broken.py").write_text("raise RuntimeError('broken')")

    import_quietly("quiet_broken", "quiet_absent")

    with pytest.raises(RuntimeError, match="broken"):
        __import__("quiet_broken")
    with pytest.raises(ModuleNotFoundError):
        __import__("quiet_absent")
