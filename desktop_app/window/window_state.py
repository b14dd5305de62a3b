"""What the window remembers of itself: size, panels, and what was open. An INI file of its own."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QByteArray, QSettings


class WindowState:
    """Typed access to the file; nothing in it is needed, and a damaged file is empty."""

    def __init__(self, path: Path) -> None:
        self._settings = QSettings(str(path), QSettings.Format.IniFormat)

    def geometry(self, name: str) -> QByteArray | None:
        """A saved geometry or splitter state."""
        value = self._settings.value(f"layout/{name}")
        return value if isinstance(value, QByteArray) and not value.isEmpty() else None

    def set_geometry(self, name: str, value: QByteArray) -> None:
        self._settings.setValue(f"layout/{name}", value)

    def text(self, name: str) -> str:
        """A remembered text; empty if there is none."""
        value = self._settings.value(f"open/{name}", "")
        return value if isinstance(value, str) else ""

    def set_text(self, name: str, value: str) -> None:
        self._settings.setValue(f"open/{name}", value)

    def flag(self, name: str, default: bool) -> bool:
        """A remembered yes or no."""
        return self.text(name) == "yes" if self.text(name) else default

    def set_flag(self, name: str, value: bool) -> None:
        self.set_text(name, "yes" if value else "no")

    def save(self) -> None:
        """Writes the file; a failure costs only the memory of the window."""
        self._settings.sync()
