"""What the program finds on this machine, what is wrong with it, and what to do.

Native libraries are tried in a process of their own: one that crashes is a finding, not an end.
It changes nothing but a test file in each folder, which it removes.
"""

from __future__ import annotations

import dataclasses
import os
import platform
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from desktop_app import __version__, doctor_probes, models, paths
from desktop_app.composition import FAKE, Composition
from desktop_app.errors import AppError, explain
from engine.errors import EngineError
from rag.errors import RagError

_MB = 1 << 20
_ENOUGH_DISK = 512 * _MB
_ENOUGH_MEMORY = 700 * _MB
_PACKAGES = (  # distribution, needed, what for
    ("PySide6", False, "the window"),
    ("llama-cpp-python", True, "answers"),
    ("onnxruntime", True, "finding passages"),
    ("tokenizers", True, "finding passages"),
    ("faiss-cpu", True, "finding passages"),
    ("pypdf", True, "reading PDFs"),
    ("pypdfium2", True, "reading PDFs"),
    ("rapidocr", False, "recognising scanned pages"),
    ("torch", False, "answers on a GPU"),
    ("gguf", False, "answers with torch"),
    ("sentence-transformers", False, "other embedding models"),
    ("huggingface_hub", False, "downloading models"),
)


@dataclass(frozen=True, slots=True)
class Line:
    """One finding. `todo` says what to do about it; a `problem` needs it done."""

    name: str
    value: str
    problem: bool = False
    todo: str = ""
    data: object = None


@dataclass(frozen=True, slots=True)
class Section:
    """Findings of one kind."""

    title: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Findings:
    """All findings."""

    sections: tuple[Section, ...]

    @property
    def problems(self) -> tuple[Line, ...]:
        """The findings that need something done."""
        return tuple(line for s in self.sections for line in s.lines if line.problem)


def examine(composition: Composition, *, self_test: bool = False) -> Findings:
    """Looks at everything; with `self_test`, each part is also tried once."""
    sections = [
        Section("Program", _program()),
        Section("Machine", _machine(composition)),
        Section("Libraries", _libraries()),
        Section("Models", _models(composition)),
        Section("Folders", _folders(composition)),
        Section("Library", _library(composition.library_folder)),
    ]
    if self_test:
        from desktop_app.self_test import run

        sections.append(Section("Self-test", tuple(Line(*r) for r in run(composition))))
    return Findings(tuple(sections))


def plain(findings: Findings) -> dict[str, Any]:
    """Findings as `clausebook doctor --json` prints them."""
    return {
        "ok": not findings.problems,
        "problems": [{"name": p.name, "value": p.value, "todo": p.todo} for p in findings.problems],
        "sections": {
            s.title.lower(): [_plain_line(line) for line in s.lines] for s in findings.sections
        },
    }


def _plain_line(line: Line) -> dict[str, Any]:
    value = {k: v for k, v in dataclasses.asdict(line).items() if v not in (None, "", False)}
    return {"name": line.name, "value": line.value} | value


def _program() -> tuple[Line, ...]:
    kind = "packaged" if paths.bundle() else "from source" if paths.checkout() else "installed"
    return (
        Line("Clausebook", f"{__version__} ({kind})"),
        Line("Python", platform.python_version()),
        Line("System", f"{platform.system()} {platform.release()} {platform.machine()}"),
    )


def _machine(composition: Composition) -> tuple[Line, ...]:
    from engine.memory_probe import main_memory

    memory = main_memory()
    low = memory.free < _ENOUGH_MEMORY
    lines = [
        Line("Processor cores", str(os.cpu_count() or 1)),
        Line(
            "Free memory",
            f"{_size(memory.free)} of {_size(memory.total)} ({memory.name})",
            low,
            "Close other programs, or choose a smaller model." if low else "",
            data=memory.free,
        ),
    ]
    gpu = doctor_probes.run(doctor_probes.gpu)
    if isinstance(gpu, list) and gpu:
        lines += [Line("GPU", f"{g['name']}, {_size(g['free'])} free") for g in gpu]
    else:
        lines.append(Line("GPU", gpu if isinstance(gpu, str) else "none that can be used"))
    wanted = composition.backend
    if wanted == "auto":
        wanted = "auto: torch" if isinstance(gpu, list) and gpu else "auto: llama.cpp"
    lines.append(Line("Backend", wanted))
    return tuple(lines)


