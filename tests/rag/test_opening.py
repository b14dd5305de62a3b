"""Several threads open a new library at the same moment."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rag.store import Store


def test_a_new_library_opened_by_many_at_once(tmp_path: Path) -> None:
    for attempt in range(5):
        folder = tmp_path / str(attempt)
        together = threading.Barrier(6)

        def open_it(
            number: int, folder: Path = folder, together: threading.Barrier = together
        ) -> int:
            together.wait(10)
            store = Store(folder)
            store.set_setting(f"key {number}", "value")
            documents = len(store.documents())
            store.close()
            return documents

        with ThreadPoolExecutor(6) as pool:
            assert list(pool.map(open_it, range(6))) == [0] * 6
        store = Store(folder)
        assert all(store.setting(f"key {number}") for number in range(6))
        store.close()
