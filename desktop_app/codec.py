"""Dataclass records as JSON and back, checked against their annotations. Never pickle.

It knows how a record is written, not which records there are: `records` names them.
"""

from __future__ import annotations

import dataclasses
import json
import types
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints


class CodecError(ValueError):
    """The bytes are not JSON, name no known record, or a field has the wrong type."""


def encode(record: Any) -> bytes:
    """A record as UTF-8 JSON: its fields, and its class's name under "type"."""
    value = _plain(record)
    value["type"] = type(record).__name__
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(
        "utf8", "surrogatepass"
    )


def decode(data: bytes, classes: dict[str, type]) -> Any:
    """The record that `encode` wrote.

    Raises:
        CodecError: `data` isn't a record of one of `classes`.
    """
    try:
        value = json.loads(data.decode("utf8", "surrogatepass"))
    except ValueError as error:
        raise CodecError(f"not JSON: {error}") from None
    name = value.pop("type", None) if isinstance(value, dict) else None
    if name not in classes:
        raise CodecError(f"unknown record {name!r}")
    return build(classes[name], value)


def build(cls: type, value: Any) -> Any:
    """An instance of dataclass `cls` from a dict of plain values; missing fields get defaults.

    Raises:
        CodecError: a field is unknown, missing or of the wrong type.
    """
    if not isinstance(value, dict):
        raise CodecError(f"{cls.__name__} must be an object, not {type(value).__name__}")
    hints = _hints(cls)
    unknown = set(value) - set(hints)
    if unknown:
        raise CodecError(f"{cls.__name__} has no field {sorted(unknown)[0]!r}")
    fields = {k: _check(hints[k], v, f"{cls.__name__}.{k}") for k, v in value.items()}
    try:
        return cls(**fields)
    except TypeError as error:
        raise CodecError(f"{cls.__name__}: {error}") from None


def plain(record: Any) -> dict[str, Any]:
    """A record as a dict of plain JSON values."""
    value: dict[str, Any] = _plain(record)
    return value


@cache
def _hints(cls: type) -> dict[str, Any]:
    hints = get_type_hints(cls)
    return {f.name: hints[f.name] for f in dataclasses.fields(cls)}


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    raise CodecError(f"{type(value).__name__} can't be sent")


def _check(kind: Any, value: Any, where: str) -> Any:
    if kind in (Any, object):
        return value
    origin = get_origin(kind)
    if origin is Literal:
        if value in get_args(kind):
            return value
    elif origin in (Union, types.UnionType):
        return _check_union(get_args(kind), value, where)
    elif origin is tuple:
        return _check_tuple(get_args(kind), value, where)
    elif origin is dict:
        if isinstance(value, dict):
            item = get_args(kind)[1]
            return {k: _check(item, v, f"{where}[{k!r}]") for k, v in value.items()}
    elif isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return build(kind, value)
    elif kind is float:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return float(value)
    elif isinstance(value, kind) and (kind is bool or not isinstance(value, bool)):
        return value
    raise CodecError(f"{where} must be {kind}, not {type(value).__name__}")


def _check_union(kinds: tuple[Any, ...], value: Any, where: str) -> Any:
    if value is None and type(None) in kinds:
        return None
    errors = []
    for kind in kinds:
        if kind is not type(None):
            try:
                return _check(kind, value, where)
            except CodecError as error:
                errors.append(str(error))
    raise CodecError(errors[0] if errors else f"{where} must be null")


def _check_tuple(kinds: tuple[Any, ...], value: Any, where: str) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise CodecError(f"{where} must be a list, not {type(value).__name__}")
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        return tuple(_check(kinds[0], v, f"{where}[{i}]") for i, v in enumerate(value))
    if len(kinds) != len(value):
        raise CodecError(f"{where} must have {len(kinds)} items, not {len(value)}")
    pairs = zip(kinds, value, strict=True)
    return tuple(_check(k, v, f"{where}[{i}]") for i, (k, v) in enumerate(pairs))
