"""The one entry point: the window without a command, with files or not; else the command line.

`freeze_support` comes first: a worker of the packaged program starts here too.
"""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import sys
from collections.abc import Iterator, Sequence

COMMAND_FAILED, INTERRUPTED = 1, 130


def main() -> None:
    """Runs the program and exits with its code."""
    # Without this onnxruntime reports its use and keeps an id of the machine in the user's home.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    # 16 turns of a loop: else numpy's idle threads take a core from each process as it starts.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")
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
    from desktop_app.worker_client import WorkerClient, WorkerOptions

    logs.set_up(paths.log_folder(), "window", debug=arguments.debug)
    library = str(arguments.library) if arguments.library else ""
    with without_collector():
        client = WorkerClient(WorkerOptions(library, arguments.backend, arguments.model))
        client.launch()  # it loads the embedder while Qt is loaded here
        from desktop_app.window.app import open_window

        run_window = open_window(client, arguments.files)
    return run_window()


@contextlib.contextmanager
def without_collector() -> Iterator[None]:
    """Nothing of what a start makes is garbage: it isn't searched, neither then nor later."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def has_display() -> bool:
    """Whether Qt can show a window; without one it would end the process."""
    if sys.platform in ("win32", "darwin") or os.environ.get("QT_QPA_PLATFORM"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


if __name__ == "__main__":
    main()
