"""What the window asks of the library worker. Each request carries a `job` its sender chose.

The replies are in `replies`; import both through `records`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Ingest:
    """Add files or folders. Replies: Progress and Ingested per file, then DocumentList."""

    job: int
    paths: tuple[str, ...]
    password: str | None = None


@dataclass(frozen=True, slots=True)
class Remove:
    """Remove documents by name. Reply: DocumentList."""

    job: int
    documents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ListDocuments:
    """Reply: DocumentList."""

    job: int


@dataclass(frozen=True, slots=True)
class ListPages:
    """The pages of a document as they were read. Reply: PageList."""

    job: int
    document: str


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask a question in a conversation ("" = keep nothing).

    Replies: Evidence, Reading, Delta and Notice as they come, then Answered.
    """

    job: int
    conversation: str
    question: str
    documents: tuple[str, ...] = ()
    use_cache: bool = True


@dataclass(frozen=True, slots=True)
class Regenerate:
    """Ask turn `turn` (from 0) again; later turns go. Replies as for Ask."""

    job: int
    conversation: str
    turn: int
    documents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the question of turn `turn` (from 0); later turns go. Replies as for Ask."""

    job: int
    conversation: str
    turn: int
    question: str
    documents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stop:
    """Stop the job `target`, whichever it is; it ends as usual, with what it has so far."""

    job: int
    target: int


@dataclass(frozen=True, slots=True)
class ListConversations:
    """Reply: ConversationList, the one used last first."""

    job: int


@dataclass(frozen=True, slots=True)
class NewConversation:
    """Reply: ConversationOpened without messages."""

    job: int
    title: str = ""


@dataclass(frozen=True, slots=True)
class OpenConversation:
    """Reply: ConversationOpened; the cache is fetched from disk meanwhile."""

    job: int
    conversation: str


@dataclass(frozen=True, slots=True)
class RenameConversation:
    """Reply: ConversationList."""

    job: int
    conversation: str
    title: str


@dataclass(frozen=True, slots=True)
class DeleteConversation:
    """Its cache goes too. Reply: ConversationList."""

    job: int
    conversation: str


@dataclass(frozen=True, slots=True)
class ForkConversation:
    """A copy with the first `turns` turns (None: all). Reply: ConversationOpened."""

    job: int
    conversation: str
    turns: int | None = None


@dataclass(frozen=True, slots=True)
class FindRectangles:
    """Where a quotation stands on its page. Reply: Rectangles."""

    job: int
    document: str
    page: int
    quote: str


@dataclass(frozen=True, slots=True)
class ChangeSettings:
    """Save these settings and use them. Reply: SettingsChanged with all of them."""

    job: int
    values: dict[str, Any]


@dataclass(frozen=True, slots=True)
class GetCacheReport:
    """Reply: CacheFigures."""

    job: int


@dataclass(frozen=True, slots=True)
class ClearCache:
    """Drop keys and values of a conversation ("" = all); texts stay. Reply: CacheFigures."""

    job: int
    conversation: str = ""


@dataclass(frozen=True, slots=True)
class ListModels:
    """Reply: ModelList."""

    job: int


@dataclass(frozen=True, slots=True)
class Doctor:
    """Reply: DoctorFindings, the same as `clausebook doctor --json`."""

    job: int


Request = (
    Ingest | Remove | ListDocuments | ListPages | Ask | Regenerate | Edit | Stop | ListConversations
    | NewConversation | OpenConversation | RenameConversation | DeleteConversation
    | ForkConversation | FindRectangles | ChangeSettings | GetCacheReport | ClearCache
    | ListModels | Doctor
)  # fmt: skip
