"""The user's settings: a small checked record, kept as JSON.

Keys that this version doesn't know are kept, so that a newer one finds them again. A value out of
range falls back to its default, a damaged file is set aside; both are told. Writing is atomic.
"""

from __future__ import annotations

import dataclasses
import json
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


def _one_of(*values: str) -> Callable[[Any], bool]:
    return lambda value: value in values


def _between(low: float, high: float) -> Callable[[Any], bool]:
    return lambda value: low <= value <= high


def _any(value: Any) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Settings:
    """What the user can choose.

    Attributes:
        model: name or path of the language model; empty means the default one.
        embedder: name or path of the embedding model; empty means the default one.
        backend: which decoder.
        window: most tokens of one conversation that stay readable.
        kv_type: how keys and values are kept; threads: CPU threads, 0 chooses.
        max_tokens: most tokens of one answer.
        memory_mb, disk_mb: budgets of the conversation caches.
        idle_minutes: after this long a conversation leaves memory.
        idle_work: whether caches are brought up to date when the machine is idle.
        idle_on_battery: whether that may happen on battery.
        library: folder of the library; empty means the default one.
        theme: the window's colours; font_size: points, 0 is the system's.
        other: keys this version doesn't know, kept as they are.
    """

    model: str = ""
    embedder: str = ""
    backend: str = "auto"
    window: int = 4096
    kv_type: str = "f16"
    threads: int = 0
    max_tokens: int = 512
    memory_mb: int = 1024
    disk_mb: int = 8192
    idle_minutes: float = 30.0
    idle_work: bool = True
    idle_on_battery: bool = False
    library: str = ""
    theme: str = "system"
    font_size: int = 0
    other: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for key, check in _CHECKS.items():
            value = getattr(self, key)
            if not _right_type(key, value) or not check(value):
                raise ValueError(f"the setting {key} can't be {value!r}")


_CHECKS: dict[str, Callable[[Any], bool]] = {
    "model": _any,
    "embedder": _any,
    "backend": _one_of("auto", "torch", "llama.cpp", "fake"),
    "window": _between(256, 1 << 20),
    "kv_type": _one_of("f16", "q8_0", "bf16", "int8"),
    "threads": _between(0, 1024),
    "max_tokens": _between(1, 1 << 16),
    "memory_mb": _between(0, 1 << 24),
    "disk_mb": _between(0, 1 << 30),
    "idle_minutes": _between(0.1, 60 * 24 * 365),
    "idle_work": _any,
    "idle_on_battery": _any,
    "library": _any,
    "theme": _one_of("system", "light", "dark"),
    "font_size": _between(0, 72),
}
_DEFAULTS = {f.name: f.default for f in dataclasses.fields(Settings) if f.name != "other"}


def _right_type(key: str, value: Any) -> bool:
    kind = type(_DEFAULTS[key])
    if kind is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return type(value) is kind


def from_values(values: dict[str, Any]) -> tuple[Settings, list[str]]:
    """Settings from plain values, and one line for each value that could not be used."""
    known: dict[str, Any] = {}
    notices = []
    for key, value in values.items():
        if key in _CHECKS:
            if _right_type(key, value) and _CHECKS[key](value):
                known[key] = value
            else:
                notices.append(
                    f"The setting {key} can't be {value!r}; {_DEFAULTS[key]!r} is used instead."
                )
    other = {k: v for k, v in values.items() if k not in _CHECKS}
    return Settings(**known, other=other), notices


def to_values(settings: Settings) -> dict[str, Any]:
    """Settings as the plain values that are written to the file."""
    values = dict(settings.other)
    values.update((key, getattr(settings, key)) for key in _CHECKS)
    return values


def change(settings: Settings, values: dict[str, Any]) -> Settings:
    """Settings with some values changed. Raises ValueError naming a value that can't be."""
    known = {k: v for k, v in values.items() if k in _CHECKS}
    other = settings.other | {k: v for k, v in values.items() if k not in _CHECKS}
    return dataclasses.replace(settings, **known, other=other)


def load(path: Path) -> tuple[Settings, list[str]]:
    """The settings in a file, defaults if there is none, and lines for the user."""
    try:
        text = path.read_text(encoding="utf8")
    except FileNotFoundError:
        return Settings(), []
    except (OSError, UnicodeDecodeError):
        return _set_aside(path)
    try:
        values = json.loads(text)
    except ValueError:
        return _set_aside(path)
    if not isinstance(values, dict):
        return _set_aside(path)
    return from_values(values)


def save(settings: Settings, path: Path) -> None:
    """Writes the settings; the old file stays whole until the new one is. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(to_values(settings), indent=2, ensure_ascii=False, sort_keys=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".settings-")
    try:
        with os.fdopen(handle, "w", encoding="utf8") as file:
            file.write(text + "\n")
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _set_aside(path: Path) -> tuple[Settings, list[str]]:
    aside = path.with_name(f"{path.name}.damaged-{int(time.time())}")
    try:
        path.replace(aside)
        where = f"it was set aside as {aside.name}"
    except OSError:
        where = "it was left where it is"
    return Settings(), [f"The settings file could not be read; {where} and the defaults are used."]
