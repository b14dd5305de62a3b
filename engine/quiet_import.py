"""Imports modules behind whatever else starts at the same time, a window above all.

A program of several processes has fewer cores than that at its start. What nobody waits for yet is
imported on a thread of low priority; only the import is: threads that a library starts later, when
it computes, have the usual one. Linux alone gives a thread a priority of its own; elsewhere this
is a plain import.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import threading

# On two cores a window is drawn 0.1 s sooner than at 0; on a busy machine these still get on.
NICENESS = 8


def import_quietly(*names: str) -> None:
    """Imports modules, and returns when they are there.

    What goes wrong is left to the import statement that comes after.
    """
    thread = threading.Thread(target=_import, args=names, name="imports")
    thread.start()
    thread.join()


def _import(*names: str) -> None:
    with contextlib.suppress(Exception):
        if sys.platform == "linux":
            thread = threading.get_native_id()
            niceness = max(NICENESS, os.getpriority(os.PRIO_PROCESS, thread))
            os.setpriority(os.PRIO_PROCESS, thread, niceness)
        for name in names:
            importlib.import_module(name)
