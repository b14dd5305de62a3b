"""One thread that does jobs in order, and a way to wait for those of one key.

It doesn't know what the jobs do. The bytes they hold are counted, so that a slow disk slows the
caller down instead of filling the memory.
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Callable

MOST_PENDING = 512 << 20

Job = Callable[[], object]


class Background:
    """Runs jobs behind the caller's back. The thread starts with the first job.

    Args:
        name: of the thread. most_pending: bytes of jobs that may wait.
    """

    def __init__(self, name: str, most_pending: int = MOST_PENDING) -> None:
        self._name, self._most_pending = name, most_pending
        self._jobs: deque[tuple[str, Job, int]] = deque()
        self._pending: Counter[str] = Counter()
        self._bytes = 0
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closing = False

    def add(self, key: str, job: Job, nbytes: int = 0) -> None:
        """Queues a job; waits while too many bytes are queued already."""
        with self._changed:
            self._changed.wait_for(
                lambda: not self._bytes or self._bytes + nbytes <= self._most_pending
            )
            self._jobs.append((key, job, nbytes))
            self._pending[key] += 1
            self._bytes += nbytes
            if self._thread is None:
                self._start()
            self._changed.notify_all()

    def wait(self, key: str = "", timeout: float | None = None) -> bool:
        """Waits until the jobs of `key` (of all without one) are done; False on time-out."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._waiting(key), timeout)

    def close(self) -> None:
        """Does what is queued and ends the thread."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join()

    def _waiting(self, key: str) -> bool:
        return bool(self._pending[key]) if key else bool(+self._pending)

    def _start(self) -> None:
        self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            while True:
                with self._changed:
                    self._changed.wait_for(lambda: self._jobs or self._closing)
                    if not self._jobs:
                        return
                    key, job, nbytes = self._jobs.popleft()
                try:
                    job()
                finally:
                    del job
                    with self._changed:
                        self._bytes -= nbytes
                        self._pending[key] -= 1
                        self._changed.notify_all()
        finally:
            # After a job that failed in a way nobody foresaw, the next ones still get done.
            with self._changed:
                self._thread = None
                if self._jobs:
                    self._start()
