"""Building the window, apart from running it: tests build one with a fake worker.

Nothing heavy is imported here or below: models and indexes live in the worker's process.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtWidgets import QApplication

from desktop_app import __version__, paths, records
from desktop_app import settings as settings_module
from desktop_app.settings import Settings
from desktop_app.window.controller import Controller
from desktop_app.window.document_model import DocumentModel
from desktop_app.window.jobs import Client, Jobs, MakeClient
from desktop_app.window.main_window import MainWindow
from desktop_app.window.menus import add_menus
from desktop_app.window.theme import Theme
from desktop_app.window.window_state import WindowState
from desktop_app.worker_client import WorkerClient, WorkerOptions

logger = logging.getLogger(__name__)


def build_window(
    application: QApplication,
    make_client: MakeClient,
    settings: Settings,
    state: WindowState,
) -> Controller:
    """A window that isn't shown and a worker that isn't started.

    Args:
        application: Qt's, which gets the theme.
        make_client: called with what takes the replies; gives the handle to the worker.
        settings: as they are now.
        state: what the window remembers of itself.
    """
    theme = Theme(application, settings.theme)  # type: ignore[arg-type]
    jobs = Jobs(make_client)
    model = DocumentModel()
    window = MainWindow(theme, model, state)
    controller = Controller(window, jobs, model, settings)
    add_menus(controller)
    return controller


def run_window(files: Sequence[Path] = (), options: WorkerOptions | None = None) -> int:
    """Shows the window, adds `files`, and returns the exit code when it is closed."""
    application = make_application(sys.argv[:1])
    settings, notices = settings_module.load(paths.settings_file())
    state = WindowState(paths.settings_file().with_name("window.ini"))

    def make_client(on_reply: Callable[[records.Reply], None]) -> Client:
        return WorkerClient(options or WorkerOptions(), on_reply)

    controller = build_window(application, make_client, settings, state)
    controller.window.show()
    controller.start(files)
    for notice in notices:
        controller.window.chat.banners.info(notice)
    return application.exec()


def make_application(arguments: list[str]) -> QApplication:
    """Qt's application object with the program's names."""
    application = QApplication(arguments)
    application.setApplicationName("clausebook")
    application.setApplicationDisplayName("Clausebook")
    application.setApplicationVersion(__version__)
    application.setDesktopFileName("clausebook")
    return application
