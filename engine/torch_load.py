"""A torch backend from engine options: the file or folder opened, device and types chosen."""

from __future__ import annotations

from pathlib import Path

import torch

from engine.errors import InvalidRequest, OutOfCells
from engine.load import cells_of
from engine.model_file import read_model_file
from engine.threads import usable_cores
from engine.torch_backend import CacheOptions, TorchBackend
from engine.torch_config_hf import config_from_huggingface
from engine.torch_device import best_device, compute_type
from engine.torch_folder import open_folder
from engine.torch_gguf import GgufTensors, gguf_config
from engine.torch_model import Decoder
from engine.torch_names import gguf_slot, huggingface_slot
from engine.torch_safetensors import SafetensorsFile
from engine.torch_tokenizer import FolderTokenizer, GgufVocabulary
from engine.torch_weights import WeightLoader
from engine.types import EngineOptions

_KEPT = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32}
_PACKED = ("int8", "q8_0")


def load_torch(
    options: EngineOptions,
    *,
    device: torch.device | None = None,
    dtype: torch.dtype | None = None,
) -> TorchBackend:
    """The torch backend of a GGUF file or a Hugging Face folder.

    Args:
        options: what the engine is started with.
        device: where to compute; None for the GPU if there is a usable one.
        dtype: the type of the matrices; None for what suits the device.

    Raises:
        ModelError: the model is missing, damaged or of an unknown kind.
        InvalidRequest: a KV type that this backend doesn't have.
        OutOfCells: the device has no memory for the model or its window.
    """
    device = device or best_device()
    if options.kv_type not in (*_KEPT, *_PACKED):
        kinds = ", ".join((*_KEPT, *_PACKED))
        raise InvalidRequest(f"torch keeps keys and values as {kinds}, not {options.kv_type}.")
    if device.type == "cpu":  # once: another number would change a product's last bits
        torch.set_num_threads(options.threads or usable_cores())
    try:
        if options.model.is_dir():
            return _from_folder(options, device, dtype)
        return _from_gguf(options, device, dtype)
    except torch.OutOfMemoryError as error:
        raise OutOfCells(
            f"{options.model.name} doesn't fit on the device; choose a smaller model or window."
        ) from error


def load_decoder(
    path: Path,
    dtype: torch.dtype | None = None,
    device: torch.device | None = None,
    window: int = 0,
) -> Decoder:
    """The decoder alone, without a cache or a tokenizer."""
    device = device or best_device()
    if path.is_dir():
        folder = open_folder(path)
        config = config_from_huggingface(folder.config, name=path.name, window=window)
        dtype = dtype or compute_type(device)
        file = SafetensorsFile(folder.weights)
        return Decoder(config, WeightLoader(file, config, huggingface_slot), dtype, device)
    metadata = read_model_file(path).metadata
    tensors = GgufTensors(path, metadata)
    config = gguf_config(metadata, tensors, window)
    dtype = dtype or compute_type(device)
    return Decoder(config, WeightLoader(tensors, config, gguf_slot), dtype, device)


def _from_gguf(
    options: EngineOptions, device: torch.device, dtype: torch.dtype | None
) -> TorchBackend:
    fingerprint = read_model_file(options.model).fingerprint
    decoder = load_decoder(options.model, dtype, device, options.window)
    vocabulary = GgufVocabulary(options.model)
    return TorchBackend(
        decoder,
        vocabulary.tokenizer,
        _cache_options(options, decoder),
        fingerprint=fingerprint,
        chat_template=vocabulary.chat_template,
    )


def _from_folder(
    options: EngineOptions, device: torch.device, dtype: torch.dtype | None
) -> TorchBackend:
    folder = open_folder(options.model)
    tokenizer = FolderTokenizer(folder)
    decoder = load_decoder(options.model, dtype, device, options.window)
    return TorchBackend(
        decoder,
        tokenizer,
        _cache_options(options, decoder),
        fingerprint=folder.fingerprint(),
        chat_template=folder.chat_template,
    )


def _cache_options(options: EngineOptions, decoder: Decoder) -> CacheOptions:
    """Sizes and types of the cache; 16 bits means the decoder's own type where it has 16."""
    kind = _KEPT.get(options.kv_type)
    if kind is None or (kind.itemsize == 2 and decoder.dtype.itemsize == 2):
        kind = decoder.dtype if decoder.dtype.itemsize == 2 else torch.float16
    return CacheOptions(
        cells=cells_of(options),
        sequences=options.sequences,
        batch=options.batch,
        dtype=kind,
        packed=options.kv_type in _PACKED,
    )