def _libraries() -> tuple[Line, ...]:
    lines = []
    for name, needed, purpose in _PACKAGES:
        try:
            version = metadata.version(name)
        except metadata.PackageNotFoundError:
            missing = needed and paths.bundle() is None
            todo = f"Install it: pip install {name}" if missing else ""
            lines.append(Line(name, f"not installed (for {purpose})", missing, todo))
        else:
            lines.append(Line(name, version))
    for name, probe in doctor_probes.NATIVE.items():
        answer = doctor_probes.run(probe)
        broken = answer != "works"
        todo = "Install the program again; the log says more." if broken else ""
        lines.append(Line(f"{name} loads", str(answer), broken, todo))
    return tuple(lines)


def _models(composition: Composition) -> tuple[Line, ...]:
    return (
        _found("Language model", lambda: _language_model(composition)),
        _found("Embedding model", lambda: _embedder(composition.settings.embedder)),
        *(
            Line(m.name, f"{_size(m.size)}, {m.path}", bool(m.problem), m.problem)
            for m in models.list_models()
            if m.path and not m.default
        ),
    )


def _found(name: str, find: Callable[[], str]) -> Line:
    try:
        return Line(name, find())
    except (AppError, EngineError, RagError, OSError) as error:
        message, todo = explain(error)
        return Line(name, message, True, todo or "Run `clausebook models list`.")


def _language_model(composition: Composition) -> str:
    if composition.backend == FAKE:
        return FAKE
    path = models.find_language_model(composition.model)
    return f"{path} ({_size(_bytes_below(path))})"


def _embedder(name: str) -> str:
    return FAKE if name == FAKE else str(models.find_embedder(name))


def _folders(composition: Composition) -> tuple[Line, ...]:
    folders: Sequence[tuple[str, Path, bool]] = (
        ("Library", composition.library_folder, True),
        ("Settings", paths.settings_file().parent, False),
        ("Models", paths.user_models(), False),
        ("Log", paths.log_folder(), False),
    )
    return tuple(_folder(*folder) for folder in folders)


def _folder(name: str, folder: Path, needed: bool) -> Line:
    there = folder
    while not there.exists() and there != there.parent:
        there = there.parent
    free = shutil.disk_usage(there).free
    if not _writable(there):
        todo = "Change its rights, or choose another folder (--library, CLAUSEBOOK_HOME)."
        return Line(name, f"{folder} can't be written to", needed, todo)
    full = free < _ENOUGH_DISK
    return Line(
        name,
        f"{folder} ({_size(free)} free)",
        full and needed,
        "Free some space on this disk." if full else "",
        data=free,
    )


def _writable(folder: Path) -> bool:
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _library(folder: Path) -> tuple[Line, ...]:
    documents = _found("Documents", lambda: _documents(folder))
    try:
        return documents, _conversations(paths.conversations_folder(folder))
    except (EngineError, OSError) as error:
        message, todo = explain(error)
        return documents, Line("Conversations", message, True, todo)


def _conversations(folder: Path) -> Line:
    """How many there are, and what is kept of them; damaged caches are only slow, so no problem."""
    from engine.cache_inspection import list_caches

    caches = list_caches(folder)
    own = [one for one in caches if one.conversation]
    size = _bytes_below(folder) if folder.is_dir() else 0
    text = f"{len(own)} with {_size(size)} of caches"
    if own:
        cached = sum(one.cached_tokens for one in caches)
        text += f" ({sum(one.tokens for one in own):,} tokens, {cached:,} of them cached)"
    bad = sum(bool(one.problem) for one in caches)
    todo = "They will be set aside and read again; `clausebook cache verify` names them."
    if bad:
        return Line("Conversations", f"{text}, {bad} damaged", todo=todo, data=size)
    return Line("Conversations", text, data=size)


def _documents(folder: Path) -> str:
    from rag.database import FILE
    from rag.store import Store

    if not (folder / FILE).exists():
        return "none yet"
    store = Store(folder)
    try:
        documents = store.documents()
    finally:
        store.close()
    pages = sum(d.pages for d in documents)
    return f"{len(documents)} with {pages} pages ({_size((folder / FILE).stat().st_size)})"


def _bytes_below(path: Path) -> int:
    if path.is_file():
        return path.stat().st_size
    return sum(p.stat().st_size for p in path.rglob("*") if p.is_file() and not p.is_symlink())


def _size(count: int) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"
