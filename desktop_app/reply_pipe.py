"""The worker's way back to the window."""

from __future__ import annotations

import contextlib
import threading
from multiprocessing.connection import Connection

from desktop_app import records


class Replies:
    """The way back; several threads send. A window that is gone doesn't matter any more."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._lock = threading.Lock()

    def send(self, reply: records.Reply) -> None:
        """Sends a reply."""
        data = records.encode(reply)
        with self._lock, contextlib.suppress(OSError):
            self._connection.send_bytes(data)
