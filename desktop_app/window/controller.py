"""What the user's wishes lead to: from the panels to jobs, and from replies to the panels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject

from desktop_app import records
from desktop_app.settings import Settings
from desktop_app.window.cache_panel import find_conversation, tier_text
from desktop_app.window.dialogs import confirm
from desktop_app.window.document_model import DocumentModel
from desktop_app.window.jobs import Jobs
from desktop_app.window.library_control import LibraryControl
from desktop_app.window.main_window import MainWindow
from desktop_app.window.passages import Passages
from desktop_app.window.preferences import Preferences
from desktop_app.window.session import Run, Session
from desktop_app.worker_client import GAVE_UP, RESTARTED


class Controller(QObject):
    """Joins a window to its jobs. It lives as long as the window."""

    def __init__(
        self, window: MainWindow, jobs: Jobs, model: DocumentModel, settings: Settings
    ) -> None:
        super().__init__(window)
        self.window = window
        self.jobs = jobs
        self.model = model
        self.session = Session(jobs)
        self.passages = Passages(jobs, model, window.pdf)
        self.documents = LibraryControl(window, jobs, model, self.passages)
        self.preferences = Preferences(window, jobs, settings)
        self._connect_session()
        self._connect_panels()

    def start(self, paths: Sequence[Path] = ()) -> None:
        """Starts the worker and asks for what is shown first; adds `paths`."""
        self.window.status.say("Starting …")
        self.jobs.start()
        self.documents.refresh()
        self.jobs.submit(records.ListConversations)
        last = self.window.state.text("conversation")
        if last and not paths:
            self.session.open(last, quietly=True)
        self.documents.add([str(path) for path in paths])
        if not paths:
            self.documents.reopen(
                self.window.state.text("document"), self.window.state.text("page")
            )
        self.window.chat.composer.edit.setFocus()

    # connections

    def _connect_session(self) -> None:
        session, chat, status = self.session, self.window.chat, self.window.status
        self.jobs.news.connect(self._news)
        self.jobs.failed.connect(self._trouble)
        self.jobs.conversations.connect(self._list_conversations)
        session.opened.connect(self._opened)
        session.entered.connect(self._entered)
        session.started.connect(self._started)
        session.evidence.connect(self._evidence)
        session.reading.connect(chat.reading)
        session.text.connect(self._text)
        session.cited.connect(self._cited)
        session.evidence.connect(lambda run: status.say("Reading the passages …"))
        session.noticed.connect(chat.notice)
        session.answered.connect(self._answered)
        session.failed.connect(self._run_failed)
        session.trouble.connect(self._trouble)
        session.running_changed.connect(self._running)

    def _connect_panels(self) -> None:
        window, chat = self.window, self.window.chat
        chat.composer.asked.connect(self.ask)
        chat.composer.stop_requested.connect(self.session.stop)
        chat.welcome.suggested.connect(self.ask)
        chat.cited.connect(self.passages.show_citation)
        chat.passage_opened.connect(self.passages.show_hit)
        chat.again_requested.connect(self._again)
        chat.fork_requested.connect(self._fork_here)
        conversations = window.conversations
        conversations.open_requested.connect(self._open_conversation)
        conversations.new_requested.connect(self.new_conversation)
        conversations.rename_requested.connect(self.session.rename)
        conversations.fork_requested.connect(self.session.fork)
        conversations.delete_requested.connect(self._delete_conversation)
        window.status.details_requested.connect(lambda: window.cache.pop_up(window.status.details))
        window.cache.opened.connect(self.refresh_cache)
        window.cache.clear_requested.connect(self._clear_cache)
        window.closing.connect(self._closing)
        window.pdf.close_requested.connect(window.pdf.hide)
        self.passages.shown.connect(chat.set_current_citation)
        self.documents.trouble.connect(self._trouble)

    # conversations

    def ask(self, question: str) -> None:
        """Asks a question, or replaces the one that is being edited."""
        if self.session.run is not None:
            return
        scope, names = self.model.scope(), self.model.document_names()
        banners = self.window.chat.banners
        if not names:
            banners.error("There is no document to ask about yet.", "Add one first.",
                          "Add documents…", self.documents.choose_files)  # fmt: skip
        elif not scope:
            banners.error("No document is ticked at the left.", "Tick one, or ask all of them.",
                          "Ask all", lambda: self.model.tick_only(names))  # fmt: skip
        else:
            turn = self.window.chat.composer.take()
            self._send(question, turn)

    def _send(self, question: str, turn: int | None, *, again: bool = False) -> None:
        scope, names = self.model.scope(), self.model.document_names()
        documents = () if len(scope) == len(names) else tuple(scope)
        self.window.chat.set_several_documents(len(scope) > 1)
        if turn is None:
            self.session.ask(question, documents)
        elif again:
            self.session.regenerate(turn, question, documents)
        else:
            self.session.edit(turn, question, documents)

    def new_conversation(self) -> None:
        """Shows an empty conversation."""
        self.session.new()
        self.window.chat.composer.cancel_edit()
        self.window.chat.composer.edit.setFocus()

    def rename_conversation(self) -> None:
        """Lets the user rename the open conversation in the list."""
        if self.session.current is not None:
            self.window.conversations.rename(self.session.current.id)

    def fork_conversation(self) -> None:
        """Opens a copy of the open conversation."""
        if self.session.current is not None:
            self.session.fork(self.session.current.id)

    def delete_conversation(self) -> None:
        """Deletes the open conversation, once the user confirmed."""
        if self.session.current is not None:
            self._delete_conversation(self.session.current.id, self.session.current.title)

    def escape(self) -> None:
        """Stops the answer; else leaves an edit; else closes the search."""
        if self.session.run is not None:
            self.session.stop()
        elif self.window.chat.composer.editing is not None:
            self.window.chat.composer.cancel_edit()
        else:
            self.window.pdf.close_search()

    def copy_answer(self) -> None:
        """Copies the last answer with its citations."""
        if self.window.chat.turns:
            self.window.chat.turns[-1].answer.copy()

    def _open_conversation(self, conversation: str) -> None:
        if self.session.current is None or self.session.current.id != conversation:
            self.session.open(conversation)

    def _opened(self, entry: records.ConversationEntry | None, messages: object) -> None:
        window = self.window
        window.chat.composer.cancel_edit()
        window.chat.show_conversation(messages)  # type: ignore[arg-type]
        window.conversations.set_current(entry.id if entry else "")
        window.cache.conversation = entry.id if entry else ""
        self._name_window(entry.title if entry else "")
        run = self.session.run
        if entry is not None and run is not None and run.conversation == entry.id:
            window.chat.show_run(run)
        last = messages[-1].answer.stats if messages else {}  # type: ignore[index]
        self._show_stats(last)
        self.refresh_cache()

    def _entered(self, entry: records.ConversationEntry) -> None:
        self.window.cache.conversation = entry.id
        self._name_window(entry.title)

    def _started(self, run: Run) -> None:
        self.window.chat.show_run(run)
        self.window.chat.composer.set_running(True)
        self.window.status.say("Looking through the documents …")

    def _evidence(self, run: Run) -> None:
        """Shows the passages; the best of them is there to read while the model reads it too."""
        self.window.chat.evidence(run)
        if run.hits and self._free_to_show(run):
            self.passages.show_hit(run.hits[0])

    def _text(self, run: Run) -> None:
        self.window.chat.show_text(run)
        if run.draft:
            self.window.status.say("Writing the answer …")

    def _cited(self, run: Run) -> None:
        """Shows the quotation on its page as soon as there is one."""
        if self._free_to_show(run):
            self.passages.show_citation(run.citations[0])

    def _answered(self, run: Run, answered: records.Answered) -> None:
        self.window.chat.finish(run, answered)
        answer = answered.answer
        self._show_stats(answer.stats)
        if run.citations and answer.citations:
            self.window.chat.set_current_citation(answer.citations[0])
        elif answer.citations and self._free_to_show(run):
            self.passages.show_citation(answer.citations[0])
        self.refresh_cache()

    def _run_failed(self, run: Run, failed: records.Failed) -> None:
        self.window.status.say("")
        if self.window.chat.shows(run):
            self.window.chat.fail(run, failed)
        else:
            self._trouble(failed)

    def _running(self, conversation: str) -> None:
        self.window.conversations.set_running(conversation)
        self.window.chat.composer.set_running(self.session.run is not None)

    def _again(self, turn_and_question: tuple[int | None, str]) -> None:
        turn, question = turn_and_question
        if self.session.run is None:
            if turn is None:
                self.window.chat.drop_last()
            self._send(question, turn, again=True)

    def _fork_here(self, turns: int) -> None:
        if self.session.current is not None:
            self.session.fork(self.session.current.id, turns)

    def _delete_conversation(self, conversation: str, title: str) -> None:
        confirm(
            self.window, f"Delete '{title}'?",
            "Its questions, answers and cache are deleted. The documents stay.",
            "Delete", lambda: self.session.delete(conversation),
        )  # fmt: skip

    def _list_conversations(self, reply: records.ConversationList) -> None:
        current = self.session.current
        self.window.conversations.set_entries(reply.conversations, current.id if current else "")
        for entry in reply.conversations:
            if current is not None and entry.id == current.id:
                self._name_window(entry.title)

    def _name_window(self, title: str) -> None:
        self.window.setWindowTitle(f"{title} — Clausebook" if title else "Clausebook")

    # figures and news

    def refresh_cache(self) -> None:
        """Asks what the conversations keep; not while the engine is busy with an answer."""
        if self.session.run is not None:
            return
        self.jobs.submit(records.GetCacheReport, self._cache_report)

    def _cache_report(self, reply: records.Reply) -> None:
        if isinstance(reply, records.CacheFigures):
            self.window.cache.show_report(reply.values)
            own = find_conversation(reply.values, self.window.cache.conversation)
            self.window.status.set_cache(f"Cache {tier_text(own)}" if own else "")

    def _clear_cache(self, conversation: str) -> None:
        self.jobs.submit(records.ClearCache, self._cache_report, conversation=conversation)

    def _show_stats(self, stats: dict[str, object]) -> None:
        self.window.status.show_stats(stats)
        self.window.cache.show_stats(stats)

    def _news(self, reply: records.Reply) -> None:
        if isinstance(reply, records.Started):
            self.window.status.say("")
            if self.model.loaded:  # a fresh worker after a crash
                self.documents.refresh()
        elif isinstance(reply, records.Notice):
            if reply.text == GAVE_UP:
                self.window.chat.banners.error(reply.text)
            else:
                self.window.chat.banners.info(reply.text, stays=reply.text != RESTARTED)
        elif isinstance(reply, records.Failed):
            self._trouble(reply)

    def _trouble(self, failed: records.Failed) -> None:
        self.window.chat.banners.error(failed.message, failed.hint)

    def _closing(self) -> None:
        current = self.session.current
        self.window.state.set_text("conversation", current.id if current else "")
        self.window.state.set_text("document", self.passages.document)
        self.window.state.set_text("page", str(self.window.pdf.page))
        self.window.state.save()
        self.jobs.close()

    def _free_to_show(self, run: Run) -> bool:
        """Whether a page of this answer may be shown: it is open, and the user isn't reading."""
        current = self.session.current
        if current is None or current.id != run.conversation or self.window.pdf.isHidden():
            return False
        focus = self.window.focusWidget()
        return focus is None or not self.window.pdf.isAncestorOf(focus)
