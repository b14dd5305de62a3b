"""The worker's jobs that change the library: adding and removing documents."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

from desktop_app import records
from desktop_app.composition import Composition
from rag.types import IngestProgress


class DocumentJobs:
    """Runs on one thread; `stop` may come from any.

    Attributes:
        passwords: of documents that were opened with one, by name; never written anywhere.
    """

    def __init__(self, composition: Composition) -> None:
        self._reader = composition.reader()
        self._stopped = threading.Event()
        self.passwords: dict[str, str] = {}

    def handle(self, request: records.Ingest | records.Remove) -> Iterator[records.Reply]:
        """The replies to a request, the last one excepted."""
        if isinstance(request, records.Ingest):
            yield from self._ingest(request)
        else:
            yield from self._remove(request)

    def begin(self) -> None:
        """A job begins."""
        self._stopped.clear()

    def stop(self) -> None:
        """Ends the running job after the page that is being read; finished files stay."""
        self._stopped.set()

    def close(self) -> None:
        """Closes the library."""
        self._reader.close()

    def _ingest(self, request: records.Ingest) -> Iterator[records.Reply]:
        library = self._reader.library
        events = library.ingest([Path(p) for p in request.paths], request.password)
        for event in events:
            if isinstance(event, IngestProgress):
                yield records.Progress(
                    request.job, event.path, event.stage, event.done, event.total
                )
            else:
                if request.password and event.status == "ready":
                    self.passwords[event.document] = request.password
                yield records.Ingested(request.job, event)
                yield records.DocumentList(request.job, tuple(library.documents()))
            if self._stopped.is_set():
                break
        yield records.DocumentList(request.job, tuple(library.documents()))

    def _remove(self, request: records.Remove) -> Iterator[records.Reply]:
        library = self._reader.library
        for name in request.documents:
            library.remove(name)
            self.passwords.pop(name, None)
            if self._stopped.is_set():
                break
        yield records.DocumentList(request.job, tuple(library.documents()))
