"""The engine in a process of its own: serves calls that come through a pipe until it ends.

One thread reads the pipe, so that a stop takes effect while an answer is written; the main thread
owns the engine. Between two events of an answer it also serves the calls that only look. When
nothing is asked, the engine does its idle work, a small step at a time. The end of the pipe is
the end of the process: it never outlives its parent.

It knows the engine's methods by name, and not what they do.
"""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import logging
import logging.handlers
import os
import signal
import threading
from collections import deque
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from engine import wire
from engine.errors import EngineError, InvalidRequest, UnknownConversation
from engine.quiet_import import import_quietly
from engine.types import EngineOptions, Finished, TurnStats

logger = logging.getLogger(__name__)

# Calls that change nothing.
LOOKING = frozenset(
    {"count_tokens", "prefill_speed", "conversation", "conversations", "cache_report"}
)
METHODS = LOOKING | {"ask", "score", "open", "rewind", "fork", "delete", "adopt_partial"}
FACTORY = "engine.host:build_engine"
_NEXT_STEP_SECONDS = 0.0
_IDLE_SECONDS = 0.5
_SECONDS_TO_CLOSE = 10.0


def build_engine(options: EngineOptions) -> Any:
    """The real engine; what a host runs unless it is told otherwise."""
    import_quietly("engine.assembly", "engine.llama_backend")
    from engine.assembly import assemble
    from engine.load import load_backend

    return assemble(load_backend(options), options)


