"""The one entry point: the window without a command, with files or not; else the command line.

`freeze_support` comes first: a worker of the packaged program starts here too.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Sequence

COMMAND_FAILED, INTERRUPTED = 1, 130


def main() -> None:
    """Runs the program and exits with its code."""
    # Without this onnxruntime reports its use and keeps an id of the machine in the user's home.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    multiprocessing.freeze_support()
    try:
        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # before the command was under way
        code = INTERRUPTED
    sys.exit(code)


def run(argv: Sequence[str]) -> int:
    """Runs the program with these arguments and returns the exit code."""
    from desktop_app.cli.parser import window_arguments

    arguments = window_arguments(argv)
    if arguments is None:
        from desktop_app.cli.main import main as run_command

        return run_command(argv)
    if not has_display():
        print(
            "clausebook: There is no display for the window. "
            "Use `clausebook chat [FILE...]` for a conversation in the terminal.",
            file=sys.stderr,
        )
        return COMMAND_FAILED
    from desktop_app import logs, paths
    from desktop_app.window.app import run_window
    from desktop_app.worker_client import WorkerOptions

    logs.set_up(paths.log_folder(), "window", debug=arguments.debug)
    library = str(arguments.library) if arguments.library else ""
    options = WorkerOptions(library, arguments.backend, arguments.model)
    return run_window(arguments.files, options)


def has_display() -> bool:
    """Whether Qt can show a window; without one it would end the process."""
    if sys.platform in ("win32", "darwin") or os.environ.get("QT_QPA_PLATFORM"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


if __name__ == "__main__":
    main()
