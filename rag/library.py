"""The facade of `rag`'s documents: add, list, remove, search. Knows no prompts and no generator.

Thread-affine: use it from the thread that made it (one SQLite connection a thread).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

from rag import highlight
from rag.errors import InvalidQuestion, UnknownDocument
from rag.index import VectorIndex
from rag.ingest import Ingestor, embedded_text
from rag.parser import Parser
from rag.protocols import Embedder
from rag.rectangles import Rectangle
from rag.remembering_embedder import RememberingEmbedder
from rag.reranking import Reranker
from rag.retrieval import Retriever
from rag.store import Store
from rag.types import Chunk, Document, Hit, IngestEvent, Page
from rag.vectors import Vectors

_SPACE = "embedder"


class Library:
    """Documents in a folder, and the search over them."""

    def __init__(
        self,
        folder: Path,
        embedder: Embedder,
        parser: Parser | None = None,
        reranker: Reranker | None = None,
    ) -> None:
        """Opens or makes the library; an index that lags behind the rows is brought up to date.

        `reranker` takes a second look at the best passages; see `rag.reranking`.

        Raises:
            StoreError: see `rag.errors`.
        """
        self._embedder = embedder
        self._sentences = RememberingEmbedder(embedder)
        self._parser = parser or Parser()
        self._store = Store(folder)
        self._use_space()
        self._index = VectorIndex(
            folder, embedder.dimension, embedder.name, self._store.vectors, self._store.size
        )
        self._retriever = Retriever(self._store, self._index, embedder, reranker=reranker)

    @property
    def sentence_embedder(self) -> Embedder:
        """The embedder for sentences of passages: it remembers those it embedded lately."""
        return self._sentences

    @property
    def embedder(self) -> Embedder:
        """What the documents' vectors were made with."""
        return self._embedder

    @property
    def connection(self) -> sqlite3.Connection:
        """The store's connection, for the tables of `history`."""
        return self._store.connection

    def ingest(self, paths: Sequence[Path], password: str | None = None) -> Iterator[IngestEvent]:
        """Adds files and the files in folders; see `Ingestor.run`."""
        ingestor = Ingestor(self._store, self._embedder, self._parser, self._written)
        try:
            yield from ingestor.run(paths, password or "")
        finally:
            self._index.save()

    def documents(self) -> list[Document]:
        """All documents, oldest first."""
        return self._store.documents()

    def remove(self, name: str) -> None:
        """Removes a document with its rows, vectors and keywords.

        Raises:
            UnknownDocument: there is none of that name.
        """
        self._index.remove(self._store.remove(name))
        self._index.save()

    def search(self, question: str, documents: Sequence[str] = (), k: int = 5) -> list[Hit]:
        """The k best passages, best first; among `documents` if any are named.

        Raises:
            InvalidQuestion: the question is empty, or there is no document.
            UnknownDocument: one of `documents` isn't in the library.
        """
        if not question.strip():
            raise InvalidQuestion("The question is empty; type one.")
        if not self._store.documents():
            raise InvalidQuestion("There is no document yet; add one first.")
        return self._retriever.search(question, documents, k)

    def page_text(self, document: str, page: int) -> str:
        """The cleaned text of a page; empty if there is no such page."""
        found = self.page(document, page)
        return found.text if found else ""

    def page(self, document: str, number: int) -> Page | None:
        """A page by its physical number, with the number printed on it; None if there is none."""
        return self._store.page(document, number)

    def chunk(self, id: int) -> Chunk:  # noqa: A002
        """A chunk by its id.

        Raises:
            UnknownDocument: it is gone with its document.
        """
        found = self._store.chunks_by_id([id])
        if id not in found:
            raise UnknownDocument(f"Passage {id} is gone: its document was removed or replaced.")
        return found[id]

    def chunks(self, document: str) -> list[Chunk]:
        """All chunks of a document, in order."""
        return self._store.chunks(document)

    def neighbours(self, chunk: Chunk, before: int = 1, after: int = 1) -> list[Chunk]:
        """The chunks around one, in order, without itself."""
        around = self._store.chunks(chunk.document, chunk.ordinal - before, chunk.ordinal + after)
        return [other for other in around if other.ordinal != chunk.ordinal]

    def clause(self, chunk: Chunk) -> list[Chunk]:
        """The chunks of the clause that one is in, in order: those of its section and below."""
        return [
            other
            for other in self._store.chunks(chunk.document)
            if other.section == chunk.section or other.section.startswith(f"{chunk.section} > ")
        ]

    def rectangles(
        self, document: str, page: int, quote: str, password: str = ""
    ) -> list[Rectangle]:
        """Where a quotation stands on a page of a PDF; see `rag.highlight`."""
        return highlight.rectangles(self._store, self._parser, document, page, quote, password)

    def close(self) -> None:
        """Saves the index and closes the store."""
        self._index.save()
        self._store.close()

    def _use_space(self) -> None:
        """Notes the embedder; chunks embedded by another one are embedded again."""
        before = self._store.setting(_SPACE)
        if before and before != self._embedder.name:
            for document in self._store.documents():
                chunks = self._store.chunks(document.name)
                vectors = self._embedder.embed([embedded_text(chunk) for chunk in chunks])
                self._store.replace_vectors([chunk.id for chunk in chunks], vectors)
        if before != self._embedder.name:
            self._store.set_setting(_SPACE, self._embedder.name)

    def _written(self, added: Sequence[int], vectors: Vectors, removed: Sequence[int]) -> None:
        self._index.remove(removed)
        self._index.add(added, vectors)
