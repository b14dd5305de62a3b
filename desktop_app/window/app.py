"""Building the window, apart from running it: tests build one with a fake worker.

Nothing heavy is imported here or below: models and indexes live in the worker's process.
"""

from __future__ import annotations

import functools
import logging
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtWidgets import QApplication

from desktop_app import __version__, paths
from desktop_app import settings as settings_module
from desktop_app.settings import Settings
from desktop_app.window.controller import Controller
from desktop_app.window.document_model import DocumentModel
from desktop_app.window.interrupt import close_on_interrupt
from desktop_app.window.jobs import Client, Jobs
from desktop_app.window.main_window import MainWindow
from desktop_app.window.menus import add_menus
from desktop_app.window.theme import Theme
from desktop_app.window.window_state import WindowState

logger = logging.getLogger(__name__)


def build_window(
    application: QApplication,
    client: Client,
    settings: Settings,
    state: WindowState,
) -> Controller:
    """A window that isn't shown and doesn't listen to the worker yet.

    Args:
        application: Qt's, which gets the theme.
        client: the handle to the worker.
        settings: as they are now.
        state: what the window remembers of itself.
    """
    theme = Theme(application, settings.theme)  # type: ignore[arg-type]
    jobs = Jobs(client)
    model = DocumentModel()
    window = MainWindow(theme, model, state)
    controller = Controller(window, jobs, model, settings)
    add_menus(controller)
    return controller


def open_window(client: Client, files: Sequence[Path] = ()) -> Callable[[], int]:
    """Shows the window and adds `files`.

    Returns:
        What runs the window until it is closed, and returns the exit code.
    """
    application = make_application(sys.argv[:1])
    settings, notices = settings_module.load(paths.settings_file())
    state = WindowState(paths.settings_file().with_name("window.ini"))
    controller = build_window(application, client, settings, state)
    controller.window.show()
    controller.start(files)
    close_on_interrupt(controller.window)
    for notice in notices:
        controller.window.chat.banners.info(notice)
    return functools.partial(_run, application, controller)


def _run(application: QApplication, _held: Controller) -> int:
    """Runs Qt's loop; the controller, and with it the window, is held until that ends."""
    return application.exec()


def make_application(arguments: list[str]) -> QApplication:
    """Qt's application object with the program's names."""
    application = QApplication(arguments)
    application.setApplicationName("clausebook")
    application.setApplicationDisplayName("Clausebook")
    application.setApplicationVersion(__version__)
    application.setDesktopFileName("clausebook")
    return application
