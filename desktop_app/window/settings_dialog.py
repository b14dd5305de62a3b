"""The settings: model, window, budgets, idle time, appearance. It shows values, hands them back.

Nothing is changed before "Save"; the worker checks and writes what it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QWidget,
)

from desktop_app.settings import Settings, to_values
from desktop_app.window.controls import button, label
from desktop_app.window.dialogs import Dialog
from desktop_app.window.wording import number, plural, size

WINDOWS = (1024, 2048, 4096, 8192, 16384, 32768)
MEMORY = (0, 256, 512, 1024, 2048, 4096, 8192)  # MB
DISK = (0, 1024, 2048, 4096, 8192, 16384, 32768, 65536)  # MB
IDLE = (5.0, 15.0, 30.0, 60.0, 120.0, 480.0)  # minutes
BACKENDS = (("auto", "Choose by itself"), ("llama.cpp", "llama.cpp"), ("torch", "torch"))
THEMES = (("system", "Like the system"), ("light", "Light"), ("dark", "Dark"))


class SettingsDialog(Dialog):
    """Editors for the values of Settings; `save` is called with those that were changed."""

    def __init__(
        self,
        parent: QWidget,
        settings: Settings,
        save: Callable[[dict[str, Any]], object],
    ) -> None:
        super().__init__(parent, "Settings", width=560)
        self._save = save
        self._before = to_values(settings)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(18)
        self._grid.setVerticalSpacing(9)
        self._grid.setColumnStretch(1, 1)
        self.content.addLayout(self._grid)
        self._build_model(settings)
        self._build_memory(settings)
        self._build_look(settings)
        self.problem = label(role="bad", wrap=True)
        self.problem.hide()
        self.content.addWidget(self.problem)
        self.add_button("Cancel", self.reject)
        self.add_button("Save", self._accepted, "primary")

    def set_models(self, models: Sequence[Mapping[str, Any]]) -> None:
        """Offers the language models that are there."""
        chosen = self.model.currentData()
        self.model.clear()
        self.model.addItem("The one that came with the program", "")
        for model in models:
            if model.get("kind") == "language" and model.get("path") and not model.get("problem"):
                name = str(model.get("name", ""))
                self.model.addItem(f"{name}   ({size(float(model.get('size', 0)))})", name)
        self._choose(self.model, chosen)

    def fail(self, message: str) -> None:
        """Says what is wrong with the values; the dialog stays open."""
        self.problem.setText(message)
        self.problem.show()

    def values(self) -> dict[str, Any]:
        """Every value as it stands in the dialog."""
        return {
            "model": self.model.currentData() or "",
            "backend": self.backend.currentData(),
            "window": self.window_size.currentData(),
            "memory_mb": self.memory.currentData(),
            "disk_mb": self.disk.currentData(),
            "idle_minutes": self.idle.currentData(),
            "idle_work": self.idle_work.isChecked(),
            "idle_on_battery": self.on_battery.isChecked(),
            "theme": self.theme_choice.currentData(),
        }

    def changed_values(self) -> dict[str, Any]:
        """The values that differ from those the dialog was opened with."""
        return {k: v for k, v in self.values().items() if self._before.get(k) != v}

    # the parts

    def _build_model(self, settings: Settings) -> None:
        self._section("Model")
        self.model = QComboBox()
        self.model.addItem(settings.model or "The one that came with the program", settings.model)
        row = QHBoxLayout()
        row.addWidget(self.model, 1)
        row.addWidget(button("Choose a file…", self._choose_file))
        holder = QWidget()
        row.setContentsMargins(0, 0, 0, 0)
        holder.setLayout(row)
        self._row("Language model", holder, self.model)
        self.backend = _combo(BACKENDS, settings.backend)
        self._row("Runs on", self.backend)
        self.window_size = _choices(WINDOWS, settings.window, lambda n: f"{number(n)} tokens")
        self._row(
            "Window", self.window_size,
            hint="How much of a conversation the model can see at a time. More needs more memory.",
        )  # fmt: skip

    def _build_memory(self, settings: Settings) -> None:
        self._section("Conversation cache")
        self.memory = _choices(MEMORY, settings.memory_mb, lambda mb: size(mb << 20))
        self._row("In memory, at most", self.memory)
        self.disk = _choices(DISK, settings.disk_mb, lambda mb: size(mb << 20))
        self._row("On disk, at most", self.disk)
        self.idle = _choices(IDLE, settings.idle_minutes, minutes)
        self._row(
            "Leaves memory after",
            self.idle,
            hint="A conversation that isn't used stays on disk and is back within a moment.",
        )
        self.idle_work = QCheckBox("Bring caches up to date while the machine is idle")
        self.idle_work.setChecked(settings.idle_work)
        self.on_battery = QCheckBox("Also on battery")
        self.on_battery.setChecked(settings.idle_on_battery)
        self.on_battery.setEnabled(settings.idle_work)
        self.idle_work.toggled.connect(self.on_battery.setEnabled)
        self._row("Idle work", self.idle_work)
        self._row("", self.on_battery)

    def _build_look(self, settings: Settings) -> None:
        self._section("Appearance")
        self.theme_choice = _combo(THEMES, settings.theme)
        self._row("Colours", self.theme_choice)

    def _section(self, title: str) -> None:
        row = self._grid.rowCount()
        if row > 1:
            self._grid.setRowMinimumHeight(row, 8)
            row += 1
        self._grid.addWidget(label(title, weight=QFont.Weight.DemiBold), row, 0, 1, 2)

    def _row(
        self, name: str, widget: QWidget, buddy: QWidget | None = None, hint: str = ""
    ) -> None:
        row = self._grid.rowCount()
        words = label(name, role="soft")
        words.setBuddy(buddy or widget)
        if name:
            (buddy or widget).setAccessibleName(name)
        self._grid.addWidget(words, row, 0)
        self._grid.addWidget(widget, row, 1)
        if hint:
            self._grid.addWidget(label(hint, role="faint", scale=0.9, wrap=True), row + 1, 1)

    def _choose_file(self) -> None:
        dialog = QFileDialog(self, "Choose a model", "", "GGUF models (*.gguf)")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.use_model_file)
        dialog.open()

    def use_model_file(self, path: str) -> None:
        """Selects a model by its file."""
        if self.model.findData(path) < 0:
            self.model.addItem(path.replace("\\", "/").rsplit("/", 1)[-1], path)
        self._choose(self.model, path)

    def _choose(self, combo: QComboBox, value: object) -> None:
        found = combo.findData(value)
        if found < 0 and value:
            combo.addItem(str(value), value)
            found = combo.count() - 1
        combo.setCurrentIndex(max(found, 0))

    def _accepted(self) -> None:
        self.problem.hide()
        changed = self.changed_values()
        if changed:
            self._save(changed)
        else:
            self.accept()


def _combo(choices: Sequence[tuple[Any, str]], chosen: Any) -> QComboBox:
    combo = QComboBox()
    for value, text in choices:
        combo.addItem(text, value)
    combo.setCurrentIndex(max(combo.findData(chosen), 0))
    return combo


def _choices(usual: Sequence[Any], chosen: Any, text: Callable[[Any], str]) -> QComboBox:
    """A choice among usual numbers, and the one that is set now if it is another."""
    return _combo([(value, text(value)) for value in sorted({*usual, chosen})], chosen)


def minutes(value: float) -> str:
    """Minutes as people say them: "30 minutes", "2 hours"."""
    if value >= 60 and value % 60 == 0:
        return plural(int(value / 60), "hour")
    return f"{value:g} minute" + ("" if value == 1 else "s")
