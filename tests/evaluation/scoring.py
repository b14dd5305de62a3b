"""When a passage counts as found: by letters and digits, so that line breaks don't matter."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import mean, quantiles

_END = 60  # letters of a long passage that must stand in a hit: its first or its last


def letters(text: str) -> str:
    """Lower-case letters and digits after NFKC."""
    return "".join(c for c in unicodedata.normalize("NFKC", text).lower() if c.isalnum())


def holds(text: str, evidence: str) -> bool:
    """Whether a hit's `text` holds the evidence, or the beginning or end of a long one.

    `text` is as `letters` gives it.
    """
    wanted = letters(evidence)
    if len(wanted) <= _END:
        return wanted in text
    return wanted in text or wanted[:_END] in text or wanted[-_END:] in text


@dataclass(slots=True)
class Tally:
    """Outcomes of one set of questions.

    Attributes:
        passage, page: whether a right passage, or page, was among the hits; one a question.
        milliseconds: what each search took.
    """

    passage: list[bool] = field(default_factory=list)
    page: list[bool] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)

    def row(self) -> dict[str, float | int | None]:
        """The figures of the table."""
        late = quantiles(self.milliseconds, n=20)[-1] if len(self.milliseconds) > 1 else None
        return {
            "questions": len(self.passage),
            "passage@5": _share(self.passage),
            "page@5": _share(self.page),
            "ms": round(mean(self.milliseconds), 1) if self.milliseconds else None,
            "ms 95%": round(late, 1) if late is not None else None,
        }


def _share(outcomes: Sequence[bool]) -> float | None:
    return round(mean(outcomes), 4) if outcomes else None
