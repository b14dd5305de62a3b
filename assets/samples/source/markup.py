"""The sample documents' text format: reads a source file into blocks. Knows nothing of PDF.

    key: value          at the top, up to a line of three dashes
    # Heading           an article            ## Heading   a part, which begins on a new page
    = Heading           a schedule, which begins on a new page
    ~ Heading           a heading below an article or schedule
    1.1 Text            a numbered clause     (a) Text     an item
    | a | b |           a row of a table; the first row of a table is its head
    [contents]          table of contents
    [page]              page break            [roman] [arabic]  how page numbers go on

Blank lines separate blocks; rows of one table stand on consecutive lines.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

CLAUSE = re.compile(r"^(\d+\.\d+)\s+(.*)$", re.DOTALL)
ITEM = re.compile(r"^([(（][a-z0-9一二三四五六七八九十]+[)）])\s*(.*)$", re.DOTALL)
HEADINGS = {"## ": "part", "# ": "article", "= ": "schedule", "~ ": "heading"}


@dataclass(frozen=True, slots=True)
class Block:
    """A heading, a clause, an item, a paragraph, a table or a command.

    Attributes:
        kind: part, article, schedule, heading, clause, item, paragraph, table or command.
        text: the text; for a command, its name.
        number: of a clause or item.
        rows: of a table, the head first.
    """

    kind: str
    text: str = ""
    number: str = ""
    rows: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """A document before it is laid out."""

    settings: dict[str, str]
    blocks: list[Block] = field(default_factory=list)


def cells(line: str) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in line.strip().strip("|").split("|"))


def block(text: str) -> Block:
    """The block that a paragraph of the source stands for."""
    if text.startswith("|"):
        return Block("table", rows=tuple(cells(line) for line in text.splitlines()))
    joined = " ".join(text.split("\n"))
    for mark, kind in HEADINGS.items():
        if joined.startswith(mark):
            return Block(kind, joined.removeprefix(mark))
    if joined.startswith("[") and joined.endswith("]"):
        return Block("command", joined[1:-1])
    if found := CLAUSE.match(joined):
        return Block("clause", found[2], found[1])
    if found := ITEM.match(joined):
        return Block("item", found[2], found[1])
    return Block("paragraph", joined)


def parse(text: str) -> Source:
    """Reads a whole source file's text."""
    head, _, body = text.partition("\n---\n")
    settings = dict(line.split(": ", 1) for line in head.strip().splitlines())
    paragraphs = re.split(r"\n\s*\n", body.strip())
    return Source(settings, [block(paragraph.strip("\n")) for paragraph in paragraphs])


def read(path: Path) -> Source:
    return parse(path.read_text(encoding="utf8"))
