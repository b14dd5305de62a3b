"""Pages to chunks that fit the embedder: they follow clauses and carry their section path.

Knows token counts only through the `Embedder`; the marks of clauses come from `headings`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rag.headings import is_heading
from rag.sections import SectionPath
from rag.types import Chunk, Page, Span

_SENTENCE = re.compile(
    r"(?<=[.;:!?])[\"'\u201d\u2019)]*\s+(?=[A-Z(\[\"\u201c\u2018'$\d])|(?<=[\u3002\uff1b\uff01\uff1f])"
)
_NO_END = re.compile(
    r"(?:\b(?:No|Nos|Sec|Art|Inc|Corp|Ltd|Co|Mr|Mrs|Ms|Dr|vs|v|e\.g|i\.e|St|U\.S)|\b[A-Z])\.$"
)


@dataclass(frozen=True, slots=True)
class Piece:
    """A sentence, heading or table row, with its place and its token count."""

    span: Span
    text: str
    tokens: int
    section: str
    begins: bool  # a clause or paragraph begins here
    heading: bool


@dataclass(frozen=True, slots=True)
class ChunkSize:
    """Tokens a chunk may have, special ones included, and how full one must be to be closed."""

    most: int = 256
    enough: int = 200

    def __post_init__(self) -> None:
        if not 16 <= self.enough <= self.most:
            raise ValueError(f"need 16 <= enough <= most, got {self}")


def chunk_pages(
    pages: Sequence[Page], document: str, count: Callable[[str], int], size: ChunkSize
) -> list[Chunk]:
    """The chunks of a document, in order; every word of its text is in one of them."""
    chunks: list[Chunk] = []
    current: list[Piece] = []

    def close() -> None:
        if current:
            chunks.append(_chunk(current, pages, document, len(chunks)))
            current.clear()

    special = count("")
    used = special
    for piece in pieces(pages, count, size.most - special):
        full = used + piece.tokens > size.most
        clause = piece.begins and used >= size.enough
        if current and (full or clause or (piece.heading and used >= size.enough // 2)):
            close()
            used = special
        current.append(piece)
        used += piece.tokens
    close()
    return chunks


def _chunk(group: Sequence[Piece], pages: Sequence[Page], document: str, ordinal: int) -> Chunk:
    texts = {page.number: page.text for page in pages}
    spans: list[Span] = []
    for piece in group:
        last = spans[-1] if spans else None
        if last and last.page == piece.span.page and piece.span.start - last.stop <= 2:
            spans[-1] = Span(last.page, last.start, piece.span.stop)
        else:
            spans.append(piece.span)
    text = "\n".join(texts[s.page][s.start : s.stop] for s in spans)
    return Chunk(0, document, ordinal, text, group[0].section, tuple(spans))


def pieces(pages: Sequence[Page], count: Callable[[str], int], most: int) -> Iterator[Piece]:
    """Sentences and headings in order, each of at most `most` tokens (special ones not counted)."""
    path = SectionPath(p for page in pages for p in page.text.split("\n"))
    special = count("")
    for page in pages:
        at = 0
        for paragraph in page.text.split("\n"):
            heading = is_heading(paragraph)
            section = path.enter(paragraph)
            first = True
            for start, stop in _fit(paragraph, count, most + special):
                text = paragraph[start:stop]
                span = Span(page.number, at + start, at + stop)
                yield Piece(span, text, count(text) - special, section, first, heading)
                first = False
            at += len(paragraph) + 1


def _fit(paragraph: str, count: Callable[[str], int], most: int) -> Iterator[tuple[int, int]]:
    """Spans of sentences; one over `most` tokens, special ones counted, is cut."""
    for start, stop in sentences(paragraph):
        if count(paragraph[start:stop]) <= most:
            yield start, stop
        else:
            yield from _cut(paragraph, start, stop, count, most)


def sentences(paragraph: str) -> Iterator[tuple[int, int]]:
    """Spans of the sentences of a paragraph, without the white space between them."""
    start = 0
    for found in _SENTENCE.finditer(paragraph):
        if _NO_END.search(paragraph[start : found.start()]):
            continue
        if found.end() > start and paragraph[start : found.end()].strip():
            text = paragraph[start : found.end()]
            yield start, start + len(text.rstrip())
            start = found.end()
    rest = paragraph[start:].rstrip()
    if rest:
        yield start, start + len(rest)


def _cut(
    text: str, start: int, stop: int, count: Callable[[str], int], most: int
) -> Iterator[tuple[int, int]]:
    while start < stop:
        end = _most_that_fits(text, start, stop, count, most)
        yield start, end
        start = end + len(text[end:stop]) - len(text[end:stop].lstrip())


def _most_that_fits(
    text: str, start: int, stop: int, count: Callable[[str], int], most: int
) -> int:
    low, high = start + 1, stop
    while low < high:
        middle = (low + high + 1) // 2
        if count(text[start:middle]) <= most:
            low = middle
        else:
            high = middle - 1
    if low == stop:
        return stop
    for pattern in (r"[,;:\uff0c\uff1b\u3001]\s*", r"\s+"):
        ends = [m.end() for m in re.finditer(pattern, text[start:low])]
        if ends and ends[-1] > (low - start) // 2:
            return start + len(text[start : start + ends[-1]].rstrip())
    return low
