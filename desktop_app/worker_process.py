"""The start of the library worker's process: first the engine's, then everything else.

The two start together and after the window, which is built at the same time: what they import,
they import at a lower priority. It knows the order, and not what a request asks for.
"""

from __future__ import annotations

import os
import signal
from multiprocessing.connection import Connection
from pathlib import Path

from desktop_app import __version__, logs, paths, records, settings
from desktop_app.composition import Composition, Makers
from desktop_app.reply_pipe import Replies
from desktop_app.worker_client import WorkerOptions
from engine.quiet_import import import_quietly


def serve(connection: Connection, options: WorkerOptions, makers: Makers | None = None) -> None:
    """Entry point of the process. Returns when the pipe ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the window's; the pipe tells us
    logs.set_up(paths.log_folder(), "worker")
    chosen, notices = settings.load(paths.settings_file())
    folder = Path(options.library or chosen.library or paths.default_library())
    replies = Replies(connection)
    composition = Composition(
        folder,
        chosen,
        backend=options.backend,
        model=options.model,
        on_notice=lambda text: replies.send(records.Notice(0, text)),
        makers=makers,
    )
    replies.send(records.Started(0, os.getpid(), __version__))
    composition.begin_engine()
    for notice in notices:
        replies.send(records.Notice(0, notice))
    import_quietly("desktop_app.worker")
    from desktop_app.worker import Worker

    Worker(composition, replies).run(connection)
