"""Libraries for tests."""

from __future__ import annotations

from pathlib import Path

from rag.library import Library
from rag.protocols import Embedder
from rag.types import IngestResult


def library_of(folder: Path, name: str, text: str, embedder: Embedder) -> Library:
    """A library whose one document is a text file, read and ready."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    library = Library(folder / "library", embedder)
    results = [event for event in library.ingest([path]) if isinstance(event, IngestResult)]
    assert results[0].status == "ready"
    return library
