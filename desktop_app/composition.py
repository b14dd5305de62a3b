"""Builds the library, the answerer and the engine from the settings.

The worker and the command line use the same objects. Everything heavy is imported and started when
it is first asked for. This decides who gets what; it answers no question itself.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from desktop_app import models, paths
from desktop_app.generator import EngineGenerator
from desktop_app.settings import Settings
from engine.types import EngineOptions

if TYPE_CHECKING:
    from rag.answer import Answerer
    from rag.library import Library
    from rag.protocols import Embedder, Generator

FAKE = "fake"  # a backend and an embedder without a model, for tests and demonstrations


def engine_options(
    settings: Settings, library: Path | None, *, backend: str = "", model: str = ""
) -> EngineOptions:
    """What the engine is started with.

    Raises:
        ModelMissing: the model isn't there, or is cut short.
    """
    chosen: Any = backend or settings.backend
    path = Path(FAKE) if chosen == FAKE else models.find_language_model(model or settings.model)
    return EngineOptions(
        model=path,
        backend=chosen,
        window=settings.window,
        kv_type=settings.kv_type,
        threads=settings.threads,
        cache_dir=paths.conversations_folder(library) if library else None,
        memory_budget=settings.memory_mb << 20,
        disk_budget=settings.disk_mb << 20,
        idle_seconds=settings.idle_minutes * 60,
        idle_work=settings.idle_work,
        idle_on_battery=settings.idle_on_battery,
    )


def load_embedder(name: str = "") -> Embedder:
    """The embedder of that name. Raises ModelMissing or EmbedderError."""
    if name == FAKE:
        from rag.fake_embedder import FakeEmbedder

        return FakeEmbedder()
    from rag.embedding import load_embedder as load

    return load(models.find_embedder(name))


def start_engine(options: EngineOptions, on_notice: Callable[[str], None]) -> Any:
    """The engine in a process of its own, which starts with the first call."""
    from engine.client import EngineClient

    folder = paths.log_folder()
    log = folder / "engine.log" if os.access(folder, os.W_OK) else None  # it runs without, too
    return EngineClient(options, on_notice, log=log)


def make_answerer(library: Library, generator: Generator) -> Answerer:
    """Answers from `library`, on the calling thread."""
    from rag.answer import Answerer

    return Answerer(library, generator)


@dataclass(frozen=True, slots=True)
class Makers:
    """How the parts are made; tests give their own."""

    engine: Callable[[EngineOptions, Callable[[str], None]], Any] = start_engine
    embedder: Callable[[str], Embedder] = load_embedder
    answerer: Callable[[Library, Generator], Answerer] = make_answerer


class LibraryReader:
    """A thread's library, opened at the first use and again when others changed its documents.

    An open library has its index in memory and doesn't see what another thread or program adds.
    """

    def __init__(self, opener: Callable[[], Library]) -> None:
        self._open = opener
        self._library: Library | None = None
        self._state: object = None

    @property
    def library(self) -> Library:
        """The library with its present documents. Raises StoreError."""
        if self._library is not None and _state(self._library) != self._state:
            self.close()
        if self._library is None:
            self._library = self._open()
            self._state = _state(self._library)
        return self._library

    def close(self) -> None:
        """Closes the library; a later use opens it again."""
        library, self._library = self._library, None
        if library is not None:
            library.close()


def _state(library: Library) -> object:
    """Changes with every document added, replaced or removed: ids are never used twice."""
    rows = library.connection.execute("SELECT count(*), max(id) FROM documents")
    return rows.fetchone()


class Composition:
    """One library with its settings, and what is built from them.

    The embedder and the engine are shared between threads; a `Library` belongs to the thread that
    opened it.

    Args:
        library: the library's folder.
        settings: the user's settings.
        backend, model: override the settings if not empty.
        on_notice: gets the engine's lines for the user that belong to no question.
        makers: how the parts are made.
    """

    def __init__(
        self,
        library: Path,
        settings: Settings,
        *,
        backend: str = "",
        model: str = "",
        on_notice: Callable[[str], None] = lambda text: None,
        makers: Makers | None = None,
    ) -> None:
        self.library_folder = library
        self.settings = settings
        self._backend = backend
        self._model = model
        self._on_notice = on_notice
        self._makers = makers or Makers()
        self._lock = threading.RLock()
        self._loading = threading.Lock()  # its own: who wants the engine doesn't wait for this
        self._engine: Any = None
        self._embedder: Embedder | None = None

    @property
    def embedder(self) -> Embedder:
        """The embedder; loaded at the first use."""
        with self._loading:
            if self._embedder is None:
                self._embedder = self._makers.embedder(self.settings.embedder)
            return self._embedder

    @property
    def engine(self) -> Any:
        """The engine; started at the first use."""
        with self._lock:
            if self._engine is None:
                options = engine_options(
                    self.settings, self.library_folder, backend=self._backend, model=self._model
                )
                self._engine = self._makers.engine(options, self._on_notice)
            return self._engine

    def begin_engine(self) -> None:
        """Starts the engine's process and returns at once.

        What is wrong with the model is told where the engine is first waited for.
        """
        with contextlib.suppress(Exception):
            engine = self.engine

            def start() -> None:
                with contextlib.suppress(Exception):
                    engine.start()

            threading.Thread(target=start, name="begin-engine", daemon=True).start()

    @property
    def engine_started(self) -> bool:
        """Whether the engine was needed so far."""
        return self._engine is not None

    @property
    def backend(self) -> str:
        """The backend that was asked for."""
        return self._backend or self.settings.backend

    @property
    def model(self) -> str:
        """Name or path of the model that was asked for; empty is the default one."""
        return self._model or self.settings.model

    def check_model(self) -> None:
        """Raises ModelMissing if the language model isn't there or is cut short."""
        engine_options(self.settings, None, backend=self._backend, model=self._model)

    def open_library(self) -> Library:
        """The library, for the calling thread. Raises StoreError."""
        from rag.library import Library

        with contextlib.suppress(OSError):  # what is wrong with the folder, the library says
            self.library_folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return Library(self.library_folder, self.embedder)

    def generator(self, *, use_cache: bool = True) -> EngineGenerator:
        """The engine as `rag` sees it."""
        return EngineGenerator(
            lambda: self.engine,
            started=lambda: self.engine_started,
            window=self.settings.window,
            max_tokens=self.settings.max_tokens,
            use_cache=use_cache,
        )

    def reader(self) -> LibraryReader:
        """The library for the calling thread, kept up to date."""
        return LibraryReader(self.open_library)

    def answerer(self, library: Library, generator: Generator) -> Answerer:
        """Answers from `library`, on the calling thread."""
        return self._makers.answerer(library, generator)

    def change(self, settings: Settings) -> None:
        """Uses other settings from now on; the engine is started anew if it has to be."""
        with self._lock:
            stale = self._engine is not None and _engine_part(settings) != _engine_part(
                self.settings
            )
            with self._loading:
                if settings.embedder != self.settings.embedder:
                    self._embedder = None
                self.settings = settings
            if stale:
                self.close()

    def close(self) -> None:
        """Ends the engine; a later use starts it again."""
        with self._lock:
            engine, self._engine = self._engine, None
        if engine is not None:
            engine.close()


def _engine_part(settings: Settings) -> tuple[object, ...]:
    return (
        settings.model,
        settings.backend,
        settings.window,
        settings.kv_type,
        settings.threads,
        settings.memory_mb,
        settings.disk_mb,
        settings.idle_minutes,
        settings.idle_work,
        settings.idle_on_battery,
    )
