"""Turns quotations into numbered citations. The program cites, not the model."""

from __future__ import annotations

from collections.abc import Sequence

from rag.quotes import Quote
from rag.types import Citation


def citation(quote: Quote) -> Citation:
    """A citation of a quotation: the page on which it begins, and what of it stands there."""
    return Citation(
        quote.chunk.document, quote.page, quote.text_on_page, quote.chunk.id, quote.spans
    )


def block(quote: Quote, number: int, several_documents: bool = False) -> str:
    """A quotation as Markdown, verbatim, with its page and the mark of its citation."""
    text = "\n".join(f"> {line}" for line in f"“{quote.text}”".splitlines())
    where = f"{quote.chunk.document}, p. {quote.page}" if several_documents else f"p. {quote.page}"
    return f"{text}\n>\n> — {where} [{number}]"


def marks(numbers: Sequence[int]) -> str:
    """Marks such as "[2] [3]"."""
    return " ".join(f"[{n}]" for n in numbers)
