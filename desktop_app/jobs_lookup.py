"""The worker's jobs that are done at once, and those that look something up more slowly."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from functools import singledispatchmethod
from typing import Any

from desktop_app import codec, deletions, models, paths, records, settings
from desktop_app.asking import new_conversation_id
from desktop_app.composition import Composition
from desktop_app.errors import AppError
from engine.errors import UnknownConversation
from rag import highlight
from rag.history import Conversation, History
from rag.parser import Parser
from rag.rectangles import Rectangle
from rag.store import Store

Replies = Iterator[records.Reply]
Later = Callable[[Callable[[], object]], None]


def opened(job: int, history: History, conversation: str) -> records.ConversationOpened:
    """A conversation with its messages. Raises AppError if there is none of that id."""
    found = history.find(conversation)
    if found is None:
        raise AppError("This conversation isn't there any more.", "Open another one.")
    messages = tuple(
        records.Message(m.turn, m.question, m.answer) for m in history.messages(conversation)
    )
    return records.ConversationOpened(job, _entry(found), messages)


def cache_figures(job: int, composition: Composition) -> records.CacheFigures:
    """What the engine keeps where."""
    return records.CacheFigures(job, codec.plain(composition.engine.cache_report()))


class LookupJobs:
    """Lists, conversations, settings, cache figures.

    It opens the database without the index, so that lists are there before any model is loaded.
    What concerns the engine's conversations is done later, on the thread that answers.

    Args:
        composition: see there.
        later: does something after what that thread does now.
    """

    def __init__(self, composition: Composition, later: Later) -> None:
        self._composition = composition
        self._later = later
        self._store: Store | None = None

    @singledispatchmethod
    def handle(self, request: Any) -> Replies:
        """The replies to a request, the last one excepted."""
        raise AppError(f"The worker doesn't know the request {type(request).__name__}.")

    def close(self) -> None:
        """Closes the database."""
        if self._store is not None:
            self._store.close()

    @handle.register
    def _(self, request: records.ListDocuments) -> Replies:
        yield records.DocumentList(request.job, tuple(self._open().documents()))

    @handle.register
    def _(self, request: records.ListPages) -> Replies:
        pages = self._open().pages(request.document)
        entries = tuple(records.PageEntry(p.number, p.printed, p.status) for p in pages)
        yield records.PageList(request.job, request.document, entries)

    @handle.register
    def _(self, request: records.ListConversations) -> Replies:
        yield self._conversations(request.job)

    @handle.register
    def _(self, request: records.NewConversation) -> Replies:
        entry = self._history.begin(new_conversation_id(), request.title)
        yield opened(request.job, self._history, entry.id)

    @handle.register
    def _(self, request: records.OpenConversation) -> Replies:
        yield opened(request.job, self._history, request.conversation)
        self._later(lambda: self._prefetch(request.conversation))

    @handle.register
    def _(self, request: records.RenameConversation) -> Replies:
        self._history.rename(request.conversation, request.title)
        yield self._conversations(request.job)

    @handle.register
    def _(self, request: records.DeleteConversation) -> Replies:
        deletions.note(self._open(), request.conversation)
        self._history.delete(request.conversation)
        self._later(lambda: deletions.finish(self._composition))
        yield self._conversations(request.job)

    @handle.register
    def _(self, request: records.ChangeSettings) -> Replies:
        try:
            changed = settings.change(self._composition.settings, request.values)
        except (ValueError, TypeError) as error:
            raise AppError(f"The settings were not changed: {error}.") from error
        settings.save(changed, paths.settings_file())
        self._later(lambda: self._composition.change(changed))
        yield records.SettingsChanged(request.job, settings.to_values(changed))

    @handle.register
    def _(self, request: records.GetCacheReport) -> Replies:
        yield cache_figures(request.job, self._composition)

    @property
    def _history(self) -> History:
        return History(self._open().connection)

    def _open(self) -> Store:
        if self._store is None:
            self._store = Store(self._composition.library_folder)
        return self._store

    def _conversations(self, job: int) -> records.ConversationList:
        entries = tuple(_entry(c) for c in self._history.conversations())
        return records.ConversationList(job, entries)

    def _prefetch(self, conversation: str) -> None:
        with contextlib.suppress(UnknownConversation):
            self._composition.engine.open(conversation)


class SlowLookupJobs:
    """Rectangles on a page, the doctor, the models.

    Args:
        composition: see there.
        passwords: of documents, by name.
    """

    def __init__(self, composition: Composition, passwords: Mapping[str, str]) -> None:
        self._composition = composition
        self._passwords = passwords
        self._parser = Parser()

    @singledispatchmethod
    def handle(self, request: Any) -> Replies:
        """The replies to a request, the last one excepted."""
        raise AppError(f"The worker doesn't know the request {type(request).__name__}.")

    @handle.register
    def _(self, request: records.FindRectangles) -> Replies:
        found = self._rectangles(request)
        yield records.Rectangles(
            request.job, request.document, request.page, request.quote, tuple(found)
        )

    @handle.register
    def _(self, request: records.Doctor) -> Replies:
        from desktop_app import doctor

        findings = doctor.plain(doctor.examine(self._composition))
        yield records.DoctorFindings(request.job, findings)

    @handle.register
    def _(self, request: records.ListModels) -> Replies:
        entries = tuple(codec.plain(entry) for entry in models.list_models())
        yield records.ModelList(request.job, entries)

    def _rectangles(self, request: records.FindRectangles) -> list[Rectangle]:
        password = self._passwords.get(request.document, "")
        store = Store(self._composition.library_folder)
        try:
            return highlight.rectangles(
                store, self._parser, request.document, request.page, request.quote, password
            )
        finally:
            store.close()


def _entry(conversation: Conversation) -> records.ConversationEntry:
    return records.ConversationEntry(
        conversation.id, conversation.title, conversation.used, conversation.turns
    )
