"""Where the packaged program begins: the window, the command line and every worker process.

Add-on packages (torch for a GPU) lie in the folder `addons` beside the program; what they bring is
found after everything that the program ships itself.
"""

import multiprocessing
import os
import sys
from pathlib import Path


def use_addons() -> None:
    """Appends each add-on's packages to the module path."""
    folder = Path(sys.executable).resolve().parent / "addons"
    if folder.is_dir():
        sys.path.extend(str(path) for path in sorted(folder.iterdir()) if path.is_dir())


def name_qt_plugins() -> None:
    """Tells Qt where its plugins lie, should a window be opened."""
    below = Path("PySide6") if sys.platform == "win32" else Path("PySide6", "Qt")
    os.environ["QT_PLUGIN_PATH"] = str(Path(sys._MEIPASS) / below / "plugins")  # type: ignore[attr-defined]


if __name__ == "__main__":
    use_addons()
    name_qt_plugins()
    multiprocessing.freeze_support()
    from desktop_app.__main__ import main

    main()
