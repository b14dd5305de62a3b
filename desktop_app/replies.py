"""What the library worker answers. Each reply names the job it belongs to.

A job ends with exactly one `Finished` or `Failed`; what it found comes before that. Job 0 is the
worker's own: news that no request asked for. Import them through `records`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from rag.types import Answer, Citation, Document, Hit, IngestResult


@dataclass(frozen=True, slots=True)
class Started:
    """The worker is up (job 0); it sends this once per process, before anything else."""

    job: int
    pid: int
    version: str


@dataclass(frozen=True, slots=True)
class Progress:
    """A file is being read: `stage` is "reading", "embedding" or "saving"."""

    job: int
    path: str
    stage: str
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Ingested:
    """What became of one file."""

    job: int
    result: IngestResult


@dataclass(frozen=True, slots=True)
class DocumentList:
    """The library's documents."""

    job: int
    documents: tuple[Document, ...]


@dataclass(frozen=True, slots=True)
class PageEntry:
    """A page: its place in the file, from 1; the number printed on it; how its text was found."""

    number: int
    printed: str
    status: str


@dataclass(frozen=True, slots=True)
class PageList:
    """The pages of a document."""

    job: int
    document: str
    pages: tuple[PageEntry, ...]


@dataclass(frozen=True, slots=True)
class Evidence:
    """The passages found, before the model has read them."""

    job: int
    question: str
    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """The model reads: `done` of `total` in `unit` ("tokens" or "pages")."""

    job: int
    done: int
    total: int
    unit: str = "tokens"


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of the answer's Markdown that stays, and the citations that its marks number."""

    job: int
    text: str
    citations: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True)
class Draft:
    """What the model has written so far; it gives way to a Delta with what is kept of it."""

    job: int
    text: str


@dataclass(frozen=True, slots=True)
class Notice:
    """One line for the user; job 0: not about any one job."""

    job: int
    text: str


@dataclass(frozen=True, slots=True)
class Answered:
    """The whole answer with citations and figures. `turn` counts from 0; -1 if nothing is kept."""

    job: int
    conversation: str
    turn: int
    answer: Answer


@dataclass(frozen=True, slots=True)
class ConversationEntry:
    """A conversation in the list. `updated` is ISO 8601 in UTC."""

    id: str
    title: str
    updated: str
    turns: int


@dataclass(frozen=True, slots=True)
class Message:
    """One turn as the user sees it: a question and its answer."""

    turn: int
    question: str
    answer: Answer


@dataclass(frozen=True, slots=True)
class ConversationList:
    """All conversations, the one used last first."""

    job: int
    conversations: tuple[ConversationEntry, ...]


@dataclass(frozen=True, slots=True)
class ConversationOpened:
    """A conversation and its messages, oldest first."""

    job: int
    conversation: ConversationEntry
    messages: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class Rectangles:
    """(x0, y0, x1, y1) in PDF points from the page's top left; empty if nothing matches."""

    job: int
    document: str
    page: int
    quote: str
    rectangles: tuple[tuple[float, float, float, float], ...]


@dataclass(frozen=True, slots=True)
class SettingsChanged:
    """All settings as they are now."""

    job: int
    values: dict[str, Any]


@dataclass(frozen=True, slots=True)
class CacheFigures:
    """The engine's cache report as plain values."""

    job: int
    values: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ModelList:
    """What `clausebook models list --json` prints."""

    job: int
    models: tuple[dict[str, Any], ...]


@dataclass(frozen=True, slots=True)
class DoctorFindings:
    """What `clausebook doctor --json` prints."""

    job: int
    values: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Finished:
    """The job is done; nothing more of it comes."""

    job: int


@dataclass(frozen=True, slots=True)
class Failed:
    """The job failed: what is wrong, and what to do (may be empty). Nothing more of it comes."""

    job: int
    message: str
    hint: str = ""


Reply = (
    Started | Progress | Ingested | DocumentList | PageList | Evidence | Reading | Delta | Draft
    | Notice | Answered | ConversationList | ConversationOpened | Rectangles | SettingsChanged
    | CacheFigures | ModelList | DoctorFindings | Finished | Failed
)  # fmt: skip
