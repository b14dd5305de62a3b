"""One question from start to end: asked, perhaps stopped, and kept in the history.

The command line and the worker ask through this. It knows nothing of how answers are made or
shown.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from desktop_app.composition import Composition
from rag.types import Answer, AnswerDelta, AnswerEvent

if TYPE_CHECKING:
    from desktop_app.generator import EngineGenerator
    from rag.library import Library


class Asker:
    """Asks questions of a library on the thread that made it; `stop` may come from any thread."""

    def __init__(self, composition: Composition, library: Library) -> None:
        self._composition = composition
        self._library = library
        self._lock = threading.Lock()
        self._running: tuple[EngineGenerator, str] | None = None

    def new_conversation(self) -> str:
        """An id that no conversation has."""
        return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"

    def ask(
        self,
        question: str,
        *,
        conversation: str = "",
        documents: Sequence[str] = (),
        use_cache: bool = True,
    ) -> Iterator[AnswerEvent]:
        """Yields the events of `rag.answer.Answerer.ask`, the `Answer` last.

        If it fails when some of the answer was written, that part is kept as a stopped answer
        before the error goes on its way.
        """
        from rag.answer import Answerer

        generator = self._composition.generator(use_cache=use_cache)
        answerer = Answerer(self._library, generator)
        with self._lock:
            self._running = generator, conversation
        try:
            yield from answerer.ask(question, conversation=conversation, documents=documents)
        finally:
            with self._lock:
                self._running = None

    def stop(self) -> None:
        """Ends the running question within one batch; what was written stays."""
        with self._lock:
            running = self._running
        if running is not None:
            generator, conversation = running
            generator.stop(conversation)


__all__ = ["Answer", "AnswerDelta", "Asker"]
