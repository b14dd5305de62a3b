"""A page as a parser gave it, before it is cleaned."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RawPage:
    r"""A page as extracted: lines end with \n, paragraphs (by vertical gap) with an empty line.

    Attributes:
        number: physical page, from 1.
        label: the PDF's own label of the page, e.g. "iv"; empty if it has none.
    """

    number: int
    text: str
    label: str = ""
