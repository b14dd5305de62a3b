"""Where a quotation stands on a page of a document: what the window marks.

On a page whose text was recognised the places are in the store; on others the PDF is asked, in a
process of its own.
"""

from __future__ import annotations

from pathlib import Path

from rag.errors import UnknownDocument
from rag.parser import Parser
from rag.rectangles import Rectangle, on_pieces
from rag.store import Store


def rectangles(
    store: Store, parser: Parser, name: str, page: int, quote: str, password: str = ""
) -> list[Rectangle]:
    """A rectangle a line, see `Pdf.rectangles`; empty if the quotation can't be found.

    Raises:
        UnknownDocument: there is no document of that name.
    """
    found = store.find(name=name)
    if found is None:
        raise UnknownDocument(f"There is no document called {name!r} any more; add it again.")
    path = Path(found.path)
    if not quote or path.suffix.lower() != ".pdf" or not path.exists():
        return []
    shown = store.page(name, page)
    if shown is not None and shown.pieces:
        return on_pieces(shown.pieces, quote)
    return parser.rectangles(path, page, quote, password)
