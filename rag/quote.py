"""A quotation: a run of characters of a passage, and where it stands on its pages.

It knows passages. How quotations are found and ranked is in `quotes`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rag.lines import LEFT_OUT, without_marks
from rag.types import Chunk, Span


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence of a passage, verbatim, with its place; a higher score is better.

    `meaning` is the cosine of the sentence and the question, with its context or without; `worded`
    that of the sentence and the usual wording of such a clause, or `meaning` if there is none.
    """

    text: str
    chunk: Chunk
    start: int
    stop: int
    score: float
    meaning: float = 0.0
    worded: float = 0.0

    @property
    def shown(self) -> str:
        """The text as readers see it: without the marks of lines that were left out."""
        return without_marks(self.text)

    @property
    def spans(self) -> tuple[Span, ...]:
        return locate(self.chunk, self.start, self.stop)

    @property
    def page(self) -> int:
        """The first page that holds a part to speak of: a heading may end the one before."""
        lengths = [(span.page, span.stop - span.start) for span in self.spans]
        least = sum(length for _, length in lengths) / 4
        return next((page for page, length in lengths if length >= least), self.chunk.page)

    @property
    def text_on_page(self) -> str:
        """The part of `text` that stands on `page` in one run.

        Footers lie between it and the rest, or a page number in the midst of the page.
        """
        page = self.page
        parts = [
            self.chunk.text[a:b].strip()
            for span, _, a, b in _overlaps(self.chunk, self.start, self.stop)
            if span.page == page
        ]
        runs = ("\n".join(parts) or self.text).split(LEFT_OUT)
        return max(runs, key=len).strip()


def locate(chunk: Chunk, start: int, stop: int) -> tuple[Span, ...]:
    """Page spans of the characters start ≤ c < stop of a chunk's text."""
    return tuple(
        Span(span.page, span.start + a - offset, span.start + b - offset)
        for span, offset, a, b in _overlaps(chunk, start, stop)
    )


def _overlaps(chunk: Chunk, start: int, stop: int) -> Iterator[tuple[Span, int, int, int]]:
    """Spans of a chunk that hold some of the characters start ≤ c < stop of its text.

    Each with where it begins in the text, and with the characters a ≤ c < b that it holds.
    """
    offset = 0
    for span in chunk.spans:
        length = span.stop - span.start
        a, b = max(start, offset), min(stop, offset + length)
        if a < b:
            yield span, offset, a, b
        offset += length + 1
