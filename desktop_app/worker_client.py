"""The window's handle to the library worker, a process of its own.

Requests go out with `send`; replies arrive on a reader thread, at the callback that was given.
A worker that dies is started again: its unfinished jobs fail, and the user gets one line. The
client knows the records and the pipe. It knows neither Qt nor what the worker does.
"""

from __future__ import annotations

import atexit
import contextlib
import itertools
import logging
import multiprocessing
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path

from desktop_app import codec, records

logger = logging.getLogger(__name__)

Callback = Callable[[records.Reply], None]
RESTARTED = "The library worker stopped and was started again; your conversations are unharmed."
GAVE_UP = (
    "The library worker keeps stopping and was not started again; "
    "run `clausebook doctor` and start the program anew."
)


@dataclass(frozen=True, slots=True)
class WorkerOptions:
    """What a worker is started with. Empty texts mean: as the settings say."""

    library: str = ""
    backend: str = ""
    model: str = ""

    def __post_init__(self) -> None:
        if self.library and not Path(self.library).is_absolute():
            raise ValueError(f"library must be an absolute path, not {self.library!r}")


def run_worker(connection: Connection, options: WorkerOptions) -> None:
    """Entry point of the worker process; imports the worker there and not in the window."""
    from desktop_app.worker_process import serve

    serve(connection, options)


class WorkerClient:
    """Starts the worker, sends it requests and hands each reply to a callback.

    `target` is what the process runs; tests give their own.
    """

    def __init__(
        self,
        options: WorkerOptions,
        *,
        target: Callable[[Connection, WorkerOptions], None] = run_worker,
        restarts: int = 3,
    ) -> None:
        self._options = options
        self._on_reply: Callback = lambda reply: None
        self._target = target
        self._restarts = restarts
        self._jobs = itertools.count(1)
        self._lock = threading.RLock()
        self._unfinished: dict[int, records.Request] = {}
        self._process: BaseProcess | None = None
        self._connection: Connection | None = None
        self._reader: threading.Thread | None = None
        self._closing = False

    @property
    def pid(self) -> int | None:
        """The worker's process id, or None while there is none."""
        return self._process.pid if self._process else None

    def next_job(self) -> int:
        """A job number that was not given before."""
        return next(self._jobs)

    def launch(self) -> None:
        """Starts the process and returns at once; what it says waits for `start`.

        The window launches it before it builds itself, so that both begin at the same time.
        """
        if self._process is None:
            self._spawn()
            atexit.register(_close, weakref.ref(self))

    def start(self, on_reply: Callback) -> None:
        """Hands each reply to `on_reply` from now on; launches the process if need be.

        `on_reply` runs on the reader thread: a window passes a Qt signal's `emit`. `Started`
        comes first.
        """
        if self._reader is not None:
            return
        self.launch()
        self._on_reply = on_reply
        self._reader = threading.Thread(target=self._read, name="worker-reader", daemon=True)
        self._reader.start()

    def send(self, request: records.Request) -> int:
        """Sends a request; returns its job. A worker that just died answers it with `Failed`."""
        with self._lock:
            if not isinstance(request, records.Stop):
                self._unfinished[request.job] = request
            connection = self._connection
            if connection is not None:
                # A broken pipe is the reader's to notice: it fails every unfinished job.
                with contextlib.suppress(OSError):
                    connection.send_bytes(records.encode(request))
                return request.job
        self._deliver(records.Failed(request.job, GAVE_UP))
        return request.job

    def close(self, timeout: float = 5.0) -> None:
        """Closes the pipe, waits for the worker to end, and kills it if it doesn't."""
        with self._lock:
            self._closing = True
            process, connection = self._process, self._connection
            self._connection = None
        if connection is not None:
            # An empty message is the goodbye; the worker's closing its end wakes our reader.
            with contextlib.suppress(OSError):
                connection.send_bytes(b"")
        if process is not None:
            _end(process, timeout)
        if self._reader is not None and self._reader is not threading.current_thread():
            self._reader.join(timeout)
        if connection is not None:
            connection.close()

    def _spawn(self) -> None:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(
            target=self._target, args=(theirs, self._options), name="clausebook-library"
        )
        process.start()
        theirs.close()
        self._process, self._connection = process, ours

    def _read(self) -> None:
        deaths: deque[float] = deque()
        while True:
            connection = self._connection
            if connection is None:
                return
            try:
                data = connection.recv_bytes()
            except (EOFError, OSError):
                if self._closing:
                    return
                deaths.append(time.monotonic())
                while deaths and deaths[0] < time.monotonic() - 60:
                    deaths.popleft()
                if not self._recover(connection, again=len(deaths) <= self._restarts):
                    return
                continue
            try:
                reply = records.decode_reply(data)
            except codec.CodecError:
                logger.exception("the worker sent a reply that can't be read")
                continue
            self._deliver(reply)

    def _recover(self, connection: Connection, *, again: bool) -> bool:
        """Fails what was unfinished and starts a fresh worker; False if it isn't worth it."""
        with self._lock:  # a request sent meanwhile waits for the fresh worker
            again = again and not self._closing
            lost, self._unfinished = self._unfinished, {}
            self._connection = None
            connection.close()
            if self._process is not None:
                _end(self._process, timeout=2.0)
                logger.error("the library worker ended with code %s", self._process.exitcode)
            if again:
                self._spawn()
        self._deliver(records.Notice(0, RESTARTED if again else GAVE_UP))
        for request in lost.values():
            what = f"The worker stopped before this was done ({type(request).__name__.lower()})."
            self._deliver(records.Failed(request.job, what, "Try it again." if again else ""))
        return again

    def _deliver(self, reply: records.Reply) -> None:
        if isinstance(reply, (records.Finished, records.Failed)):
            with self._lock:
                self._unfinished.pop(reply.job, None)
        try:
            self._on_reply(reply)
        except Exception:  # a fault in the window must not end the reader
            logger.exception("a reply could not be handled")


def _end(process: BaseProcess, timeout: float) -> None:
    process.join(timeout)
    if process.is_alive():
        process.kill()
        process.join()


def _close(reference: weakref.ref[WorkerClient]) -> None:
    client = reference()
    if client is not None:
        client.close(timeout=2.0)
