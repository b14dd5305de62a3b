"""The conversation in the middle: its turns, what is being answered, and the field to ask in.

It shows what a Session reports and tells the window what the user wants.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPoint, Qt, QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QScrollArea, QStackedWidget, QVBoxLayout, QWidget

from desktop_app.records import Answered, Failed, Message
from desktop_app.window.banner import Banners
from desktop_app.window.composer import Composer
from desktop_app.window.controls import button, clear
from desktop_app.window.message_view import AnswerView, QuestionView
from desktop_app.window.session import Run
from desktop_app.window.theme import Theme
from desktop_app.window.welcome import Welcome
from rag.types import Citation

COLUMN = 800
SIDE = 28
SCROLL_BAR = 12
MOST_TURNS = 30
LOOKING = "Looking through the documents …"


@dataclass(slots=True, eq=False)
class TurnViews:
    """A question and its answer on the screen. `turn` is None until the worker numbered it."""

    question: QuestionView
    answer: AnswerView
    turn: int | None


class ChatPanel(QWidget):
    """Turns, banners and the composer."""

    cited = Signal(object)  # Citation
    passage_opened = Signal(object)  # Hit
    again_requested = Signal(object)  # turn or None, and the question
    fork_requested = Signal(int)  # how many turns to keep

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.turns: list[TurnViews] = []
        self._earlier: list[Message] = []
        self._run: Run | None = None
        self._following = True
        self._several = False
        self.banners = Banners(theme)
        self.welcome = Welcome(theme)
        self.composer = Composer(theme)
        self._column = QVBoxLayout()
        self._column.setSpacing(26)
        self._column.setContentsMargins(0, 26, 0, 26)
        self._more = button("Show earlier questions", self._show_earlier, role="ghost")
        self._more.hide()
        self.area = QScrollArea()
        self.area.setWidgetResizable(True)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setWidget(self._turns_area())
        self.area.setAccessibleName("Conversation")
        self._stack = QStackedWidget()
        self._stack.addWidget(self.welcome)
        self._stack.addWidget(self.area)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 14)
        column.setSpacing(0)
        column.addWidget(Centred(self.banners, top=12))
        column.addWidget(self._stack, 1)
        column.addWidget(Centred(self.composer, top=4))
        bar = self.area.verticalScrollBar()
        bar.rangeChanged.connect(self._range_changed)
        bar.actionTriggered.connect(lambda: QTimer.singleShot(0, self, self._scrolled))
        self.setMinimumWidth(320)

    def _turns_area(self) -> QWidget:
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._more, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addLayout(self._column)
        column.addStretch(1)
        self._holder = Centred(inside)
        return self._holder

    # what a conversation says

    def show_conversation(self, messages: Sequence[Message]) -> None:
        """Shows these turns and no others."""
        self._clear()
        self._following = True
        recent = list(messages)
        self._earlier, recent = recent[:-MOST_TURNS], recent[-MOST_TURNS:]
        self._more.setVisible(bool(self._earlier))
        for message in recent:
            self._add_message(message)
        self._mark_last()
        self._stack.setCurrentWidget(self.area if messages else self.welcome)
        self._follow()

    def show_run(self, run: Run) -> None:
        """Shows an answer on its way, with all that has come of it so far."""
        if run.turn is not None:
            self._truncate(run.turn)
        self._run = run
        self._following = True
        views = self._add(run.question, None)
        views.answer.wait(LOOKING)
        self._stack.setCurrentWidget(self.area)
        self._mark_last()
        if run.hits:
            self.evidence(run)
        if run.reading is not None:
            self.reading(run)
        for notice in run.notices:
            views.answer.add_notice(notice)
        if run.text or run.draft:
            self.show_text(run)
        self._follow()

    def set_several_documents(self, several: bool) -> None:
        """Whether a page needs its document's name beside it."""
        self._several = several

    def evidence(self, run: Run) -> None:
        if (answer := self._live(run)) is not None:
            answer.evidence.show_hits(run.hits, self._several)

    def reading(self, run: Run) -> None:
        if (answer := self._live(run)) is not None and run.reading is not None and not run.draft:
            answer.evidence.show_reading(run.reading.done, run.reading.total, run.reading.unit)

    def show_text(self, run: Run) -> None:
        if (answer := self._live(run)) is not None:
            answer.show_text(run.text, run.citations, run.draft)

    def notice(self, run: Run, text: str) -> None:
        if (answer := self._live(run)) is not None:
            answer.add_notice(text)

    def finish(self, run: Run, answered: Answered) -> None:
        if (answer := self._live(run)) is not None:
            self.turns[-1].turn = answered.turn if answered.turn >= 0 else None
            answer.finish(answered.answer)
            self._run = None

    def fail(self, run: Run, failed: Failed) -> None:
        if (answer := self._live(run)) is not None:
            self.turns[-1].turn = run.turn
            answer.fail(failed.message, failed.hint)
            self._run = None

    def shows(self, run: Run) -> bool:
        """Whether this answer is on the screen."""
        return self._run is run

    def drop_last(self) -> None:
        """Takes away a question that was not answered."""
        if self.turns:
            self._take_off(self.turns.pop())

    def set_current_citation(self, citation: Citation | None) -> None:
        """Frames the card of the citation that is shown at the right."""
        for views in self.turns:
            views.answer.set_current(citation)

    # inner workings

    def _live(self, run: Run) -> AnswerView | None:
        return self.turns[-1].answer if self._run is run and self.turns else None

    def _add_message(self, message: Message) -> None:
        views = self._add(message.question, message.turn)
        views.answer.finish(message.answer, last=False)

    def _add(self, question: str, turn: int | None, at: int | None = None) -> TurnViews:
        views = TurnViews(QuestionView(self._theme, question), AnswerView(self._theme), turn)
        views.question.edit_requested.connect(lambda: self._edit(views))
        views.answer.cited.connect(self.cited)
        views.answer.passage_opened.connect(self.passage_opened)
        views.answer.again_requested.connect(
            lambda: self.again_requested.emit((views.turn, views.question.text))
        )
        views.answer.fork_requested.connect(lambda: self._fork(views))
        views.answer.grew.connect(self._follow)
        if at is None:
            self._column.addWidget(views.question)
            self._column.addWidget(views.answer)
            self.turns.append(views)
        else:
            self._column.insertWidget(at * 2, views.question)
            self._column.insertWidget(at * 2 + 1, views.answer)
            self.turns.insert(at, views)
        return views

    def _show_earlier(self) -> None:
        self._following = False
        batch, self._earlier = self._earlier[-MOST_TURNS:], self._earlier[:-MOST_TURNS]
        self._more.setVisible(bool(self._earlier))
        for number, message in enumerate(batch):
            views = self._add(message.question, message.turn, at=number)
            views.answer.finish(message.answer, last=False)

    def _clear(self) -> None:
        self._run = None
        self.turns = []
        self._earlier = []
        clear(self._column)

    def _truncate(self, turn: int) -> None:
        """Takes away this turn and those after it."""
        while self.turns and (self.turns[-1].turn is None or self.turns[-1].turn >= turn):
            self._take_off(self.turns.pop())

    def _take_off(self, views: TurnViews) -> None:
        for widget in (views.question, views.answer):
            self._column.removeWidget(widget)
            widget.hide()
            widget.deleteLater()

    def _mark_last(self) -> None:
        for views in self.turns:
            views.answer.set_last(views is self.turns[-1])

    def _edit(self, views: TurnViews) -> None:
        if self.composer.running:
            return
        if views.turn is None:
            self.composer.edit.setPlainText(views.question.text)
            self.composer.edit.setFocus()
            return
        last = views is self.turns[-1]
        note = "Editing your last question" if last else "Editing a question; what follows it goes"
        self.composer.begin_edit(views.turn, views.question.text, note)

    def _fork(self, views: TurnViews) -> None:
        if views.turn is not None:
            self.fork_requested.emit(views.turn + 1)

    # following what is written

    def _follow(self) -> None:
        if self._following:
            QTimer.singleShot(0, self, self._to_end)

    def _to_end(self) -> None:
        """Scrolls to the end, but never the last question out of view."""
        if not self._following or not self.turns:
            return
        bar = self.area.verticalScrollBar()
        question = self.turns[-1].question
        top = question.mapTo(self._holder, QPoint(0, 0)).y() - 20
        bar.setValue(min(bar.maximum(), top))

    def _range_changed(self, _low: int, high: int) -> None:
        self._holder.make_room(SCROLL_BAR if high else 0)
        self._to_end()

    def _scrolled(self) -> None:
        """The user moved the view: what is written is followed again from the end on only."""
        bar = self.area.verticalScrollBar()
        self._following = bar.value() >= bar.maximum() - 40


class Centred(QWidget):
    """Holds a widget in the middle, no wider than a line of text should be."""

    def __init__(self, widget: QWidget, top: int = 0) -> None:
        super().__init__()
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(SIDE, top, SIDE, 0)
        self._row.setSpacing(0)
        widget.setMaximumWidth(COLUMN)
        self._row.addStretch(1)
        self._row.addWidget(widget, 1000)
        self._row.addStretch(1)

    def make_room(self, right: int) -> None:
        """Leaves `right` pixels of the right margin to a scroll bar."""
        self._row.setContentsMargins(SIDE, 0, SIDE - right, 0)
