"""Where things are: the user's folders, the library, the models, the log. It creates nothing.

$CLAUSEBOOK_HOME puts everything under one folder, which tests and portable installations use;
$CLAUSEBOOK_MODELS names a folder of models that is looked into first.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import platformdirs

_NAME = "clausebook"


def _home() -> Path | None:
    home = os.environ.get("CLAUSEBOOK_HOME", "")
    return Path(home).expanduser().absolute() if home else None


def data_folder() -> Path:
    """The user's data: libraries and models."""
    return _home() or Path(platformdirs.user_data_dir(_NAME, appauthor=False))


def settings_file() -> Path:
    """The settings, as JSON."""
    home = _home()
    folder = home or Path(platformdirs.user_config_dir(_NAME, appauthor=False))
    return folder / "settings.json"


def log_folder() -> Path:
    """Log files, one for each kind of process."""
    home = _home()
    return home / "logs" if home else Path(platformdirs.user_log_dir(_NAME, appauthor=False))


def default_library() -> Path:
    """The library that is used when none is named."""
    return data_folder() / "library"


def conversations_folder(library: Path) -> Path:
    """Transcripts and caches of a library's conversations."""
    return library / "conversations"


def user_models() -> Path:
    """The only models folder the program writes to."""
    return data_folder() / "models"


def bundle() -> Path | None:
    """The folder of a packaged program, or None when run from source."""
    folder = getattr(sys, "_MEIPASS", None)
    return Path(folder) if folder and getattr(sys, "frozen", False) else None


def checkout() -> Path | None:
    """The source checkout this file belongs to, or None when installed or packaged."""
    root = Path(__file__).resolve().parent.parent
    return root if bundle() is None and (root / "pyproject.toml").is_file() else None


def model_folders() -> list[Path]:
    """Folders that are searched for models, in order."""
    folders = []
    if named := os.environ.get("CLAUSEBOOK_MODELS"):
        folders.append(Path(named).expanduser().absolute())
    if (packaged := bundle()) is not None:
        folders.append(packaged / "models")
    elif (root := checkout()) is not None:
        folders.append(root / "build" / "models")
    return [*folders, user_models()]


def samples_folder() -> Path | None:
    """The sample documents that come with the program, if they are there."""
    for root in (bundle(), checkout()):
        if root is not None and (root / "assets" / "samples").is_dir():
            return root / "assets" / "samples"
    return None
