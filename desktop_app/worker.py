"""The library worker: a process that reads documents, searches and answers for the window.

Requests come through a pipe, and replies go back with their job's number. Adding documents,
answering, looking something up and slow look-ups have a thread each, so none waits for another.
The end of the pipe is the end of the process. It knows no Qt.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
from multiprocessing.connection import Connection

from desktop_app import deletions, records
from desktop_app.codec import CodecError
from desktop_app.composition import Composition
from desktop_app.errors import explain
from desktop_app.jobs_answering import AnsweringJobs
from desktop_app.jobs_documents import DocumentJobs
from desktop_app.jobs_lookup import LookupJobs, SlowLookupJobs
from desktop_app.lane import Lane
from desktop_app.reply_pipe import Replies

logger = logging.getLogger(__name__)

_SECONDS_TO_CLOSE = 8.0

DOCUMENTS = (records.Ingest, records.Remove)
ANSWERING = (
    records.Ask,
    records.Regenerate,
    records.Edit,
    records.ForkConversation,
    records.ClearCache,
)
SLOW = (records.FindRectangles, records.Doctor, records.ListModels)


class Worker:
    """The lanes and what each does. `run` reads requests until the pipe ends."""

    def __init__(self, composition: Composition, replies: Replies) -> None:
        self._composition = composition
        self._replies = replies
        documents = DocumentJobs(composition)
        answering = AnsweringJobs(composition)
        send = replies.send
        self._answering = Lane(
            "answering",
            send,
            answering.handle,
            begin=answering.begin,
            stop=answering.stop,
            finish=answering.close,
        )
        lookup = LookupJobs(composition, self._answering.call)
        self._documents = Lane(
            "documents",
            send,
            documents.handle,
            begin=documents.begin,
            stop=documents.stop,
            finish=documents.close,
        )
        self._lookup = Lane("lookup", send, lookup.handle, finish=lookup.close)
        slow = SlowLookupJobs(composition, documents.passwords)
        self._slow = Lane("slow-lookup", send, slow.handle)
        self._lanes = (self._documents, self._answering, self._lookup, self._slow)

    def run(self, connection: Connection) -> None:
        """Serves until the pipe ends; then ends what runs and closes the engine."""
        self._answering.call(self._warm_up)
        with contextlib.suppress(EOFError, OSError):
            while data := connection.recv_bytes():
                try:
                    self._take(records.decode_request(data))
                except CodecError:
                    logger.exception("a request can't be read")
        timer = threading.Timer(_SECONDS_TO_CLOSE + 2, os._exit, (1,))
        timer.daemon = True
        timer.start()
        for lane in self._lanes:
            lane.close(_SECONDS_TO_CLOSE / 2)
        self._composition.close()
        timer.cancel()

    def _take(self, request: records.Request) -> None:
        if isinstance(request, records.Stop):
            any(lane.stop(request.target) for lane in self._lanes)
            self._replies.send(records.Finished(request.job))
        elif isinstance(request, DOCUMENTS):
            self._documents.put(request)
        elif isinstance(request, ANSWERING):
            self._answering.put(request)
        elif isinstance(request, SLOW):
            self._slow.put(request)
        else:
            self._lookup.put(request)

    def _warm_up(self) -> None:
        """Loads the models before the first question; what is missing is told now."""
        try:
            _ = self._composition.embedder
            self._composition.engine.start()
            logger.info("the models are loaded")
            deletions.finish(self._composition)
        except Exception as error:
            logger.exception("the models could not be loaded")
            text = " ".join(part for part in explain(error) if part)
            self._replies.send(records.Notice(0, text))
