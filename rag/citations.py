"""Turns quotations into numbered citations. The program cites, not the model."""

from __future__ import annotations

from collections.abc import Sequence

from rag.quote import Quote
from rag.types import Citation, Page


def citation(quote: Quote, page: Page | None) -> Citation:
    """A citation of a quotation: the page on which it begins, and what of it stands there."""
    printed = page.printed if page is not None and page.printed != str(page.number) else ""
    name, text = quote.chunk.document, quote.text_on_page
    return Citation(name, quote.page, text, quote.chunk.id, quote.spans, printed)


def block(quote: Quote, cited: Citation, number: int, several_documents: bool = False) -> str:
    """A quotation as Markdown, verbatim, with its page and the mark of its citation."""
    text = "\n".join(f"> {line}" for line in f"“{quote.shown}”".splitlines())
    where = f"{cited.document}, {cited.place}" if several_documents else cited.place
    return f"{text}\n>\n> — {where} [{number}]"


def marks(numbers: Sequence[int]) -> str:
    """Marks such as "[2] [3]"."""
    return " ".join(f"[{n}]" for n in numbers)
