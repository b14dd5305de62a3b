"""What `rag` needs from outside: something that embeds, and something that generates.

The generator is the engine, seen through this small window; `desktop_app` fits one to the other.
`rag` knows neither models nor token ids.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from rag.vectors import Vectors


class Embedder(Protocol):
    """Text to unit vectors."""

    @property
    def name(self) -> str:
        """Identifies the vectors' space; vectors of another name are not comparable."""

    @property
    def dimension(self) -> int: ...

    @property
    def limit(self) -> int:
        """Most tokens that a text may have; the rest would be cut."""

    def count_tokens(self, text: str) -> int: ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Rows of norm 1, shape (len(texts), dimension)."""


@dataclass(frozen=True, slots=True)
class Request:
    """A turn for the generator.

    Attributes:
        user: the text of the user turn: passages and question.
        system: the system prompt; used for the first turn of a conversation only.
        prefix: text the answer begins with; read, not generated.
        choices: the answer (after `prefix`) begins with exactly one of these, the model's choice.
        spans: every quotation in the answer is a character span of one of these.
        stop_after_choice: the answer ends with the choice.
        max_tokens: most tokens generated.
        stop: strings that end the answer.
        record: kept with the turn, and given back by `Generator.turns`.
    """

    user: str
    system: str = ""
    prefix: str = ""
    choices: tuple[str, ...] = ()
    spans: tuple[str, ...] = ()
    stop_after_choice: bool = False
    max_tokens: int = 256
    stop: tuple[str, ...] = ()
    record: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Generated:
    """An event of a generation.

    kind "reading" has done and total (tokens); "text" and "notice" have text; "end", the last,
    has the whole text, the reason it stopped and the figures.
    """

    kind: Literal["reading", "text", "notice", "end"]
    text: str = ""
    done: int = 0
    total: int = 0
    reason: str = ""
    stats: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PastTurn:
    """A committed turn: what was recorded with it, and whether the model still sees it."""

    record: dict[str, object]
    in_window: bool


class Generator(Protocol):
    """A language model that keeps conversations."""

    def count_tokens(self, text: str) -> int: ...

    def tokens_left(self, conversation: str) -> int:
        """Most tokens a new turn (answer included) may add, trimming what may be trimmed."""

    def prefill_speed(self) -> float:
        """Tokens read in a second, as measured lately."""

    def turns(self, conversation: str) -> Sequence[PastTurn]: ...

    def prepare(self, conversation: str) -> None:
        """A question in a conversation is on its way; returns at once and raises nothing."""

    def ask(self, conversation: str, request: Request) -> Iterator[Generated]:
        """Adds a turn. An empty `conversation` is a scratch one: nothing of it is kept.

        Closing the iterator stops the generation within one batch; what was written stays.
        """

    def score(self, conversation: str, request: Request, answers: Sequence[str]) -> list[float]:
        """Mean log-likelihood per token of each answer to the request; nothing is kept."""

    def stop(self, conversation: str) -> None:
        """Makes a running `ask` end within one batch; may be called from another thread."""
