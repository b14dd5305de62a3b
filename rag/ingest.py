"""Files into the library: read, clean, chunk, embed, write; one file's trouble stays its own.

A document is written in one transaction at the end, so a process killed anywhere leaves the
library without it or with all of it. The next run goes on with what is missing; of a long document
the pages recognised and the vectors made so far are kept on the way.
"""

from __future__ import annotations

import dataclasses
import hashlib
import time
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np

from rag.chunking import ChunkSize, chunk_pages
from rag.errors import DocumentError, NoText, NotReadable, PasswordNeeded
from rag.formats import walk
from rag.parser import Opened, Parser
from rag.protocols import Embedder
from rag.raw_page import RawPage
from rag.store import Draft, Store
from rag.structure import clean_pages
from rag.types import (
    Chunk,
    Document,
    DocumentStatus,
    IngestEvent,
    IngestProgress,
    IngestResult,
    Page,
)
from rag.vectors import Vectors

_BATCH = 32
_KEEP_EVERY = 256  # chunks whose vectors are kept on the way


class Written(Protocol):
    """Told of every document that was written: the new chunks and the removed ones."""

    def __call__(self, added: Sequence[int], vectors: Vectors, removed: Sequence[int]) -> None: ...


class Ingestor:
    """Brings files into a store."""

    def __init__(self, store: Store, embedder: Embedder, parser: Parser, written: Written) -> None:
        self._store = store
        self._embedder = embedder
        self._parser = parser
        self._written = written

    def run(self, paths: Sequence[Path], password: str = "") -> Iterator[IngestEvent]:
        """Yields progress, and one result a file, in the order given; folders are walked.

        Raises:
            StoreError: the library can't be written; files before it stay.
        """
        seen: set[Path] = set()
        for path in walk(paths):
            real = Path(path).absolute()
            if real not in seen:
                seen.add(real)
                yield from self._file(real, password)

    def _file(self, path: Path, password: str) -> Iterator[IngestEvent]:
        begun = time.monotonic()
        try:
            result = yield from self._ingest(path, password)
        except DocumentError as error:
            status: DocumentStatus = (
                "needs_password" if isinstance(error, PasswordNeeded) else "failed"
            )
            result = IngestResult(str(path), "", status, error=str(error))
        yield _timed(result, time.monotonic() - begun)

    def _ingest(self, path: Path, password: str) -> Generator[IngestEvent, None, IngestResult]:
        digest = _digest(path)
        known = self._known(path, digest)
        if known is not None and known.sha256 == digest:
            return self._result(path, known.name, "unchanged")
        raw = yield from self._read(path, password, digest)
        pages = clean_pages(raw)
        usable = [page for page in pages if page.status in ("text", "ocr")]
        if not usable:
            raise _no_text(path, pages)
        name = known.name if known else self._name(path)
        size = ChunkSize(self._embedder.limit)
        chunks = chunk_pages(usable, name, self._embedder.count_tokens, size)
        vectors = yield from self._embed(path, chunks)
        yield IngestProgress(str(path), "saving", len(pages), len(pages))
        added, removed = self._store.put(Draft(name, str(path), digest, pages, chunks, vectors))
        self._written(added, vectors, removed)
        return self._result(path, name, "ready")

    def _read(
        self, path: Path, password: str, digest: str
    ) -> Generator[IngestEvent, None, list[RawPage]]:
        """The file's pages; those that an ingestion killed on its way had recognised are used."""
        known = self._store.recognised(digest)
        raw: list[RawPage] = []
        total = 0
        for record in self._parser.read(path, password, known):
            if isinstance(record, Opened):
                total = record.pages
                continue
            if record.pieces:
                self._store.keep_recognised(digest, record)
            raw.append(known.get(record.number, record))
            yield IngestProgress(str(path), "reading", len(raw), total)
        return raw

    def _embed(self, path: Path, chunks: Sequence[Chunk]) -> Generator[IngestEvent, None, Vectors]:
        """Vectors of the chunks; those that an ingestion killed on its way had are used."""
        texts = [embedded_text(chunk) for chunk in chunks]
        keys = [
            hashlib.sha256(f"{self._embedder.name}\0{text}".encode()).digest() for text in texts
        ]
        known = self._store.unfinished(keys)
        missing = [place for place, key in enumerate(keys) if key not in known]
        new: list[bytes] = []
        for start in range(0, len(missing), _BATCH):
            batch = missing[start : start + _BATCH]
            vectors = self._embedder.embed([texts[place] for place in batch])
            known.update(zip((keys[place] for place in batch), vectors, strict=True))
            new += [keys[place] for place in batch]
            if len(new) >= _KEEP_EVERY:
                self._store.keep_unfinished(new, np.stack([known[key] for key in new]))
                new.clear()
            done = len(chunks) - len(missing) + start + len(batch)
            yield IngestProgress(str(path), "embedding", done, len(chunks))
        return np.stack([known[key] for key in keys])

    def _known(self, path: Path, digest: str) -> Document | None:
        """The document read from this path; or one whose file moved here from where it was."""
        known = self._store.find(path=str(path))
        if known is not None:
            return known
        for document in self._store.documents():
            same = document.sha256 == digest and Path(document.path).name == path.name
            if same and not Path(document.path).exists():
                self._store.move(document.name, str(path))
                return document
        return None

    def _name(self, path: Path) -> str:
        """The file's name, with its folder where another document has that name."""
        names = {document.name for document in self._store.documents()}
        name, folder = path.name, path.parent
        while name in names and folder.name:
            name = f"{folder.name}/{name}"
            folder = folder.parent
        number = 2
        while name in names:
            name = f"{path.name} ({number})"
            number += 1
        return name

    def _result(self, path: Path, name: str, status: DocumentStatus) -> IngestResult:
        document = self._store.find(name=name)
        assert document is not None
        recognised, empty = self._store.page_counts(name)
        return IngestResult(
            str(path), name, status, document.pages, recognised, empty, document.chunks
        )


def embedded_text(chunk: Chunk) -> str:
    """What the embedder sees of a chunk: its headings, then its text."""
    return f"{chunk.section}\n{chunk.text}" if chunk.section else chunk.text


def _timed(result: IngestResult, seconds: float) -> IngestResult:
    return dataclasses.replace(result, seconds=round(seconds, 3))


def _no_text(path: Path, pages: Sequence[Page]) -> NoText:
    if any(page.status == "garbled" for page in pages):
        return NoText(
            f"{path.name} has text that can't be decoded (a font without a character map);"
            " print it to a new PDF or add a version with text."
        )
    return NoText(
        f"{path.name} has no text on its {len(pages)} page(s), and none was recognised there;"
        " add a version with text or a sharper scan."
    )


def _digest(path: Path) -> str:
    if _has_surrogates(str(path)):
        raise NotReadable(f"The name of {path} is not valid UTF-8; rename the file.")
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError as error:
        raise NotReadable(f"{path.name} does not exist; check the path.") from error
    except OSError as error:
        raise NotReadable(f"{path.name} can't be read: {error.strerror}.") from error


def _has_surrogates(text: str) -> bool:
    """Whether a file name holds bytes that are no UTF-8: SQLite and JSON can't keep it."""
    return any("\ud800" <= c <= "\udfff" for c in text)
