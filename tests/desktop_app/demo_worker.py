"""A worker for demonstrations: canned answers about one PDF, with the real file's rectangles."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtPdf import QPdfDocument

from desktop_app import records
from desktop_app.fake_worker_client import FakeWorkerClient
from rag.types import Answer, Chunk, Citation, Document, Hit, IngestResult, Span

STATS = {
    "backend": "llama.cpp",
    "model": "SmolLM2-135M-Instruct.Q4_1",
    "prompt_tokens": 1472,
    "reused_tokens": 1420,
    "prefilled_tokens": 52,
    "generated_tokens": 64,
    "ttft_ms": 212.0,
    "tokens_per_second": 61.4,
    "trimmed_tokens": 0,
    "restored_from": "",
}

MODEL = {"name": "SmolLM2-135M-Instruct", "kind": "language", "path": "x", "size": 98_362_432}


def chunk(document: str, page: int, text: str, section: str = "") -> Chunk:
    """A passage on one page."""
    return Chunk(page, document, page, text, section, (Span(page, 0, len(text)),))


def canned(document: str, quotes: list[tuple[int, str]], text: str) -> Answer:
    """An answer with citations."""
    citations = tuple(Citation(document, page, quote, page) for page, quote in quotes)
    return Answer(text, True, citations, dict(STATS))


class DemoWorker(FakeWorkerClient):
    """Answers like the worker, from a script, with the delays of a small model."""

    def __init__(self, documents: list[Document], script: dict[str, Answer]) -> None:
        super().__init__()
        self.documents = documents
        self.script = script
        self.entries: list[records.ConversationEntry] = []
        self.messages: dict[str, list[records.Message]] = {}
        self._broken: dict[str, tuple[str, str]] = {}
        self.answer_with(records.ListDocuments, self._list)
        self.answer_with(records.Remove, self._remove)
        self.answer_with(
            records.ListConversations,
            lambda r: [records.ConversationList(r.job, tuple(self.entries))],
        )
        self.answer_with(records.NewConversation, self._new)
        self.answer_with(records.OpenConversation, self._open)
        self.answer_with(records.FindRectangles, self._rectangles)
        self.answer_with(records.GetCacheReport, self._report)
        self.answer_with(records.ListModels, lambda r: [records.ModelList(r.job, (MODEL,))])

    def send(self, request: records.Request) -> int:
        if isinstance(request, records.Ask):
            self.sent.append(request)
            self._play(request)
            return request.job
        if isinstance(request, records.Ingest):
            self.sent.append(request)
            self._ingest(request)
            return request.job
        return super().send(request)

    def _list(self, request: records.ListDocuments) -> Iterable[records.Reply]:
        return [records.DocumentList(request.job, tuple(self.documents))]

    def _remove(self, request: records.Remove) -> Iterable[records.Reply]:
        self.documents = [d for d in self.documents if d.name not in request.documents]
        return [records.DocumentList(request.job, tuple(self.documents))]

    def _new(self, request: records.NewConversation) -> Iterable[records.Reply]:
        entry = records.ConversationEntry(
            f"c{len(self.entries)}", request.title, "2026-01-01T00:00:00Z", 0
        )
        self.entries.insert(0, entry)
        self.messages[entry.id] = []
        return [records.ConversationOpened(request.job, entry)]

    def _open(self, request: records.OpenConversation) -> Iterable[records.Reply]:
        entry = next(e for e in self.entries if e.id == request.conversation)
        return [records.ConversationOpened(request.job, entry, tuple(self.messages[entry.id]))]

    def _report(self, request: records.GetCacheReport) -> Iterable[records.Reply]:
        own = {"id": "c0", "tokens": 1536, "window_tokens": 1536, "window": 4096,
               "tier": "device", "cache_bytes": 35_000_000, "disk_bytes": 36_000_000}  # fmt: skip
        values = {"conversations": [own], "memory_bytes": 0, "memory_budget": 1 << 30,
                  "disk_bytes": 36_000_000, "disk_budget": 8 << 30}  # fmt: skip
        return [records.CacheFigures(request.job, values)]

    def _rectangles(self, request: records.FindRectangles) -> Iterable[records.Reply]:
        path = next(d.path for d in self.documents if d.name == request.document)
        boxes = rectangles(Path(path), request.page, request.quote)
        return [
            records.Rectangles(request.job, request.document, request.page, request.quote, boxes)
        ]

    def _play(self, request: records.Ask) -> None:
        answer = self.script[request.question]
        hits = tuple(Hit(chunk(c.document, c.page, c.quote), 1.0) for c in answer.citations)
        job, words = request.job, answer.text.split(" ")
        steps: list[records.Reply] = [records.Evidence(job, request.question, hits)]
        steps += [records.Reading(job, 100 * i, 600) for i in range(7)]
        steps += [records.Delta(job, word + " ") for word in words]
        turn = len(self.messages[request.conversation])
        message = records.Message(turn, request.question, answer)
        self.messages[request.conversation].append(message)
        steps += [records.Answered(job, request.conversation, turn, answer), records.Finished(job)]
        for number, reply in enumerate(steps):
            delay = 40 + min(number, 8) * 120 + max(number - 8, 0) * 16
            QTimer.singleShot(delay, lambda reply=reply: self.reply(reply))

    def _ingest(self, request: records.Ingest) -> None:
        job = request.job
        delay = 0
        for path in request.paths:
            if path in self._broken:
                status, error = self._broken[path]
                failed = IngestResult(path, "", status, error=error)  # type: ignore[arg-type]
                self._later(20, records.Ingested(job, failed))
                continue
            for page in range(6):
                delay += 80
                self._later(delay, records.Progress(job, path, "reading", page, 6))
            result = IngestResult(path, Path(path).name, "ready", 6, chunks=20)
            self._later(delay + 10, records.Ingested(job, result))
            self.documents.append(Document(result.document, path, "", 6, 20, ""))
        self._later(delay + 30, records.DocumentList(job, tuple(self.documents)))
        self._later(delay + 40, records.Finished(job))

    def trouble(self, add: Callable[[Sequence[str]], None]) -> None:
        """Adds a file that is damaged and one that is locked."""
        damaged = "The file is damaged: it ends in the middle. Copy it again from its source."
        self._broken = {
            "/home/me/Frame agreement (signed).pdf": ("failed", damaged),
            "/home/me/Annex 3 – prices.pdf": ("needs_password", "It is locked; type its password."),
        }
        add([*self._broken])

    def _later(self, delay: int, reply: records.Reply) -> None:
        QTimer.singleShot(delay, lambda: self.reply(reply))


def rectangles(path: Path, page: int, quote: str) -> tuple[tuple[float, float, float, float], ...]:
    """Where a quotation is on its page, as Qt finds it."""
    document = QPdfDocument()
    document.load(str(path))
    text = document.getAllText(page - 1).text()
    match = re.search(r"\s+".join(re.escape(word) for word in quote.split()), text)
    if match is None:
        return ()
    selection = document.getSelectionAtIndex(page - 1, match.start(), match.end() - match.start())
    boxes = [polygon.boundingRect() for polygon in selection.bounds()]
    return tuple((r.left(), r.top(), r.right(), r.bottom()) for r in boxes)
