"""The settings dialog and the help: opened, filled by the worker, and their outcome applied."""

from __future__ import annotations

import json
from typing import Any

from PySide6.QtCore import QObject

from desktop_app import __version__, records
from desktop_app.settings import Settings, from_values
from desktop_app.window.dialogs import Dialog, show_text
from desktop_app.window.jobs import Jobs
from desktop_app.window.main_window import MainWindow
from desktop_app.window.settings_dialog import SettingsDialog
from desktop_app.window.shortcuts import shortcuts_text


class Preferences(QObject):
    """Shows dialogs over a window, and keeps the settings as they are now."""

    def __init__(self, window: MainWindow, jobs: Jobs, settings: Settings) -> None:
        super().__init__(window)
        self.settings = settings
        self.dialog: SettingsDialog | None = None
        self.help: Dialog | None = None
        self._window = window
        self._jobs = jobs
        window.settings_requested.connect(self.open)

    def open(self) -> None:
        """Opens the settings; models are listed as the worker finds them."""
        if self.dialog is not None:
            self.dialog.raise_()
            return
        dialog = SettingsDialog(self._window, self.settings, self._save)
        self.dialog = dialog
        dialog.finished.connect(self._closed)
        self._jobs.submit(records.ListModels, self._on_models)
        dialog.open()

    def show_shortcuts(self) -> None:
        self.help = show_text(self._window, "Keyboard shortcuts", "", shortcuts_text(), fixed=True)

    def show_about(self) -> None:
        text = (
            f"Version {__version__}. Ask questions of contracts and other long documents on your "
            "own machine; every answer shows its clause. Nothing leaves this machine."
        )
        dialog = Dialog(self._window, "Clausebook", text)
        dialog.add_button("Close", dialog.accept, "primary")
        dialog.open()
        self.help = dialog

    def show_diagnostics(self) -> None:
        """Asks the worker what it finds, and shows it."""
        self._jobs.submit(records.Doctor, self._on_findings)

    def _save(self, values: dict[str, Any]) -> None:
        self._jobs.submit(records.ChangeSettings, self._on_saved, values=values)

    def _closed(self) -> None:
        self.dialog = None

    def _on_models(self, reply: records.Reply) -> None:
        if isinstance(reply, records.ModelList) and self.dialog is not None:
            self.dialog.set_models(reply.models)

    def _on_saved(self, reply: records.Reply) -> None:
        if isinstance(reply, records.SettingsChanged):
            self.settings = from_values(reply.values)[0]
            self._window.theme.set_appearance(self.settings.theme)  # type: ignore[arg-type]
            if self.dialog is not None:
                self.dialog.accept()
        elif isinstance(reply, records.Failed):
            text = f"{reply.message} {reply.hint}".strip()
            if self.dialog is not None:
                self.dialog.fail(text)
            else:
                self._window.chat.banners.error(text)

    def _on_findings(self, reply: records.Reply) -> None:
        if isinstance(reply, records.DoctorFindings):
            body = json.dumps(reply.values, indent=2, ensure_ascii=False)
            text = "What was found on this machine. Copy it when you report a problem."
            self.help = show_text(self._window, "Diagnostics", text, body, fixed=True)
        elif isinstance(reply, records.Failed):
            self._window.chat.banners.error(reply.message, reply.hint)
