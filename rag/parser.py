"""Reads files in a disposable process, with limits of time and memory.

A page that hangs or crashes the reader costs itself: the process is replaced and reading goes on
with the next page, a few times; then the file is given up. Text files are read in place, since
nothing in them can hang.
"""

from __future__ import annotations

import json
import multiprocessing
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from rag import errors
from rag.formats import read_text, sniff
from rag.parser_process import serve
from rag.raw_page import Piece, RawPage
from rag.rectangles import Rectangle

Entry = Callable[["Connection[bytes, bytes]", dict[str, Any]], None]


@dataclass(frozen=True, slots=True)
class ParserLimits:
    """What a file may use.

    Attributes:
        page_seconds: longest wait for the next page.
        picture_seconds: longest wait for a page whose picture must be recognised; the whole file
            may take as much longer.
        start_seconds: longest wait for the process to start and open the file.
        file_seconds: longest time for the whole file, plus `per_page_seconds` a page.
        memory: address space of the parser process, bytes.
        restarts: pages that may fail before the file is given up.
    """

    page_seconds: float = 30.0
    picture_seconds: float = 120.0
    start_seconds: float = 60.0
    file_seconds: float = 300.0
    per_page_seconds: float = 1.0
    memory: int = 3 << 30
    restarts: int = 3

    def __post_init__(self) -> None:
        if min(self.page_seconds, self.start_seconds, self.file_seconds) <= 0:
            raise ValueError(f"limits must be above 0 seconds, got {self}")


@dataclass(frozen=True, slots=True)
class Opened:
    """The file could be opened; this many pages follow."""

    pages: int


class Parser:
    """Reads one file at a time, each in its own process."""

    def __init__(self, limits: ParserLimits | None = None, entry: Entry = serve) -> None:
        """`entry` runs in the process; tests give one that misbehaves."""
        self._limits = limits or ParserLimits()
        self._entry = entry

    def read(
        self, path: Path, password: str = "", known: Collection[int] = ()
    ) -> Iterator[Opened | RawPage]:
        """Yields `Opened`, then every page in order; a page that can't be read has no text.

        The pages `known` aren't read again: they have no text either.

        Raises:
            NotReadable: not a PDF or text, empty or damaged, or it hangs or crashes the reader.
            PasswordNeeded: locked, or the password is wrong.
        """
        if sniff(path) == "text":
            texts = read_text(path)
            yield Opened(len(texts))
            yield from (RawPage(n, text) for n, text in enumerate(texts, 1))
            return
        yield from self._read_pdf(path, password, known)

    def rectangles(self, path: Path, page: int, quote: str, password: str = "") -> list[Rectangle]:
        """Where `quote` stands on a page; see `Pdf.rectangles`. Empty if it can't be found."""
        task = self._task(path, password) | {"do": "rectangles", "page": page, "quote": quote}
        try:
            with self._process(task) as pipe:
                for record in self._receive(pipe, time.monotonic() + self._limits.file_seconds):
                    if record["kind"] == "rectangles":
                        return [(x0, y0, x1, y1) for x0, y0, x1, y1 in record["rectangles"]]
                    _raise_sent(record)
        except _Lost:
            pass
        return []

    def _read_pdf(
        self, path: Path, password: str, known: Collection[int] = ()
    ) -> Iterator[Opened | RawPage]:
        begun = time.monotonic()
        pages = lost = 0
        following = 1
        while True:
            until = begun + self._limits.file_seconds + self._limits.per_page_seconds * pages
            task = self._task(path, password) | {"do": "pages", "start": following}
            task["known"] = sorted(known)
            try:
                with self._process(task) as pipe:
                    for record in self._receive(pipe, until):
                        _raise_sent(record)
                        if record["kind"] == "opened" and not pages:
                            pages = int(record["pages"])
                            yield Opened(pages)
                        elif record["kind"] == "page":
                            yield _page(record)
                            following = record["number"] + 1
                return
            except _Lost as error:
                lost += 1
                hopeless = lost > self._limits.restarts or lost >= pages
                if hopeless or time.monotonic() > until:
                    raise errors.NotReadable(
                        f"{path.name} {error}; open it elsewhere and save it again."
                    ) from error
            if following <= pages:
                yield RawPage(following, "")  # the page it was lost at
            following += 1
            if following > pages:
                return

    def _task(self, path: Path, password: str) -> dict[str, Any]:
        seconds = int(self._limits.file_seconds + 10)
        return {
            "path": str(path),
            "password": password,
            "memory": self._limits.memory,
            "seconds": seconds,
            "picture_seconds": int(2 * self._limits.picture_seconds),  # on two processors
        }

    @contextmanager
    def _process(self, task: dict[str, Any]) -> Iterator[Connection[bytes, bytes]]:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=self._entry, args=(theirs, task), daemon=True)
        process.start()
        theirs.close()
        try:
            yield ours
        finally:
            ours.close()
            process.join(0.2)
            if process.is_alive():
                process.kill()
                process.join()
            process.close()

    def _receive(self, pipe: Connection[bytes, bytes], until: float) -> Iterator[dict[str, Any]]:
        """Records up to "end".

        Raises:
            _Lost: none came in time, or the process ended without "end".
        """
        allowed = self._limits.start_seconds
        while True:
            wait = min(allowed, until - time.monotonic())
            allowed = self._limits.page_seconds
            if wait <= 0 or not pipe.poll(wait):
                raise _Lost("takes too long to read")
            try:
                record: dict[str, Any] = json.loads(pipe.recv_bytes())
            except (EOFError, OSError) as error:
                raise _Lost("crashes the PDF reader or needs too much memory") from error
            if record["kind"] == "end":
                return
            if record["kind"] == "picture":
                allowed = self._limits.picture_seconds
                until += allowed
            else:
                yield record


class _Lost(Exception):
    """The process hung or died."""


def _page(record: dict[str, Any]) -> RawPage:
    pieces = tuple(Piece(**piece) for piece in record["pieces"])
    return RawPage(record["number"], record["text"], record["label"], pieces)


def _raise_sent(record: dict[str, Any]) -> None:
    if record["kind"] == "error":
        kinds = {"PasswordNeeded": errors.PasswordNeeded, "NotReadable": errors.NotReadable}
        raise kinds[record["error"]](record["message"])
