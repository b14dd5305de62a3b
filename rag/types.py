"""The records of `rag`: pages, chunks, hits, citations, answers. They know no file and no model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from rag.raw_page import Piece

DocumentStatus = Literal["ready", "failed", "needs_password", "unchanged"]
PageStatus = Literal["text", "ocr", "empty", "garbled"]


@dataclass(frozen=True, slots=True)
class Page:
    """One page as it was read.

    Attributes:
        number: physical page, from 1.
        text: cleaned text (words broken over lines joined, running headers and footers dropped).
        printed: the page number printed on the page or its PDF label; empty if there is none.
        pieces: where text was recognised on the page's picture; empty if the file held the text.
    """

    number: int
    text: str
    printed: str = ""
    status: PageStatus = "text"
    pieces: tuple[Piece, ...] = ()


@dataclass(frozen=True, slots=True)
class Span:
    """Characters start ≤ c < stop of a page's cleaned text."""

    page: int
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage that fits the embedder's limit.

    Attributes:
        id: row id in the store; 0 before it is stored.
        document: the document's name in the library.
        ordinal: place within the document, from 0.
        text: the passage, as on its pages; pieces of several spans are joined by a line break.
        section: path of headings, e.g. "7 Liability > 7.2 Cap"; empty if there is none.
        spans: where it stands; more than one where it crosses pages.
    """

    id: int
    document: str
    ordinal: int
    text: str
    section: str
    spans: tuple[Span, ...]

    @property
    def page(self) -> int:
        return self.spans[0].page

    @property
    def pages(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys(span.page for span in self.spans))


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk found for a question; a higher score is better."""

    chunk: Chunk
    score: float


@dataclass(frozen=True, slots=True)
class Citation:
    """A verbatim quotation and where it stands. `quote` is empty if only the page is known.

    Attributes:
        page: its place in the file, from 1.
        printed: the number printed on the page where that is another; else empty.
    """

    document: str
    page: int
    quote: str
    chunk_id: int
    spans: tuple[Span, ...] = ()
    printed: str = ""

    @property
    def place(self) -> str:
        """The page as readers look it up: "p. 12", or "p. 12 (printed 10)"."""
        return f"p. {self.page}" + (f" (printed {self.printed})" if self.printed else "")


@dataclass(frozen=True, slots=True)
class Document:
    """A document of the library."""

    name: str
    path: str
    sha256: str
    pages: int
    chunks: int
    added: str


@dataclass(frozen=True, slots=True)
class IngestProgress:
    """Where the reading of a file is: `stage` is "reading", "embedding" or "saving"."""

    path: str
    stage: str
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class IngestResult:
    """What became of one file; field for field what `clausebook ingest --json` prints."""

    path: str
    document: str
    status: DocumentStatus
    pages: int = 0
    pages_ocr: int = 0
    pages_empty: int = 0
    chunks: int = 0
    error: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class EvidenceFound:
    """The passages found, before the model has read them."""

    question: str
    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """The model reads: `done` of `total` tokens, or sections of a whole document."""

    done: int
    total: int
    unit: Literal["tokens", "pages"] = "tokens"


@dataclass(frozen=True, slots=True)
class AnswerDelta:
    """A piece of the answer's Markdown that stays, and the citations that its marks number."""

    text: str
    citations: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True)
class AnswerDraft:
    """What the model has written so far, not yet checked: a delta follows with what is kept."""

    text: str


@dataclass(frozen=True, slots=True)
class AnswerNotice:
    """One line for the user that is not part of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The last event of a question.

    Attributes:
        text: the answer as Markdown, with [1]-style marks that number `citations`.
        found: False if the documents don't say.
        stopped: the user stopped it; `text` is what was written so far.
        stats: the engine's figures by the names that `clausebook ask --json` prints.
    """

    text: str
    found: bool
    citations: tuple[Citation, ...]
    stats: dict[str, object] = field(default_factory=dict)
    stopped: bool = False


AnswerEvent = EvidenceFound | Reading | AnswerDelta | AnswerDraft | AnswerNotice | Answer
IngestEvent = IngestProgress | IngestResult
