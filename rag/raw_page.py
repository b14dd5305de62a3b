"""A page as a parser gave it, before it is cleaned."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a line, recognised on a picture of a page: its text and where it stands.

    Unit of the box: PDF points from the top left of the page as shown (y grows downwards), once it
    belongs to a page; before, pixels of the picture.
    """

    text: str
    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(frozen=True, slots=True)
class RawPage:
    r"""A page as extracted: lines end with \n, paragraphs (by vertical gap) with an empty line.

    Attributes:
        number: physical page, from 1.
        label: the PDF's own label of the page, e.g. "iv"; empty if it has none.
        pieces: what was recognised on the page's picture, in reading order; empty if the file held
            the text.
    """

    number: int
    text: str
    label: str = ""
    pieces: tuple[Piece, ...] = ()
