"""A turn of the conversation: the question, and the answer as it arrives.

Text is painted on a timer, not for each token. The views know records, not who sends them.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from desktop_app.window.citation_card import CitationCard
from desktop_app.window.controls import IconButton, IconLabel, button, frame, label
from desktop_app.window.evidence_strip import EvidenceStrip
from desktop_app.window.markdown_view import MarkdownView
from desktop_app.window.theme import Theme, scaled, suited
from rag.types import Answer, Citation

REPAINT_MS = 50
MOST_CARDS = 3


class QuestionView(QWidget):
    """What the user asked, at the right."""

    edit_requested = Signal()

    def __init__(self, theme: Theme, text: str) -> None:
        super().__init__()
        self.text = text
        bubble = frame("question")
        inner = QVBoxLayout(bubble)
        inner.setContentsMargins(16, 10, 16, 11)
        words = label(text, scale=1.06, wrap=True)
        words.setFont(suited(words.font(), text))
        words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        words.setAccessibleName(f"Question: {text}")
        longest = max(words.fontMetrics().horizontalAdvance(line) for line in text.split("\n"))
        words.setMinimumWidth(min(longest + 4, 460))
        inner.addWidget(words)
        self.edit = IconButton(
            theme, "edit", "Edit this question", self.edit_requested.emit, size=16, color="faint"
        )
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        row.addStretch(1)
        row.addWidget(self.edit, 0, Qt.AlignmentFlag.AlignBottom)
        row.addWidget(bubble)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)


class AnswerView(QWidget):
    """The passages, the text and the citations of one answer."""

    cited = Signal(object)  # a Citation
    passage_opened = Signal(object)  # a Hit
    again_requested = Signal()
    fork_requested = Signal()
    grew = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._streamed, self._draft = "", ""
        self._citations: tuple[Citation, ...] = ()
        self.answer: Answer | None = None
        self.evidence = EvidenceStrip()
        self.evidence.opened.connect(self.passage_opened)
        self.evidence.hide()
        self.body = MarkdownView(theme)
        self.body.cited.connect(self._open_number)
        self.body.hide()
        self.draft = label("", role="faint", scale=1.06, wrap=True)
        self.draft.setAccessibleName("What the model is writing, not yet checked")
        self.draft.hide()
        self._notes = QVBoxLayout()
        self._notes.setSpacing(4)
        self._cards = QVBoxLayout()
        self._cards.setSpacing(8)
        self._foot = QHBoxLayout()
        self._foot.setSpacing(2)
        self._cards_shown: list[CitationCard] = []
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        column.addWidget(self.evidence)
        column.addWidget(self.body)
        column.addWidget(self.draft)
        column.addLayout(self._notes)
        column.addLayout(self._cards)
        column.addLayout(self._foot)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(REPAINT_MS)
        self._timer.timeout.connect(self._repaint)

    # while it runs

    @property
    def streamed(self) -> str:
        """The text that has arrived so far, painted or not."""
        return self._streamed

    def wait(self, text: str) -> None:
        """Says what is done before anything was found."""
        self.evidence.show()
        self.evidence.wait(text)

    def show_text(self, text: str, citations: tuple[Citation, ...], draft: str = "") -> None:
        """All that was written so far, and what isn't checked yet; painted at the next tick."""
        self._streamed, self._citations, self._draft = text, citations, draft
        if not self._timer.isActive():
            self._timer.start()

    def add_notice(self, text: str, icon: str = "info", color: str = "soft") -> None:
        """One line that isn't part of the answer."""
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(IconLabel(self._theme, icon, color, 16), 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(label(text, role="bad" if color == "bad" else "soft", wrap=True), 1)
        self._notes.addLayout(row)
        self.grew.emit()

    def finish(self, answer: Answer, *, last: bool = True) -> None:
        """Shows the whole answer with its citations and what can be done with it."""
        self._timer.stop()
        self.draft.hide()
        self.answer, self._citations = answer, answer.citations
        self.evidence.writing()
        self.evidence.setVisible(bool(self.evidence.hits))
        self.body.show_markdown(answer.text, len(answer.citations))
        self.body.setVisible(bool(answer.text.strip()))
        if answer.stopped:
            self.add_notice("Stopped. What was written stays, and you can go on asking.")
        elif not answer.found:
            self.add_notice(
                "No passage answers this, so nothing is cited. Try naming the clause or the term."
            )
        self._show_cards(answer)
        self._show_foot(last)
        self.grew.emit()

    def fail(self, message: str, hint: str) -> None:
        """Says what went wrong and what to do; what was written stays."""
        self._timer.stop()
        self._draft = ""
        self._repaint()
        self.evidence.writing()
        self.evidence.setVisible(bool(self.evidence.hits))
        self.add_notice(f"{message} {hint}".strip(), "warning", "bad")
        self._foot.addWidget(button("Try again", self.again_requested.emit))
        self._foot.addStretch(1)

    # inner workings

    def _repaint(self) -> None:
        self.draft.setText(self._draft.strip())
        self.draft.setVisible(bool(self._draft.strip()))
        if self._draft:
            self.evidence.writing()
        if self._streamed:
            self.body.show()
            self.body.show_markdown(self._streamed, len(self._citations))
        if self._streamed or self._draft:
            self.grew.emit()

    def _show_cards(self, answer: Answer) -> None:
        citations, text = answer.citations, _letters(answer.text)
        for number, citation in enumerate(citations, 1):
            words = _letters(citation.quote)
            quoted = bool(words) and words in text
            card = CitationCard(self._theme, number, citation, quoted=quoted)
            card.opened.connect(self._open_number)
            card.setVisible(number <= MOST_CARDS)
            self._cards_shown.append(card)
            self._cards.addWidget(card)
        hidden = len(citations) - MOST_CARDS
        if hidden > 0:
            more = button(f"Show {hidden} more", role="ghost")
            more.clicked.connect(lambda: self._show_all(more))
            self._cards.addWidget(more, 0, Qt.AlignmentFlag.AlignLeft)

    def _show_all(self, more: QWidget) -> None:
        for card in self._cards_shown:
            card.show()
        more.hide()
        self.grew.emit()

    def _show_foot(self, last: bool) -> None:
        theme = self._theme
        self._foot.addWidget(
            IconButton(theme, "copy", "Copy with citations", self.copy, size=16, color="faint")
        )
        self.again = IconButton(
            theme, "again", "Answer again", self.again_requested.emit, size=16, color="faint"
        )
        self.again.setVisible(last)
        self._foot.addWidget(self.again)
        self._foot.addWidget(
            IconButton(
                theme, "fork", "Go on from here in a new conversation", self.fork_requested.emit,
                size=16, color="faint",
            )
        )  # fmt: skip
        self._copied = QLabel("")
        self._copied.setProperty("role", "faint")
        self._copied.setFont(scaled(self._copied.font(), 0.92))
        self._foot.addWidget(self._copied)
        self._foot.addStretch(1)

    def set_last(self, last: bool) -> None:
        """Only the last answer can be written again."""
        if self.answer is not None:
            self.again.setVisible(last)

    def set_current(self, citation: Citation | None) -> None:
        """Frames the card of the citation whose passage is shown."""
        for card in self._cards_shown:
            card.set_current(card.citation == citation)

    def copy(self) -> None:
        """Copies the answer's Markdown, followed by its citations."""
        if self.answer is not None:
            QGuiApplication.clipboard().setText(with_citations(self.answer))
            self._copied.setText("Copied")
            QTimer.singleShot(1600, self._copied, self._copied.clear)

    def _open_number(self, number: int) -> None:
        if 1 <= number <= len(self._citations):
            if number > MOST_CARDS:
                for card in self._cards_shown:
                    card.show()
            self.cited.emit(self._citations[number - 1])


def _letters(text: str) -> str:
    """A text's letters and digits alone, so that Markdown and line breaks don't count."""
    return "".join(c for c in text if c.isalnum())


def with_citations(answer: Answer) -> str:
    """An answer as text that can stand alone: its Markdown and a numbered list of citations."""
    lines = [answer.text.strip()]
    if answer.citations:
        lines.append("")
    for number, citation in enumerate(answer.citations, 1):
        quote = f" “{' '.join(citation.quote.split())}”" if citation.quote else ""
        lines.append(f"[{number}] {citation.document}, {citation.place}:{quote}".rstrip(":"))
    return "\n".join(lines)
