"""A thread that does one job after the other; each job ends with exactly one last reply.

A job's exception is the job's: it is told as `Failed`, and the thread goes on. It knows requests
by their job numbers only.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable, Iterable
from typing import Any

from desktop_app import records
from desktop_app.errors import explain

logger = logging.getLogger(__name__)

Handler = Callable[[Any], Iterable[records.Reply]]
Send = Callable[[records.Reply], None]
_END = object()


class Lane:
    """Jobs of one kind, in order, on a thread of their own.

    Args:
        name: of the thread.
        send: takes each reply; called on the lane's thread.
        handle: what a request's replies are, the last one excepted.
        begin: called when a job begins; `stop` calls after it are about this job.
        stop: called, from another thread, to end the running job early.
        finish: called on the lane's thread at its end, to close what it owns.
    """

    def __init__(
        self,
        name: str,
        send: Send,
        handle: Handler,
        *,
        begin: Callable[[], None] = lambda: None,
        stop: Callable[[], None] = lambda: None,
        finish: Callable[[], None] = lambda: None,
    ) -> None:
        self._send = send
        self._handle = handle
        self._begin = begin
        self._stop = stop
        self._finish = finish
        self._lock = threading.Lock()
        self._queue: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._waiting: set[int] = set()
        self._running = 0
        self._cancelled: set[int] = set()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def put(self, request: records.Request) -> None:
        """Queues a request."""
        with self._lock:
            self._waiting.add(request.job)
        self._queue.put(request)

    def call(self, work: Callable[[], object]) -> None:
        """Queues something that nobody waits for; its failure goes to the log."""
        self._queue.put(work)

    def stop(self, job: int) -> bool:
        """Ends a job early, or before it begins; False if it isn't one of this lane."""
        with self._lock:
            if job != self._running:
                mine = job in self._waiting
                if mine:
                    self._cancelled.add(job)
                return mine
        self._stop()
        return True

    def close(self, timeout: float) -> None:
        """Stops the running job, drops the others and waits for the thread."""
        with self._lock:
            self._cancelled |= self._waiting
            running = self._running
        if running:
            self._stop()
        self._queue.put(_END)
        self._thread.join(timeout)

    def _run(self) -> None:
        try:
            while (item := self._queue.get()) is not _END:
                if callable(item):
                    self._call(item)
                else:
                    self._do(item)
        finally:
            self._call(self._finish)

    def _do(self, request: records.Request) -> None:
        with self._lock:
            self._waiting.discard(request.job)
            cancelled = request.job in self._cancelled
            self._cancelled.discard(request.job)
            if not cancelled:
                self._running = request.job
                self._begin()
        last: records.Reply = records.Finished(request.job)
        try:
            if not cancelled:
                for reply in self._handle(request):
                    self._send(reply)
        except Exception as error:
            logger.exception("%s failed", type(request).__name__)
            last = records.Failed(request.job, *explain(error))
        finally:
            with self._lock:
                self._running = 0
        self._send(last)

    def _call(self, work: Callable[[], object]) -> None:
        try:
            work()
        except Exception:
            logger.exception("work in the background failed")