def run_host(connection: Connection) -> None:
    """Entry point of the process. Returns when the pipe ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's; the pipe tells us
    try:
        start = wire.unpack(connection.recv_bytes())
    except (EOFError, OSError):
        return
    if not isinstance(start, wire.Start):
        raise wire.WireError("the first frame must be Start")
    with _crash_log(start.log):
        host = Host(connection)
        try:
            engine = _build(start)
        except Exception as error:
            logger.exception("the engine could not start")
            host.send(wire.Failed(0, wire.fault_of(error)))
            host.finish()
            return
        try:
            host.send(wire.Ready(engine.info))
            host.serve(engine)
        finally:
            engine.close()
            host.finish()


class Host:
    """Serves one engine over one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._lock = threading.Condition()
        self._calls: deque[wire.Call] = deque()
        self._asks: dict[int, str] = {}  # conversations of the asks that have not ended, by call
        self._running = 0  # the ask that is being answered
        self._stopped: set[int] = set()
        self._closed = False
        self._engine: Any = None
        self._finished = False
        self._timer = threading.Timer(_SECONDS_TO_CLOSE, os._exit, (1,))
        self._timer.daemon = True
        threading.Thread(target=self._read, name="engine-host-reader", daemon=True).start()

    def send(self, frame: wire.Frame) -> None:
        """Sends a frame; a parent that is gone doesn't matter any more."""
        try:
            self._connection.send_bytes(wire.pack(frame))
        except OSError:
            self._closed = True

    def finish(self) -> None:
        """All is done: the process ends by itself and needn't be ended."""
        with self._lock:
            self._finished = True
            self._timer.cancel()

    def serve(self, engine: Any) -> None:
        """Serves calls and does idle work until the pipe ends."""
        self._engine = engine
        while True:
            wait = self._idle_step()
            with self._lock:
                if not self._calls and not self._closed:
                    self._lock.wait(wait)
                if self._closed:
                    return
                call = self._calls.popleft() if self._calls else None
            if call is not None:
                self._answer(call)

    def _idle_step(self) -> float:
        """Does a step of idle work if nothing is asked; seconds until the next one."""
        if self._calls or self._closed:
            return 0.0
        try:
            return _NEXT_STEP_SECONDS if self._engine.idle_step() else _IDLE_SECONDS
        except Exception:
            logger.exception("idle work failed")
            return _IDLE_SECONDS

    def _answer(self, call: wire.Call) -> None:
        try:
            if call.method not in METHODS:
                raise InvalidRequest(f"The engine has no method {call.method!r}.")
            if call.method == "ask":
                self._ask(call)
                value = None
            else:
                value = getattr(self._engine, call.method)(*call.args)
            self.send(wire.Result(call.id, value))
        except Exception as error:
            if not isinstance(error, EngineError):
                logger.exception("%s failed", call.method)
            self.send(wire.Failed(call.id, wire.fault_of(error)))

    def _ask(self, call: wire.Call) -> None:
        """Runs an `ask`, event by event. A stop or the parent's end closes it in time."""
        with self._lock:
            self._running = call.id
        try:
            if call.id in self._stopped:
                self.send(wire.Item(call.id, self._not_begun()))
            else:
                self._stream(call, str(call.args[0]))
        finally:
            with self._lock:
                self._running = 0
                self._asks.pop(call.id, None)
                self._stopped.discard(call.id)

    def _stream(self, call: wire.Call, conversation: str) -> None:
        self.send(wire.Begun(call.id, self._turns(conversation)))
        use_cache = bool(call.args[3])
        with contextlib.closing(self._engine.ask(*call.args[:3], use_cache=use_cache)) as events:
            for event in events:
                self.send(wire.Item(call.id, event))
                if call.id in self._stopped:  # it may have been told before it had begun
                    self._engine.stop(conversation)
                while (looking := self._looking()) is not None:
                    self._answer(looking)

    def _looking(self) -> wire.Call | None:
        """The next call, if it changes nothing: it can be served between two events."""
        with self._lock:
            looks = self._calls and self._calls[0].method in LOOKING
            return self._calls.popleft() if looks else None

    def _turns(self, conversation: str) -> int:
        try:
            return len(self._engine.conversation(conversation).turns) if conversation else 0
        except UnknownConversation:
            return 0

    def _not_begun(self) -> Finished:
        """The end of an answer that was stopped while it waited."""
        return Finished("", "stopped", TurnStats("", self._engine.info.name, 0, 0, 0, 0, 0.0, 0.0))

    def _read(self) -> None:
        """Reads frames until the pipe ends, on a thread of its own."""
        with contextlib.suppress(EOFError, OSError):
            while True:
                data = self._connection.recv_bytes()
                try:
                    frame = wire.unpack(data)
                    if isinstance(frame, wire.Bye):
                        break
                    self._take(frame)
                except wire.WireError:
                    logger.exception("a request can't be read")
        with self._lock:
            if not self._finished:
                self._timer.start()
            self._closed = True
            self._stop_call(self._running)
            self._lock.notify_all()

    def _take(self, frame: wire.Frame) -> None:
        with self._lock:
            if isinstance(frame, wire.Call):
                if frame.method == "ask":
                    self._asks[frame.id] = str(frame.args[0])
                self._calls.append(frame)
                self._lock.notify_all()
            elif isinstance(frame, wire.Stop):
                for call in [c for c, name in self._asks.items() if name == frame.conversation]:
                    self._stop_call(call)
            elif isinstance(frame, wire.Cancel):
                self._stop_call(frame.id)

    def _stop_call(self, call: int) -> None:
        """Ends an ask within one batch, or before it begins."""
        if call in self._asks:
            self._stopped.add(call)
            if call == self._running:
                self._engine.stop(self._asks[call])


def _build(start: wire.Start) -> Any:
    module, _, name = start.factory.partition(":")
    return getattr(importlib.import_module(module), name)(start.options)


@contextlib.contextmanager
def _crash_log(path: Path | None) -> Iterator[None]:
    """Sends the log, and the traceback of a crash in C code, to a file of the owner's own."""
    root = logging.getLogger()
    if path is None:
        root.addHandler(logging.NullHandler())
        yield
        return
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handler = logging.handlers.RotatingFileHandler(
        path, maxBytes=1 << 20, backupCount=2, encoding="utf8"
    )
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root.addHandler(handler)
    crash = path.with_suffix(".crash").open("a", encoding="utf8")
    faulthandler.enable(crash)
    try:
        yield
    finally:
        faulthandler.disable()
        root.removeHandler(handler)
        handler.close()
        crash.close()
