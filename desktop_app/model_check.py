"""Whether a model's file is whole: size, SHA-256, and the first bytes of its format.

A hash is computed once and remembered by path, size and time of change. It loads no model.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from pathlib import Path

from desktop_app import paths
from desktop_app.catalogue import KnownModel
from desktop_app.errors import ModelMissing

_REMEMBERED = "verified.json"
_GGUF = b"GGUF"
_SMALLEST = 1024
AGAIN = "Add or download it again (`clausebook models`)."


def check_known(model: KnownModel, path: Path) -> None:
    """Compares a known model with its size and SHA-256.

    Raises:
        ModelMissing: it isn't there, is cut short or isn't what it should be.
    """
    file = path / model.weights if model.weights else path
    if not file.is_file():
        raise ModelMissing(f"The model {model.name} is incomplete: {file} is missing.", AGAIN)
    size = file.stat().st_size
    if model.size and size != model.size:
        raise ModelMissing(
            f"The model {model.name} is cut short or damaged: {file} has {size} bytes, "
            f"not {model.size}.",
            AGAIN,
        )
    if model.sha256 and remembered_sha256(file) != model.sha256:
        raise ModelMissing(f"The model {model.name} is damaged: {file} has another SHA-256.", AGAIN)


def check_gguf(path: Path) -> None:
    """Looks at the first bytes of a GGUF file; the engine checks the rest when it loads it."""
    with path.open("rb") as file:
        head = file.read(8)
    if len(head) < 8 or head[:4] != _GGUF or path.stat().st_size < _SMALLEST:
        raise ModelMissing(f"{path} is not a GGUF model, or is cut short.", AGAIN)


def sha256(path: Path) -> str:
    """A file's SHA-256."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def remembered_sha256(path: Path) -> str:
    """A file's SHA-256, computed only if the file changed since it was last computed."""
    stat = path.stat()
    key = [stat.st_size, stat.st_mtime_ns]
    store = paths.user_models() / _REMEMBERED
    known = _read(store)
    entry = known.get(str(path))
    if isinstance(entry, list) and len(entry) == 3 and entry[:2] == key:
        return str(entry[2])
    digest = sha256(path)
    known[str(path)] = [*key, digest]
    _write(store, {k: v for k, v in known.items() if Path(k).exists()})
    return digest


def _read(store: Path) -> dict[str, object]:
    try:
        value = json.loads(store.read_text(encoding="utf8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _write(store: Path, value: dict[str, object]) -> None:
    # What can't be remembered is computed again: a read-only folder is no reason to fail.
    with contextlib.suppress(OSError):
        store.parent.mkdir(parents=True, exist_ok=True)
        temporary = store.with_name(f".{store.name}.{os.getpid()}")
        temporary.write_text(json.dumps(value, indent=1), encoding="utf8")
        temporary.replace(store)
