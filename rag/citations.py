"""Matches what an answer says to the sentences it rests on. The program does it, not the model."""

from __future__ import annotations

from collections.abc import Sequence

from rag import sentences
from rag.quotes import Quote, words
from rag.types import Citation

_ENOUGH = 0.5


def citation(quote: Quote) -> Citation:
    """A citation of a quotation, with the page on which it begins."""
    spans = quote.spans
    page = spans[0].page if spans else quote.chunk.page
    return Citation(quote.chunk.document, page, quote.text, quote.chunk.id, spans)


def supporting(answer: str, quotes: Sequence[Quote]) -> list[Quote]:
    """The quotations that share most words with each sentence of the answer, in its order."""
    out: list[Quote] = []
    for sentence in sentences.split(answer):
        said = words(sentence.text)
        if not said:
            continue
        best = max(quotes, key=lambda q: len(said & words(q.text)), default=None)
        if best is None or best in out:
            continue
        if len(said & words(best.text)) / len(said) >= _ENOUGH:
            out.append(best)
    return out
