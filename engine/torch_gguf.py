"""The tensors of a GGUF file as floating point numbers, a run of rows at a time.

Quantised rows are dequantised by the `gguf` package; the file is read, not mapped, so that its
pages don't count towards the process's memory. The file's head is read in `gguf_metadata`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import gguf
import numpy as np
import torch
from torch import Tensor

from engine.errors import ModelCorrupt, UnsupportedModel
from engine.gguf_metadata import Metadata
from engine.torch_config import DecoderConfig
from engine.torch_config_gguf import config_from_gguf

_PLAIN = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}


class GgufTensors:
    """Implements `TensorFile`.

    Args:
        path: the GGUF file.
        metadata: its head.
    """

    def __init__(self, path: Path, metadata: Metadata) -> None:
        self._path = path
        self._tensors = {tensor.name: tensor for tensor in metadata.tensors}

    def names(self) -> Iterable[str]:
        """Every tensor's name."""
        return self._tensors.keys()

    def shape(self, name: str) -> tuple[int, ...]:
        """The tensor's shape, rows first."""
        return self._tensors[name].shape

    def rows(self, name: str, start: int, stop: int) -> Tensor:
        """Rows start … stop; numbers of a vector count as rows."""
        tensor = self._tensors[name]
        kind = _kind(name, tensor.kind)
        shape = (stop - start, *tensor.shape[1:])
        width = (tensor.stop - tensor.start) // max(1, tensor.shape[0])
        data = bytearray((stop - start) * width)
        with self._path.open("rb") as file:
            file.seek(tensor.start + start * width)
            if file.readinto(data) != len(data):
                raise ModelCorrupt(f"{self._path.name} is cut short; download it again.")
        if kind.name in _PLAIN:
            return torch.frombuffer(data, dtype=_PLAIN[kind.name]).view(shape)
        stored = np.frombuffer(data, np.uint8).reshape(stop - start, width)
        return torch.from_numpy(_dequantise(name, stored, kind)).view(shape)

    def vectors(self, names: Sequence[str]) -> dict[str, list[float]]:
        """The numbers of those of the named vectors that are there."""
        return {
            name: self.rows(name, 0, self._tensors[name].shape[0]).float().tolist()
            for name in names
            if name in self._tensors
        }


def gguf_config(metadata: Metadata, tensors: GgufTensors, window: int) -> DecoderConfig:
    """The decoder that the file holds. Raises UnsupportedModel, ModelCorrupt."""
    names = ("rope_freqs.weight", "rope_factors_long.weight", "rope_factors_short.weight")
    shapes = {tensor.name: tensor.shape for tensor in metadata.tensors}
    return config_from_gguf(metadata.values, shapes, tensors.vectors(names), window=window)


def _kind(name: str, number: int) -> gguf.GGMLQuantizationType:
    try:
        return gguf.GGMLQuantizationType(number)
    except ValueError as error:
        raise _unreadable(name, f"type {number}") from error


def _dequantise(name: str, stored: np.ndarray, kind: gguf.GGMLQuantizationType) -> np.ndarray:
    try:
        return gguf.quants.dequantize(stored, kind)
    except NotImplementedError as error:
        raise _unreadable(name, kind.name) from error


def _unreadable(name: str, kind: str) -> UnsupportedModel:
    return UnsupportedModel(
        f"The tensor {name} is stored as {kind}, which the torch decoder doesn't read; "
        "choose another quantisation of the model or the llama.cpp backend."
    )
