"""Tries every part of the program once, in the program as it is installed.

Each native library loads, a document is read in its own process and so is a picture of a page, a
passage becomes a vector and is found, the model writes a token, a conversation is saved by one
engine process and restored by the next. A packaged build runs this and fails if a part does. It
works in a folder of its own and touches nothing of the user's.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from desktop_app import doctor_probes, paths
from desktop_app.composition import Composition
from desktop_app.errors import AppError, explain

Result = tuple[str, str, bool, str]  # name, what was seen, whether it is a problem, what to do

_AGAIN = "Install the program again; `clausebook doctor --self-test --debug` says more."
_TEXT = """SUPPLY AGREEMENT

1 Payment. The Customer shall pay each valid invoice within 37 days of receipt by bank transfer.

2 Warranty. The goods are warranted for 26 months from acceptance.
"""
_SCANNED = 1 / 3  # of the page's height
_SCAN_DPI = 150
_QUESTION = "Within how many days must an invoice be paid?"


def run(composition: Composition) -> Iterator[Result]:
    """Yields one result for each part, in the order in which they depend on each other."""
    with tempfile.TemporaryDirectory(prefix="clausebook-test-") as made:
        trial = Composition(
            Path(made) / "library",
            composition.settings,
            backend=composition.backend,
            model=composition.model,
        )
        try:
            for name, part in _parts(trial, Path(made)):
                yield _try(name, part)
        finally:
            trial.close()


def _parts(trial: Composition, folder: Path) -> list[tuple[str, Callable[[], str]]]:
    return [
        ("Worker process", _worker),
        ("Window and PDF view", lambda: _probe(qt)),
        ("PDF read", lambda: _pdf(trial)),
        ("Page recognised", lambda: _recognised(folder)),
        ("Vector", lambda: _vector(trial)),
        ("Document added, found", lambda: _search(trial, folder)),
        ("Token written", lambda: _token(trial)),
        ("Cache restored", lambda: _restore(trial)),
    ]


def _try(name: str, part: Callable[[], str]) -> Result:
    started = time.monotonic()
    try:
        seen = part()
    except Exception as error:  # noqa: BLE001  whatever it is, it is the finding
        message, todo = explain(error)
        return name, message, True, todo or _AGAIN
    return name, f"{seen} ({time.monotonic() - started:.1f} s)", False, ""


def _require(condition: bool, otherwise: str) -> None:
    if not condition:
        raise AppError(f"It doesn't work: {otherwise}.", _AGAIN)


def _probe(probe: Callable[[], Any]) -> str:
    answer = doctor_probes.run(probe)
    _require(answer == doctor_probes.WORKS, str(answer))
    return "works"


def _double(number: int) -> int:
    return 2 * number


def _worker() -> str:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        _require(pool.apply_async(_double, (21,)).get(60) == 42, "the worker answers wrongly")
    return "starts and answers"


def qt() -> str:
    """Draws a page of the sample contract without a screen; in a process of its own."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    widgets = importlib.import_module("PySide6.QtWidgets")
    pdf = importlib.import_module("PySide6.QtPdf")
    core = importlib.import_module("PySide6.QtCore")
    importlib.import_module("PySide6.QtPdfWidgets")
    application = widgets.QApplication([])
    document = pdf.QPdfDocument(application)
    document.load(str(_sample()))
    image = document.render(0, core.QSize(200, 280))
    inked = any(image.pixelColor(x, 60).value() < 200 for x in range(200))
    return doctor_probes.WORKS if inked or not image.isNull() else "draws an empty page"


def _sample() -> Path:
    folder = paths.samples_folder()
    found = sorted(folder.glob("supply-*.pdf")) if folder else []
    if not found:
        raise FileNotFoundError("The sample contract is missing from the installation.")
    return found[0]


def _pdf(trial: Composition) -> str:
    library = trial.open_library()
    try:
        results = [e for e in library.ingest([_sample()]) if hasattr(e, "status")]
        result: Any = results[-1]
        _require(result.status == "ready", result.error or f"the status is {result.status}")
        return f"{result.pages} pages in {result.chunks} passages"
    finally:
        library.close()


def scan(folder: Path) -> tuple[Path, set[str]]:
    """A PDF that is a picture of the top of the sample contract's first page, and its words."""
    pdfium = importlib.import_module("pypdfium2")
    with pdfium.PdfDocument(_sample()) as document, pdfium.PdfDocument.new() as made:
        page = document[0]
        width, height = page.get_size()
        below = height * (1 - _SCANNED)
        words = set(page.get_textpage().get_text_bounded(bottom=below).split())
        picture = pdfium.PdfImage.new(made)
        picture.set_bitmap(page.render(scale=_SCAN_DPI / 72, crop=(0, below, 0, 0)))
        picture.set_matrix(pdfium.PdfMatrix().scale(width, height - below))
        shown = made.new_page(width, height - below)
        shown.insert_obj(picture)
        shown.gen_content()
        made.save(folder / "scan.pdf")
    return folder / "scan.pdf", words


def _recognised(folder: Path) -> str:
    parser = importlib.import_module("rag.parser").Parser()
    path, words = scan(folder)
    pages = [page for page in parser.read(path) if hasattr(page, "text")]
    found = words & set(pages[0].text.split())
    _require(len(found) > len(words) / 2, f"{len(found)} of {len(words)} words were recognised")
    return f"{len(found)} of {len(words)} words of a picture"


def _vector(trial: Composition) -> str:
    vector = trial.embedder.embed([_QUESTION])[0]
    norm = float((vector * vector).sum())
    _require(abs(norm - 1) < 1e-3, f"its length is {norm:.3f} instead of 1")
    return f"{len(vector)} numbers"


def _search(trial: Composition, folder: Path) -> str:
    path = folder / "payment terms 付款.txt"
    path.write_text(_TEXT, encoding="utf8")
    library = trial.open_library()
    try:
        for _ in library.ingest([path]):
            pass
        hits = library.search(_QUESTION, [path.name], k=1)
        _require(bool(hits) and "37 days" in hits[0].chunk.text, "the passage was not found")
        return "the right passage comes first"
    finally:
        library.close()


def _ask(trial: Composition, question: str) -> Any:
    types = importlib.import_module("engine.types")
    turn = types.Turn(user=question, system="Answer in one short sentence.")
    options = types.SamplingOptions(max_tokens=8)
    return list(trial.engine.ask("self-test", turn, options))[-1]


def _token(trial: Composition) -> str:
    last = _ask(trial, f"{_TEXT}\n{_QUESTION}")
    _require(last.stats.generated_tokens > 0, "the model wrote nothing")
    return f"{last.stats.backend} read {last.stats.prefilled_tokens} tokens and wrote"


def _restore(trial: Composition) -> str:
    trial.close()  # ends the engine's process; the next question starts another
    last = _ask(trial, "And how long is the warranty?")
    stats = last.stats
    _require(stats.reused_tokens > 0, "the second engine reused nothing")
    _require(stats.restored_from == "disk", f"it came from {stats.restored_from or 'nowhere'}")
    return f"{stats.reused_tokens} tokens reused, {stats.prefilled_tokens} read"
