"""What travels between an engine's process and the handle to it: records as JSON, never pickle.

It knows how a record is written and which frames there are, not what they cause.
"""

from __future__ import annotations

import dataclasses
import json
import types
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

from engine import errors
from engine import types as records
from engine.errors import EngineError
from engine.types import EngineOptions, ModelInfo

_TAG = "$"


class WireError(ValueError):
    """The bytes are no frame, or a value can't be sent."""


@dataclasses.dataclass(frozen=True, slots=True)
class Fault:
    """An exception as data: the name of its class in `engine.errors`, message and attributes."""

    name: str
    message: str
    data: dict[str, object] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, slots=True)
class Start:
    """First frame to the host: what to build the engine with."""

    options: EngineOptions
    factory: str
    log: Path | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Call:
    """To the host: run a method; `id` is the client's."""

    id: int
    method: str
    args: tuple[object, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class Stop:
    """To the host: end whatever runs or waits for a conversation."""

    conversation: str


@dataclasses.dataclass(frozen=True, slots=True)
class Cancel:
    """To the host: nobody listens to this call any more."""

    id: int


@dataclasses.dataclass(frozen=True, slots=True)
class Bye:
    """To the host: finish writing and end."""


@dataclasses.dataclass(frozen=True, slots=True)
class Ready:
    """From the host: the model is loaded."""

    info: ModelInfo


@dataclasses.dataclass(frozen=True, slots=True)
class Begun:
    """From the host: an `ask` begins, in a conversation of so many turns."""

    id: int
    turns: int


@dataclasses.dataclass(frozen=True, slots=True)
class Item:
    """From the host: an event of an `ask`."""

    id: int
    event: object


@dataclasses.dataclass(frozen=True, slots=True)
class Result:
    """From the host: the call has returned."""

    id: int
    value: object = None


@dataclasses.dataclass(frozen=True, slots=True)
class Failed:
    """From the host: the call has raised. `id` 0 is the start itself."""

    id: int
    fault: Fault


Frame = Start | Call | Stop | Cancel | Bye | Ready | Begun | Item | Result | Failed


def pack(frame: Frame) -> bytes:
    """A frame as bytes. Raises WireError if it holds a value that JSON doesn't know."""
    try:
        return json.dumps(_plain(frame), separators=(",", ":")).encode("ascii")
    except (TypeError, ValueError) as error:
        raise WireError(f"this can't be sent: {error}") from error


def unpack(data: bytes) -> Frame:
    """The frame that `pack` wrote. Raises WireError."""
    try:
        frame = _tagged(json.loads(data))
    except (TypeError, ValueError, KeyError) as error:
        raise WireError(f"this is no frame: {error}") from error
    if not isinstance(frame, Frame):
        raise WireError(f"this is no frame: {type(frame).__name__}")
    return frame


def fault_of(error: BaseException) -> Fault:
    """An exception as data; one that isn't the engine's own becomes a plain EngineError."""
    name = type(error).__name__
    if not isinstance(error, EngineError):
        reason = str(error) or "no reason given"
        return Fault("EngineError", f"The engine failed ({name}: {reason}); please try again.")
    plain = str, int, float, bool
    data: dict[str, object] = {k: v for k, v in vars(error).items() if isinstance(v, plain)}
    return Fault(name if getattr(errors, name, None) else "EngineError", str(error), data)


def error_of(fault: Fault) -> EngineError:
    """The exception that `fault` describes; its constructor isn't run again."""
    kind = getattr(errors, fault.name, EngineError)
    if not (isinstance(kind, type) and issubclass(kind, EngineError)):
        kind = EngineError
    error: EngineError = kind.__new__(kind)
    error.args = (fault.message,)
    for key, value in fault.data.items():
        setattr(error, key, value)
    return error


def _plain(value: object) -> object:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
        return {_TAG: type(value).__name__, **fields}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, Path) else value


def _tagged(value: Any) -> Any:
    """A value of a field that may hold anything."""
    if isinstance(value, list):
        return [_tagged(item) for item in value]
    if isinstance(value, dict) and _TAG in value:
        kind = _classes().get(value[_TAG])
        if kind is None:
            raise ValueError(f"unknown record {value[_TAG]!r}")
        hints = _hints(kind)
        return kind(**{k: _built(hints[k], v) for k, v in value.items() if k != _TAG})
    return value


def _built(hint: Any, value: Any) -> Any:
    """`value` as a field annotated with `hint` wants it."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Path:
        return Path(value)
    if origin in (Union, types.UnionType) and Path in inner:
        return None if value is None else Path(value)
    if origin in (tuple, Sequence):
        return tuple(_built(inner[0], item) for item in value)
    if origin in (dict, Mapping):
        return value
    return _tagged(value)


@cache
def _classes() -> dict[str, type]:
    found = [*vars(records).values(), *Frame.__args__, Fault]
    classes = [kind for kind in found if isinstance(kind, type)]
    return {kind.__name__: kind for kind in classes if dataclasses.is_dataclass(kind)}


@cache
def _hints(kind: type) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind)}
