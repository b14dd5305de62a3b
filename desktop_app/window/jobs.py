"""From the worker's replies to the window: one queued signal, and a handler for each job.

Replies arrive on the client's reader thread; this object, which lives as long as the window, owns
the signal that carries them to the GUI thread. A reply of a job nobody waits for is dropped.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Protocol

from PySide6.QtCore import QObject, Qt, Signal

from desktop_app import records

logger = logging.getLogger(__name__)

Handler = Callable[[Any], None]


class Client(Protocol):
    """What the window needs of a WorkerClient."""

    @property
    def pid(self) -> int | None: ...

    def next_job(self) -> int: ...

    def start(self, on_reply: Callable[[records.Reply], None]) -> None: ...

    def send(self, request: records.Request) -> int: ...

    def close(self, timeout: float = 5.0) -> None: ...


class Jobs(QObject):
    """Sends requests and gives each reply to the handler of its job, on the GUI thread.

    Signals:
        news: a reply of the worker's own (job 0): Started, Notice, Progress of idle work.
        documents, conversations: lists, whoever asked for them.
        failed: a job nobody handles failed.
    """

    news = Signal(object)
    documents = Signal(object)
    conversations = Signal(object)
    failed = Signal(object)
    _arrived = Signal(object)

    def __init__(self, client: Client) -> None:
        super().__init__()
        self.client = client
        self._handlers: dict[int, Handler] = {}
        self._arrived.connect(self._dispatch, Qt.ConnectionType.QueuedConnection)

    def start(self) -> None:
        """Starts the worker; returns at once."""
        self.client.start(self._arrived.emit)

    def submit(self, kind: type, on_reply: Handler | None = None, **fields: Any) -> int:
        """Sends a request of `kind`; its replies go to `on_reply` until the last one came."""
        job = self.client.next_job()
        self._handlers[job] = on_reply or _ignore
        self.client.send(kind(job=job, **fields))
        return job

    def stop(self, job: int) -> None:
        """Asks the worker to end a job early; its last replies still come."""
        if job in self._handlers:
            self.client.send(records.Stop(self.client.next_job(), job))

    def forget(self, job: int) -> None:
        """Drops whatever still comes of a job."""
        self._handlers.pop(job, None)

    def running(self) -> int:
        """How many jobs have not ended."""
        return len(self._handlers)

    def close(self) -> None:
        """Ends the worker."""
        self._handlers.clear()
        self.client.close()

    def _dispatch(self, reply: records.Reply) -> None:
        if reply.job == 0:
            self.news.emit(reply)
            return
        handler = self._handlers.get(reply.job)
        if handler is None:
            logger.debug("a stale %s of job %s was dropped", type(reply).__name__, reply.job)
            return
        if isinstance(reply, (records.Finished, records.Failed)):
            self._handlers.pop(reply.job, None)
        if isinstance(reply, records.DocumentList):
            self.documents.emit(reply)
        elif isinstance(reply, records.ConversationList):
            self.conversations.emit(reply)
        if isinstance(reply, records.Failed) and handler is _ignore:
            self.failed.emit(reply)
        handler(reply)


def _ignore(reply: records.Reply) -> None:
    """The handler of a job whose lists are all that matters."""
