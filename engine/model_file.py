"""A GGUF model file, checked before any backend touches it. It loads no weights.

The fingerprint is SHA-256 over the metadata, the tensors' places and a sample of every tensor, so
that another quantisation, another vocabulary or other weights give another one.
"""

from __future__ import annotations

import hashlib
import mmap
from dataclasses import dataclass
from pathlib import Path

from engine.errors import ModelCorrupt, ModelNotFound
from engine.gguf_metadata import Metadata, read_metadata

_SAMPLE = 64
_SAMPLES_PER_TENSOR = 4


@dataclass(frozen=True, slots=True)
class ModelFile:
    """What is known of a model from its file alone.

    Attributes:
        window: positions that attention looks back in some layers; 0 if in all of them all.
    """

    path: Path
    name: str
    architecture: str
    fingerprint: str
    vocabulary: int
    layers: int
    trained_context: int
    parameters: int
    window: int
    metadata: Metadata

    def kv_elements(self) -> tuple[int, int]:
        """Numbers in the keys, and in the values, of one token in all layers."""
        heads = self._value("attention.head_count_kv") or self._value("attention.head_count")
        width = self._number("embedding_length") // max(1, self._number("attention.head_count"))
        keys = self._number("attention.key_length") or width
        values = self._number("attention.value_length") or width
        if isinstance(heads, list):
            total = sum(count for count in heads if isinstance(count, int))
        else:
            total = self.layers * heads if isinstance(heads, int) else 0
        return total * keys, total * values

    def _value(self, key: str) -> object:
        return self.metadata.values.get(f"{self.architecture}.{key}")

    def _number(self, key: str) -> int:
        return self.metadata.number(f"{self.architecture}.{key}")


def read_model_file(path: Path) -> ModelFile:
    """Reads and checks a GGUF file.

    Raises:
        ModelNotFound: there is no such file.
        ModelCorrupt: it isn't a GGUF model, or it is cut short.
    """
    if not path.is_file():
        raise ModelNotFound(f"There is no model file at {path}; choose or download a model.")
    try:
        with path.open("rb") as file:
            if not path.stat().st_size:
                raise ModelCorrupt("it is empty")
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
                data = memoryview(mapped)
                try:
                    return _read(path, data)
                finally:
                    data.release()
    except ModelCorrupt as error:
        raise ModelCorrupt(
            f"{path.name} can't be used as a model: {error}; download it again."
        ) from None
    except OSError as error:
        raise ModelNotFound(f"{path} can't be read ({error.strerror}); choose another.") from error


def _read(path: Path, data: memoryview) -> ModelFile:
    metadata = read_metadata(data)
    architecture = metadata.text("general.architecture")
    if not architecture or not metadata.tensors:
        raise ModelCorrupt("it holds no model")
    end = max(tensor.stop for tensor in metadata.tensors)
    if end > len(data):
        raise ModelCorrupt(f"it is cut short ({len(data):,} of at least {end:,} bytes)")
    layers = metadata.number(f"{architecture}.block_count")
    vocabulary = metadata.lengths.get("tokenizer.ggml.tokens", 0)
    return ModelFile(
        path=path,
        name=path.stem,
        architecture=architecture,
        fingerprint=_fingerprint(data, metadata),
        vocabulary=vocabulary or metadata.number(f"{architecture}.vocab_size"),
        layers=layers,
        trained_context=metadata.number(f"{architecture}.context_length"),
        parameters=sum(tensor.elements for tensor in metadata.tensors),
        window=metadata.number(f"{architecture}.attention.sliding_window"),
        metadata=metadata,
    )


def _fingerprint(data: memoryview, metadata: Metadata) -> str:
    digest = hashlib.sha256(data[: metadata.data_start])
    digest.update(len(data).to_bytes(8, "little"))
    for tensor in metadata.tensors:
        step = max(1, (tensor.stop - tensor.start) // _SAMPLES_PER_TENSOR)
        for at in range(tensor.start, tensor.stop, step):
            digest.update(data[at : min(at + _SAMPLE, tensor.stop)])
    return digest.hexdigest()
