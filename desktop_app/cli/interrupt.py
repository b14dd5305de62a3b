"""Ctrl-C stops the answer, not the program; a second one stops the program.

A signal handler may not wait for locks, so it only sets an event; a thread of its own does the
stopping. Outside the main thread nothing is changed.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def stop_on_interrupt(stop: Callable[[], None]) -> Iterator[threading.Event]:
    """While inside, the first Ctrl-C calls `stop` and sets the event; the second one interrupts."""
    pressed = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield pressed
        return
    done = threading.Event()

    def on_interrupt(number: int, frame: Any) -> None:
        if pressed.is_set():
            raise KeyboardInterrupt
        pressed.set()

    def wait() -> None:
        while not done.is_set():
            if pressed.wait(0.1):
                stop()
                return

    before = signal.signal(signal.SIGINT, on_interrupt)
    waiter = threading.Thread(target=wait, name="stop-on-interrupt", daemon=True)
    waiter.start()
    try:
        yield pressed
    finally:
        done.set()
        signal.signal(signal.SIGINT, before)
        waiter.join()
