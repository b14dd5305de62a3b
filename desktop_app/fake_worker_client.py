"""A WorkerClient without a process, for the window's tests: replies are what the test says.

It keeps every request it was sent. `answer_with` registers what a kind of request is answered
with; `reply` delivers one reply at any time. Everything happens on the caller's thread.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from desktop_app import records

R = TypeVar("R", bound=records.Request)
Handler = Callable[[R], Iterable[records.Reply]]


class FakeWorkerClient:
    """Behaves like WorkerClient; see there.

    Attributes:
        sent: every request so far, in order.
        started, closed: whether `start` and `close` were called.
    """

    pid: int | None = 1

    def __init__(self) -> None:
        self.on_reply: Callable[[records.Reply], None] = lambda reply: None
        self.sent: list[records.Request] = []
        self.started = False
        self.closed = False
        self._jobs = itertools.count(1)
        self._handlers: dict[type, Handler[Any]] = {}

    def answer_with(self, kind: type[R], handler: Handler[R]) -> None:
        """From now on a request of `kind` is answered with what `handler` yields.

        `Finished` is added if the handler's last reply isn't one that ends the job.
        """
        self._handlers[kind] = handler

    def next_job(self) -> int:
        return next(self._jobs)

    def start(self, on_reply: Callable[[records.Reply], None]) -> None:
        self.on_reply = on_reply
        self.started = True
        self.reply(records.Started(0, 1, "fake"))

    def send(self, request: records.Request) -> int:
        decoded = records.decode_request(records.encode(request))
        self.sent.append(decoded)
        handler = self._handlers.get(type(request))
        if handler is not None:
            last: records.Reply | None = None
            for last in handler(decoded):
                self.reply(last)
            if not isinstance(last, (records.Finished, records.Failed)):
                self.reply(records.Finished(request.job))
        return request.job

    def reply(self, reply: records.Reply) -> None:
        """Delivers a reply as the worker would: through JSON and back."""
        self.on_reply(records.decode_reply(records.encode(reply)))

    def last(self, kind: type[R]) -> R:
        """The latest request of a kind. Raises LookupError if there is none."""
        for request in reversed(self.sent):
            if isinstance(request, kind):
                return request
        raise LookupError(f"no {kind.__name__} was sent")

    def close(self, timeout: float = 5.0) -> None:
        self.closed = True
