"""A window with a fake worker, for the tests: what it was asked, and what the user would see."""

from __future__ import annotations

import time
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from desktop_app import records
from desktop_app.fake_worker_client import FakeWorkerClient
from desktop_app.records import ConversationEntry, Message
from desktop_app.settings import Settings
from desktop_app.window.app import build_window
from desktop_app.window.message_view import AnswerView
from desktop_app.window.window_state import WindowState
from rag.types import Answer, Chunk, Citation, Document, Hit, Span

SAMPLES = Path(__file__).resolve().parent.parent.parent / "assets" / "samples"
SUPPLY = "supply-agreement.pdf"
LIABILITY = "Liability for breach of this Agreement is determined by the loss"
STATS = {
    "backend": "llama.cpp",
    "model": "SmolLM2-135M",
    "prompt_tokens": 1472,
    "reused_tokens": 1420,
    "prefilled_tokens": 52,
    "generated_tokens": 40,
    "ttft_ms": 212.0,
    "tokens_per_second": 61.0,
    "trimmed_tokens": 0,
    "restored_from": "",
}


def document(name: str = SUPPLY, pages: int = 9) -> Document:
    """A document of the library; the samples' files are there."""
    return Document(name, str(SAMPLES / name), "", pages, pages * 2, "")


def hit(page: int, text: str = "A passage.", name: str = SUPPLY) -> Hit:
    """A passage on a page."""
    return Hit(Chunk(page, name, page, text, "", (Span(page, 0, len(text)),)), 0.9)


def answer(
    text: str = "By the loss [1].", quote: str = LIABILITY, page: int = 6, stopped: bool = False
) -> Answer:
    """An answer with one citation; without a quote, with none."""
    citations = (Citation(SUPPLY, page, quote, 1),) if quote else ()
    return Answer(text, bool(quote) or stopped, citations, dict(STATS), stopped)


def entry(number: int = 1, title: str = "Liability", turns: int = 0) -> ConversationEntry:
    """A conversation of the list."""
    return ConversationEntry(f"c{number}", title, "2026-01-02T03:04:05+00:00", turns)


class Harness:
    """The window, its controller, and the fake worker behind it."""

    def __init__(self, qtbot: QtBot, folder: Path, settings: Settings | None = None) -> None:
        # The windows of earlier tests go now; a theme would paint them all again.
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
        self.qtbot = qtbot
        self.state = WindowState(folder / "window.ini")
        self.worker = FakeWorkerClient()
        self.controller = build_window(
            QApplication.instance(), self.worker, settings or Settings(theme="light"), self.state
        )  # type: ignore[arg-type]
        self.window = self.controller.window
        self.chat = self.window.chat
        self.model = self.controller.model
        qtbot.addWidget(self.window)

    # the worker's side

    def show(self, *documents: Document, conversations: tuple[ConversationEntry, ...] = ()) -> None:
        """Shows the window over a library with these documents."""
        self.worker.answer_with(
            records.ListDocuments, lambda r: [records.DocumentList(r.job, documents)]
        )
        self.worker.answer_with(
            records.ListConversations, lambda r: [records.ConversationList(r.job, conversations)]
        )
        self.worker.answer_with(
            records.NewConversation,
            lambda r: [records.ConversationOpened(r.job, entry(title=r.title))],
        )
        self.window.show()
        self.controller.start()
        self.settle()

    def open(self, *messages: Message, number: int = 1) -> None:
        """Opens a conversation with these messages."""
        self.worker.answer_with(
            records.OpenConversation,
            lambda r: [records.ConversationOpened(r.job, entry(number), messages)],
        )
        self.controller.session.open(f"c{number}")
        self.settle()

    def reply(self, *replies: records.Reply) -> None:
        """Delivers replies, and lets the window take them."""
        for one in replies:
            self.worker.reply(one)
        self.settle()

    def requests(self, kind: type) -> list[records.Request]:
        """Every request of a kind so far."""
        return [request for request in self.worker.sent if isinstance(request, kind)]

    # the user's side

    def ask(self, question: str = "How is liability determined?") -> int:
        """Types a question and sends it; the job of what was asked."""
        self.type(question)
        QTest.keyClick(self.chat.composer.edit, Qt.Key.Key_Return)
        self.settle()
        asked = (records.Ask, records.Edit, records.Regenerate)
        return next(r.job for r in reversed(self.worker.sent) if isinstance(r, asked))

    def type(self, text: str) -> None:
        """Puts text into the question field."""
        self.chat.composer.edit.setPlainText(text)

    def finish(self, job: int, result: Answer | None = None, turn: int = 0) -> None:
        """The answer of a job arrives."""
        done = records.Answered(job, "c1", turn, result or answer())
        self.reply(done, records.Finished(job))

    def settle(self, seconds: float = 0.0) -> None:
        """Lets queued replies and timers happen."""
        end = time.monotonic() + seconds
        for _ in range(4):
            QApplication.processEvents()
        while time.monotonic() < end:
            QTest.qWait(10)

    def press(self, text: str, within: QWidget | None = None) -> None:
        """Presses the visible button with this text."""
        place = within or self.window
        buttons = [b for b in place.findChildren(QPushButton) if b.isVisible() and b.text() == text]
        assert buttons, f"no button {text!r} is visible"
        QTest.mouseClick(buttons[0], Qt.MouseButton.LeftButton)
        self.settle()


def last(harness: Harness) -> AnswerView:
    """How the newest turn is answered."""
    return harness.chat.turns[-1].answer


def chips(view: AnswerView) -> list[str]:
    """The pages offered beside an answer."""
    buttons = view.evidence.findChildren(QToolButton)
    return [b.text() for b in buttons if b.isVisibleTo(view)]
