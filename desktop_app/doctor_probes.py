"""Small trials of native libraries, each in a process of its own that may crash or hang.

They answer with plain values. What the answers mean is the doctor's business.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import multiprocessing
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

_SECONDS = 60.0
WORKS = "works"


def gpu() -> Any:
    """The GPUs that torch can use, or a text that says why there are none."""
    if importlib.util.find_spec("torch") is None:
        return "torch isn't installed, so none is used"
    if not importlib.import_module("engine.load").has_gpu():
        return "none that torch can use"
    torch = importlib.import_module("torch")
    found = []
    for index in range(torch.cuda.device_count()):
        free, total = torch.cuda.mem_get_info(index)
        name = torch.cuda.get_device_name(index)
        found.append({"name": name, "free": int(free), "total": int(total)})
    return found


def llama() -> str:
    """Loads llama.cpp."""
    importlib.import_module("llama_cpp").llama_print_system_info()
    return WORKS


def faiss() -> str:
    """Searches two vectors."""
    library = importlib.import_module("faiss")
    numpy = importlib.import_module("numpy")
    index = library.IndexFlatIP(2)
    index.add(numpy.eye(2, dtype=numpy.float32))
    return WORKS if index.ntotal == 2 else "answers wrongly"


def onnxruntime() -> str:
    """Asks for the CPU."""
    providers = importlib.import_module("onnxruntime").get_available_providers()
    return WORKS if "CPUExecutionProvider" in providers else "finds no processor"


def pdfium() -> str:
    """Makes a PDF in memory."""
    library = importlib.import_module("pypdfium2")
    document = library.PdfDocument.new()
    document.new_page(100, 100)
    return WORKS if len(document) == 1 else "answers wrongly"


NATIVE: dict[str, Callable[[], Any]] = {
    "llama.cpp": llama,
    "FAISS": faiss,
    "onnxruntime": onnxruntime,
    "PDFium": pdfium,
}


def run(probe: Callable[[], Any], seconds: float = _SECONDS) -> Any:
    """What `probe` answers, or a text that says how it failed."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_serve, args=(theirs, probe), daemon=True)
    process.start()
    theirs.close()
    try:
        if not ours.poll(seconds):
            return f"no answer within {seconds:.0f} s"
        return json.loads(ours.recv_bytes())
    except EOFError:
        process.join(5)
        return f"crashes (exit code {process.exitcode})"
    finally:
        process.kill()
        process.join()
        ours.close()


def _serve(connection: Connection, probe: Callable[[], Any]) -> None:
    try:
        answer = probe()
    except Exception as error:  # noqa: BLE001  whatever it is, it is the answer
        answer = f"{type(error).__name__}: {error}"
    connection.send_bytes(json.dumps(answer).encode())
    connection.close()
