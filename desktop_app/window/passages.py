"""From a citation or a passage to its page at the right, with the words highlighted."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from desktop_app import records
from desktop_app.window.document_model import DocumentModel
from desktop_app.window.jobs import Jobs
from desktop_app.window.pdf_panel import PdfPanel
from rag.types import Citation, Hit


class Passages(QObject):
    """Opens pages and asks the worker where a quotation stands; only the latest answer counts."""

    shown = Signal(object)  # Citation, or None for a passage or a page
    document_shown = Signal(str)
    missing = Signal(str)  # name of a document that is no longer in the library

    def __init__(self, jobs: Jobs, model: DocumentModel, panel: PdfPanel) -> None:
        super().__init__()
        self._jobs = jobs
        self._model = model
        self._panel = panel
        self._job = 0
        self._pages_job = 0
        self.document = ""

    def show_citation(self, citation: Citation) -> None:
        """Opens the page a citation names and highlights its words."""
        if self._show(citation.document, citation.page, citation.quote):
            self.shown.emit(citation)

    def show_hit(self, hit: Hit) -> None:
        """Opens the page a passage begins on and highlights it."""
        if self._show(hit.chunk.document, hit.chunk.page, hit.chunk.text):
            self.shown.emit(None)

    def show_document(self, name: str, page: int = 0) -> None:
        """Opens a document."""
        if self._open(name):
            if page:
                self._panel.show_page(page)
            self.shown.emit(None)

    def forget_document(self, name: str) -> None:
        """Closes a document that was removed."""
        if name == self.document:
            self.document = ""
            self._panel.close_document()
            self.document_shown.emit("")

    def _open(self, name: str) -> bool:
        self._jobs.forget(self._job)
        path = self._model.path_of(name)
        if not path:
            self.missing.emit(name)
            return False
        self._panel.show()
        opened = self._panel.open(path, name)
        if opened and name != self.document:
            self._jobs.forget(self._pages_job)
            self._pages_job = self._jobs.submit(records.ListPages, self._on_pages, document=name)
        self.document = name
        self.document_shown.emit(name)
        return opened

    def _on_pages(self, reply: records.Reply) -> None:
        if isinstance(reply, records.PageList) and reply.document == self.document:
            self._panel.set_pages(reply.pages)

    def _show(self, document: str, page: int, quote: str) -> bool:
        if not self._open(document):
            return False
        self._panel.show_page(page)
        if quote:
            self._job = self._jobs.submit(
                records.FindRectangles, self._on_rectangles,
                document=document, page=page, quote=quote,
            )  # fmt: skip
        return True

    def _on_rectangles(self, reply: records.Reply) -> None:
        if isinstance(reply, records.Rectangles):
            self._panel.mark(reply.page, reply.rectangles, reply.quote)
        elif isinstance(reply, records.Failed):
            self._panel.set_note(f"{reply.message} {reply.hint}".strip())
