"""Finds the decoder for the options: torch where a usable GPU is, else llama.cpp.

Nothing heavy is imported before it is chosen, and torch is never imported to find out that there
is no GPU where llama.cpp would do.
"""

from __future__ import annotations

import importlib.util
import logging
import sys
from pathlib import Path

from engine.backend import Backend
from engine.errors import BackendUnavailable, EngineError, ModelNotFound
from engine.types import EngineOptions

_log = logging.getLogger(__name__)


def cells_of(options: EngineOptions) -> int:
    """Cells to make: those asked for, or the window and a quarter more."""
    return options.cells or options.window + options.window // 4


def load_backend(options: EngineOptions) -> Backend:
    """The backend that `options` ask for, its model loaded.

    Raises:
        ModelError: the model file is missing, damaged or of an unknown kind.
        BackendUnavailable: the library or the device is missing.
    """
    if options.backend == "fake":
        return _fake(options)
    if not options.model.exists():
        raise ModelNotFound(f"There is no model at {options.model}; choose or download a model.")
    if options.backend == "torch":
        return _torch(options)
    if options.backend == "auto" and (options.model.is_dir() or has_gpu()):
        try:
            return _torch(options)
        except EngineError as error:
            if options.model.is_dir():
                raise
            _log.warning("torch can't be used, llama.cpp is: %s", error)
    return _llama(options)


def has_gpu() -> bool:
    """Whether torch is installed and a device for it is in the machine."""
    if importlib.util.find_spec("torch") is None:
        return False
    if sys.platform != "darwin" and not _has_nvidia():
        return False
    from engine.torch_device import usable_gpu

    return usable_gpu()


def _has_nvidia() -> bool:
    if sys.platform == "win32":
        return True
    return Path("/proc/driver/nvidia").exists() or Path("/dev/nvidiactl").exists()


def _fake(options: EngineOptions) -> Backend:
    from engine.fake_backend import FakeBackend

    return FakeBackend(cells=cells_of(options), sequences=options.sequences, batch=options.batch)


def _llama(options: EngineOptions) -> Backend:
    from engine.llama_backend import LlamaBackend
    from engine.model_file import read_model_file

    if options.model.is_dir():
        raise BackendUnavailable(
            f"llama.cpp reads GGUF files, and {options.model.name} is a folder; "
            "choose the torch backend or a GGUF file."
        )
    return LlamaBackend(
        read_model_file(options.model),
        cells=cells_of(options),
        sequences=options.sequences,
        batch=options.batch,
        kv_type=options.kv_type,
        threads=options.threads,
    )


def _torch(options: EngineOptions) -> Backend:
    try:
        from engine.torch_load import load_torch
    except ImportError as error:
        raise BackendUnavailable(
            "The torch backend needs the packages of clausebook[torch]; "
            "install them or choose llama.cpp."
        ) from error
    return load_torch(options)
