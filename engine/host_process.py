"""One process that hosts an engine: its start, its pipe, its end. A new one needs a new object.

It knows frames and calls, and not what becomes of a conversation when the process dies.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import multiprocessing
import queue
import signal
import threading
from collections.abc import Callable, Generator
from pathlib import Path

from engine import wire
from engine.errors import EngineDied, InvalidRequest
from engine.host import run_host
from engine.types import EngineOptions, ModelInfo

logger = logging.getLogger(__name__)

_Reply = wire.Begun | wire.Item | wire.Result | wire.Failed | None  # None: the process has ended


class HostProcess:
    """A running engine process. Several threads may call at a time.

    Raises:
        ModelError, BackendUnavailable: the engine could not start; the message says why.
    """

    def __init__(self, options: EngineOptions, factory: str, log: Path | None) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        # A daemon: should the caller forget to close it, the interpreter's end still comes.
        self._process = context.Process(
            target=run_host, args=(theirs,), name="clausebook-engine", daemon=True
        )
        self._process.start()
        theirs.close()
        self._sending = threading.Lock()
        self._lock = threading.Lock()
        self._ids = itertools.count(1)
        self._replies: dict[int, queue.SimpleQueue[_Reply]] = {}
        self._dead = False
        self.closing = False
        self.info = self._begin(wire.Start(options, factory, log))
        self._reader = threading.Thread(target=self._read, name="engine-reader", daemon=True)

    @property
    def pid(self) -> int | None:
        """The process id."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """False once the process has ended or the pipe is closed."""
        return not self._dead

    def watch(self, on_death: Callable[[HostProcess], None]) -> None:
        """Begins to read replies; `on_death` is called once, on the reader's thread."""
        self._on_death = on_death
        self._reader.start()

    def call(self, method: str, *args: object) -> object:
        """Runs a method and returns what it returns.

        Raises:
            EngineDied: the process ended first.
            EngineError: what the method raised.
        """
        for reply in self.stream(method, *args):
            if isinstance(reply, wire.Result):
                return reply.value
        raise AssertionError("a stream ends with its result")

    def stream(self, method: str, *args: object) -> Generator[wire.Begun | wire.Item | wire.Result]:
        """Runs a method and gives its replies; closing the iterator cancels it.

        Raises:
            EngineDied: the process ended first.
            EngineError: what the method raised.
        """
        call, replies = next(self._ids), queue.SimpleQueue[_Reply]()
        with self._lock:
            if self._dead:
                raise EngineDied(self._epitaph())
            self._replies[call] = replies
        ended = False
        try:
            self._send(wire.Call(call, method, args))
            while True:
                reply = replies.get()
                ended = reply is None or isinstance(reply, wire.Result | wire.Failed)
                if reply is None:
                    raise EngineDied(self._epitaph())
                if isinstance(reply, wire.Failed):
                    raise wire.error_of(reply.fault)
                yield reply
                if ended:
                    return
        finally:
            with self._lock:
                self._replies.pop(call, None)
            if not ended:
                self._send(wire.Cancel(call))

    def stop(self, conversation: str) -> None:
        """Ends within one batch whatever runs for the conversation; returns at once."""
        self._send(wire.Stop(conversation))

    def close(self, timeout: float = 5.0) -> None:
        """Lets the engine finish its writing and waits; kills it if that takes too long.

        The reader waits for the process, and this thread for the reader: of two that wait for a
        process the system tells one that it ended, and for the other it lives on.
        """
        self.closing = True
        self._send(wire.Bye())
        if self._reader is not threading.current_thread():
            self._reader.join(timeout)
            if self._reader.is_alive():
                logger.error("the engine did not close in %s s and was killed", timeout)
                self._process.kill()
                self._reader.join()
        self._connection.close()

    def _begin(self, start: wire.Start) -> ModelInfo:
        """Waits until the model is loaded."""
        try:
            self._connection.send_bytes(wire.pack(start))
            reply = wire.unpack(self._connection.recv_bytes())
            if isinstance(reply, wire.Ready):
                return reply.info
            assert isinstance(reply, wire.Failed)
            fault = reply.fault
        except (EOFError, OSError):
            self._process.join()
            fault = wire.Fault(
                "BackendUnavailable",
                f"The engine's process ended while it loaded the model ({self._end()}); "
                f"choose a smaller model, or see {start.log or 'the log'}.",
            )
        except BaseException:
            self._process.kill()
            raise
        self._connection.close()
        self._process.join()
        raise wire.error_of(fault)

    def _send(self, frame: wire.Frame) -> None:
        try:
            data = wire.pack(frame)
        except wire.WireError as error:
            raise InvalidRequest(f"The request can't be sent to the engine: {error}.") from error
        with self._sending, contextlib.suppress(OSError):  # the reader notices a broken pipe
            self._connection.send_bytes(data)

    def _read(self) -> None:
        """Hands replies to their callers until the process ends, on a thread of its own."""
        with contextlib.suppress(EOFError, OSError):
            while True:
                frame = wire.unpack(self._connection.recv_bytes())
                if isinstance(frame, wire.Begun | wire.Item | wire.Result | wire.Failed):
                    with self._lock:
                        replies = self._replies.get(frame.id)
                    if replies is not None:  # else nobody listens any more
                        replies.put(frame)
        self._process.join()
        with self._lock:
            self._dead = True
            waiting = list(self._replies.values())
        self._on_death(self)
        for replies in waiting:
            replies.put(None)

    def _epitaph(self) -> str:
        advice = "try again"
        if self._process.exitcode == -signal.SIGILL:
            advice = "llama.cpp was built for another processor: install it again on this one"
        return f"The engine's process ended before the request was done ({self._end()}); {advice}."

    def _end(self) -> str:
        code = self._process.exitcode
        return f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
