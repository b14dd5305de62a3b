"""The parser's side of the pipe: reads one file, sends records, and ends.

Started by `parser` with the spawn method, so that a file which crashes, hangs or eats memory
takes this process and nothing else. It limits its own memory and processor time, so that it ends
even if its parent is gone. Records are JSON objects: {"kind": "opened" | "page" | "rectangles" |
"error" | "end", …}.
"""

from __future__ import annotations

import json
import sys
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from rag.errors import NotReadable, PasswordNeeded


def serve(pipe: Connection[bytes, bytes], task: dict[str, Any]) -> None:
    """Does one task: {"do": "pages" | "rectangles", "path", "password", "memory", "seconds", …}."""
    limit(int(task["memory"]), int(task["seconds"]))
    try:
        for record in _records(task):
            pipe.send_bytes(json.dumps(record).encode())
    except (BrokenPipeError, ConnectionResetError, MemoryError):
        return  # nobody is listening, or the limit is met: the parent sees the pipe closed
    except (PasswordNeeded, NotReadable) as error:
        record = {"kind": "error", "error": type(error).__name__, "message": str(error)}
        pipe.send_bytes(json.dumps(record).encode())
    finally:
        pipe.close()


def _records(task: dict[str, Any]) -> Any:
    from rag.pdf import Pdf

    pdf = Pdf(Path(task["path"]), task["password"])
    if task["do"] == "rectangles":
        found = pdf.rectangles(int(task["page"]), task["quote"])
        yield {"kind": "rectangles", "rectangles": found}
        return
    yield {"kind": "opened", "pages": pdf.pages}
    for page in pdf.read(int(task["start"])):
        yield {"kind": "page", "number": page.number, "text": page.text, "label": page.label}
    yield {"kind": "end"}


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
