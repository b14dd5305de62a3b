"""The parser's side of the pipe: reads one file, sends records, and ends.

Started by `parser` with the spawn method, so that a file which crashes, hangs or eats memory
takes this process and nothing else. It limits its own memory and processor time, so that it ends
even if its parent is gone. Records are JSON objects: {"kind": "opened" | "picture" | "page" |
"rectangles" | "error" | "end", …}.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from rag.errors import NotReadable, PasswordNeeded

Record = dict[str, Any]


def serve(pipe: Connection[bytes, bytes], task: Record) -> None:
    """Does one task: {"do": "pages" | "rectangles", "path", "password", "memory", "seconds", …}."""
    limit(int(task["memory"]), int(task["seconds"]))

    def send(record: Record) -> None:
        pipe.send_bytes(json.dumps(record).encode())

    try:
        _do(task, send)
    except (BrokenPipeError, ConnectionResetError, MemoryError):
        return  # nobody is listening, or the limit is met: the parent sees the pipe closed
    except (PasswordNeeded, NotReadable) as error:
        send({"kind": "error", "error": type(error).__name__, "message": str(error)})
    finally:
        pipe.close()


def _do(task: Record, send: Callable[[Record], None]) -> None:
    from rag.pdf import Pdf

    def on_picture(number: int) -> None:
        """Recognition takes longer than reading: the parent and this process allow for it."""
        allow(int(task["picture_seconds"]))
        send({"kind": "picture", "number": number})

    pdf = Pdf(Path(task["path"]), task["password"])
    if task["do"] == "rectangles":
        found = pdf.rectangles(int(task["page"]), task["quote"])
        send({"kind": "rectangles", "rectangles": found})
        return
    send({"kind": "opened", "pages": pdf.pages})
    for page in pdf.read(int(task["start"]), on_picture, frozenset(task["known"])):
        send({"kind": "page", **asdict(page)})
    send({"kind": "end"})


def limit(memory: int, seconds: int) -> None:
    """Limits this process's address space (bytes) and processor time (seconds); 0: no limit."""
    if sys.platform == "win32":
        return
    import resource

    for what, most in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CPU, seconds)):
        hard = resource.getrlimit(what)[1]
        if most and (hard == resource.RLIM_INFINITY or most < hard):
            try:
                resource.setrlimit(what, (most, hard))
            except (ValueError, OSError):
                continue  # macOS refuses some limits; the parent's clock still holds
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def allow(seconds: int) -> None:
    """Gives this process so many seconds of processor time more, where it is limited."""
    if sys.platform == "win32":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_CPU)
    if soft != resource.RLIM_INFINITY:
        most = soft + seconds
        resource.setrlimit(
            resource.RLIMIT_CPU, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard)
        )
