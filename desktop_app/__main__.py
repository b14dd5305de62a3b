"""The one entry point: the window without arguments or with files, else the command line.

`freeze_support` comes first: a worker of the packaged program starts here too.
"""

from __future__ import annotations

import multiprocessing
import sys
from pathlib import Path


def main() -> None:
    """Runs the program and exits with its code."""
    multiprocessing.freeze_support()
    sys.exit(run(sys.argv[1:]))


def run(argv: list[str]) -> int:
    """Runs the program with these arguments and returns the exit code."""
    from desktop_app.cli.parser import COMMANDS

    words = [a for a in argv if not a.startswith("-")]
    if not argv or (words == argv and argv[0] not in COMMANDS and _names_a_file(argv[0])):
        from desktop_app.window.app import run_window

        return run_window([Path(a).absolute() for a in argv])
    from desktop_app.cli.main import main as run_command

    return run_command(argv)


def _names_a_file(word: str) -> bool:
    return Path(word).exists() or Path(word).suffix.lower() in (".pdf", ".txt", ".md", ".docx")


if __name__ == "__main__":
    main()
