"""llama.cpp's shared library: loaded on first use, silent, its CPU variants from its own folder.

A build with dynamic backends looks for them in the current folder if nobody tells it where they
are, and would run whatever lies there; so it is always told, before anything else is called.
"""

from __future__ import annotations

import ctypes
import functools
import logging
import os
from pathlib import Path
from typing import Any

from engine.errors import BackendUnavailable

_log = logging.getLogger("llama.cpp")
_ERROR = 4
_last_errors: list[str] = []
_KEPT_ERRORS = 8


@functools.cache
def load_library() -> Any:
    """The module of llama.cpp's C functions, ready to be called.

    Raises:
        BackendUnavailable: llama-cpp-python is missing or has no usable CPU backend.
    """
    try:
        import llama_cpp.llama_cpp as library
    except (ImportError, OSError, RuntimeError) as error:
        raise BackendUnavailable(
            f"llama-cpp-python can't be loaded ({error}); install it again."
        ) from error
    library.llama_log_set(_callback(library), ctypes.c_void_p(0))
    _load_backends(library, Path(library._base_path))
    library.llama_backend_init()
    return library


def build_name(library: Any) -> str:
    """The library's version; states saved by another may not fit."""
    import llama_cpp

    return f"llama.cpp {llama_cpp.__version__}"


def last_errors() -> str:
    """What the library complained of lately; told once."""
    text = " ".join(_last_errors)
    _last_errors.clear()
    return text


def _load_backends(library: Any, folder: Path) -> None:
    # llama_cpp opens two copies of libggml; the registry that counts is libllama's.
    handle = library._lib
    if not _registered(handle):
        load = handle.ggml_backend_load_all_from_path
        load.argtypes, load.restype = [ctypes.c_char_p], None
        load(os.fsencode(folder))
        if not _registered(handle):
            raise BackendUnavailable(
                f"llama.cpp found no backend for this processor in {folder}; install it again."
            )


def _registered(handle: Any) -> int:
    count = handle.ggml_backend_reg_count
    count.argtypes, count.restype = [], ctypes.c_size_t
    return int(count())


@functools.cache  # ctypes callbacks must outlive their use
def _callback(library: Any) -> Any:
    @library.llama_log_callback  # type: ignore[untyped-decorator]
    def log(level: int, text: bytes, _data: object) -> None:
        line = text.decode("utf-8", "replace").strip()
        if level == _ERROR and line:
            del _last_errors[: -_KEPT_ERRORS + 1]
            _last_errors.append(line)
        _log.debug("%s", line)

    return log
