"""Ctrl-C in the terminal, or a request to end, closes the window as its own button does.

Python runs a signal's handler between two of its instructions, and Qt's loop runs none while
nothing happens: so the signal is written to a socket that Qt watches. It knows no window but the
one it closes.
"""

from __future__ import annotations

import signal
import socket
from types import FrameType

from PySide6.QtCore import QSocketNotifier
from PySide6.QtWidgets import QWidget

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def close_on_interrupt(window: QWidget) -> None:
    """Closes `window` at the first signal; a second one ends the process at once."""
    reading, writing = socket.socketpair()
    reading.setblocking(False)
    writing.setblocking(False)  # as set_wakeup_fd wants it
    signal.set_wakeup_fd(writing.fileno())
    for number in _SIGNALS:
        signal.signal(number, _leave_the_next_to_the_system)

    def close() -> None:
        reading.recv(16)
        writing.fileno()  # kept open as long as it is written to
        window.close()

    notifier = QSocketNotifier(reading.fileno(), QSocketNotifier.Type.Read, window)
    notifier.activated.connect(close)


def _leave_the_next_to_the_system(number: int, frame: FrameType | None) -> None:
    for each in _SIGNALS:
        signal.signal(each, signal.SIG_DFL)
