"""One script for a machine with a CUDA GPU: builds, checks and times; prints one JSON object.

    PYTHONPATH=. python tests/gpu/gpu_check.py [--shape 1.5b] [--shape 8b] [--compiled]

A few minutes on a large card. Without a GPU it says so and exits with 3.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from engine.fake_tokenizer import FakeTokenizer
from engine.torch_backend import CacheOptions, TorchBackend
from engine.torch_config import DecoderConfig, RopeSpec
from engine.torch_device import best_device
from engine.torch_graphs import GraphDecoder
from engine.torch_model import Decoder
from engine.torch_weights import Weights

NO_GPU = 3
_SLICE = 4096

SHAPES: dict[str, dict[str, Any]] = {
    "1.5b": {
        "architecture": "qwen2",
        "vocabulary": 151936,
        "hidden": 1536,
        "layers": 28,
        "heads": 12,
        "kv_heads": 2,
        "head_dim": 128,
        "intermediate": 8960,
        "qkv_bias": True,
        "tied": True,
    },
    "8b": {
        "architecture": "llama",
        "vocabulary": 128256,
        "hidden": 4096,
        "layers": 32,
        "heads": 32,
        "kv_heads": 8,
        "head_dim": 128,
        "intermediate": 14336,
    },
    "small": {
        "architecture": "llama",
        "vocabulary": 400,
        "hidden": 64,
        "layers": 2,
        "heads": 4,
        "kv_heads": 2,
        "head_dim": 16,
        "intermediate": 96,
        "tied": True,
    },
}


class DeviceWeights:
    """Random weights, made where they are used."""

    def __init__(self, device: torch.device, seed: int = 0) -> None:
        self._device = device
        self._generator = torch.Generator(device).manual_seed(seed)

    def fill(self, weights: Weights, layer: int | None) -> None:
        for _, weight in weights.named():
            if isinstance(weight, Tensor) and weight.dim() == 1:
                weight.fill_(1)
            elif isinstance(weight, Tensor):
                weight.copy_(self._normal(*weight.shape))
            else:
                rows, columns = weight.shape
                for start in range(0, rows, _SLICE):
                    count = min(_SLICE, rows - start)
                    weight.write(start, self._normal(count, columns))

    def _normal(self, rows: int, columns: int) -> Tensor:
        values = torch.randn(rows, columns, device=self._device, generator=self._generator)
        return values / columns**0.5


def config_of(name: str) -> DecoderConfig:
    """The configuration of a shape."""
    shape = SHAPES[name]
    rope = RopeSpec(theta=500000.0, dimension=shape["head_dim"])
    return DecoderConfig(name=name, norm_epsilon=1e-5, trained_context=131072, rope=rope, **shape)


def decoder_of(name: str, dtype: torch.dtype, device: torch.device, seed: int = 0) -> Decoder:
    """A decoder of a shape with random weights."""
    return Decoder(config_of(name), DeviceWeights(device, seed), dtype, device)


def backend_of(decoder: Decoder, **options: Any) -> TorchBackend:
    """A backend around it."""
    settings = {"cells": 2048, "batch": 512, "block": 64, **options}
    return TorchBackend(decoder, FakeTokenizer(), CacheOptions(**settings), fingerprint="gpu")


def read(backend: TorchBackend, sequence: int, tokens: list[int], start: int = 0) -> np.ndarray:
    """Logits after each token (T, V)."""
    found = [
        backend.forward(sequence, tokens[at : at + backend.batch], start + at, every=True)
        for at in range(0, len(tokens), backend.batch)
    ]
    return np.concatenate(found)


def tokens_of(count: int, vocabulary: int, seed: int = 0) -> list[int]:
    """Random ids."""
    drawn: list[int] = np.random.default_rng(seed).integers(0, vocabulary, count).tolist()
    return drawn


# Checks: each returns nothing or raises AssertionError.


def check_equals_cpu(device: torch.device) -> None:
    """fp32 logits of prefill and decode are those of the CPU."""
    tokens, results = tokens_of(200, 400), []
    source = decoder_of("small", torch.float32, torch.device("cpu"))
    for place in (torch.device("cpu"), device):
        decoder = Decoder(source.config, _Copied(), torch.float32, place)
        backend = backend_of(decoder, block=16)
        sequence = backend.new_sequence()
        prompt = read(backend, sequence, tokens[:150])
        rest = [backend.forward(sequence, [tokens[at]], at) for at in range(150, 200)]
        results.append(np.stack([*prompt, *rest]))
    assert np.abs(results[0] - results[1]).max() <= 1e-3


class _Copied(DeviceWeights):
    """The same numbers on every device: drawn on the CPU."""

    def __init__(self) -> None:
        super().__init__(torch.device("cpu"), seed=1)


def check_split_and_restored(device: torch.device) -> None:
    """Split equals whole, restored equals live, interleaved equals alone: bit for bit."""
    decoder = decoder_of("small", torch.bfloat16, device)
    tokens = tokens_of(300, 400)
    for packed in (False, True):
        backend = backend_of(decoder, block=16, packed=packed)
        whole = read(backend, backend.new_sequence(), tokens)
        split, bystander = backend.new_sequence(), backend.new_sequence()
        parts, start = [], 0
        for stop in (37, 38, 113, 300):
            parts.append(read(backend, split, tokens[start:stop], start))
            read(backend, bystander, tokens_of(9, 400, stop), 9 * len(parts) - 9)
            start = stop
        assert np.array_equal(np.concatenate(parts), whole)
        state, restored = backend.save(split, 0, 300), backend.new_sequence()
        backend.load(restored, state)
        for at in range(300, 330):
            left, right = (backend.forward(own, [at], at) for own in (split, restored))
            assert np.array_equal(left, right)


def check_out_of_memory(device: torch.device) -> None:
    """A window that doesn't fit is refused in words, and the device is usable afterwards."""
    from engine.errors import OutOfCells

    total = torch.cuda.get_device_properties(device).total_memory
    decoder = decoder_of("small", torch.bfloat16, device)
    backend = backend_of(decoder)
    token = backend.info.kv_bytes_per_token
    try:
        backend_of(decoder, cells=2 * total // token)
        raise AssertionError("twice the device's memory was given out")
    except (OutOfCells, torch.OutOfMemoryError):
        torch.cuda.empty_cache()
    assert np.isfinite(backend.forward(backend.new_sequence(), [1, 2, 3], 0)).all()


CHECKS: dict[str, Callable[[torch.device], None]] = {
    "equals_cpu": check_equals_cpu,
    "split_and_restored": check_split_and_restored,
    "out_of_memory": check_out_of_memory,
}


# Times.


def seconds(step: Callable[[], object], rounds: int) -> float:
    """Median seconds of a step, the device waited for."""
    times = []
    for _ in range(rounds):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        step()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def copy_bandwidth(device: torch.device) -> float:
    """Bytes read and written a second by a large copy."""
    source = torch.empty(4 << 30, dtype=torch.uint8, device=device)
    target = torch.empty_like(source)
    target.copy_(source)
    return 2 * source.nbytes / seconds(lambda: target.copy_(source), 10)


def time_decode(backend: TorchBackend, decoder: Decoder, bandwidth: float) -> dict[str, float]:
    """A token at 512 cached ones: its time, and the weights' share of the copy bandwidth."""
    sequence = backend.new_sequence()
    tokens = tokens_of(600, decoder.config.vocabulary)
    backend.forward(sequence, tokens[:512], 0)
    at = [512]

    def step() -> None:
        backend.forward(sequence, [tokens[at[0]]], at[0])
        at[0] += 1

    for _ in range(8):
        step()
    took = seconds(step, 40)
    backend.free_sequence(sequence)
    read_bytes = decoder.nbytes
    if not decoder.config.tied:  # one row of the embedding is read, not all
        read_bytes -= decoder.config.vocabulary * decoder.config.hidden * 2
    return {
        "ms": round(took * 1e3, 3),
        "of_copy_bandwidth": round(read_bytes / took / bandwidth, 3),
    }


def time_long(backend: TorchBackend, vocabulary: int, length: int) -> dict[str, float]:
    """First token of a long cached conversation after another was at work; moves to the host."""
    sequence, other = backend.new_sequence(), backend.new_sequence()
    begin = time.perf_counter()
    for at in range(0, length, backend.batch):
        backend.forward(sequence, tokens_of(backend.batch, vocabulary, at), at)
    prefill = time.perf_counter() - begin
    backend.forward(other, tokens_of(512, vocabulary), 0)
    firsts = []
    for number in range(6):  # the first one captures the bucket's graph
        backend.forward(other, [7], 512 + number)
        position = length + number
        firsts.append(seconds(lambda at=position: backend.forward(sequence, [9], at), 1))
    cells = backend._sequences[sequence]
    size, pieces = cells.nbytes, cells.snapshot(0, length)
    away = seconds(lambda: cells.snapshot(0, length), 3)
    backend.free_sequence(other)
    cells.clear()

    def back() -> None:
        cells.clear()
        cells.restore(pieces)

    restored = seconds(back, 3)
    return {
        "tokens": length,
        "prefill_tokens_per_second": round(length / prefill, 1),
        "first_token_ms": round(min(firsts[1:]) * 1e3, 2),
        "to_host_gb_per_second": round(size / away / 1e9, 1),
        "to_device_gb_per_second": round(size / restored / 1e9, 1),
    }


def time_shape(name: str, device: torch.device, compiled: bool) -> dict[str, Any]:
    """All times of one shape."""
    bandwidth = copy_bandwidth(device)
    decoder = decoder_of(name, torch.bfloat16, device)
    backend = backend_of(decoder, cells=36864)
    result: dict[str, Any] = {"copy_gb_per_second": round(bandwidth / 1e9, 1)}
    result["decode_graphs"] = time_decode(backend, decoder, bandwidth)
    backend._static = None
    result["decode_eager"] = time_decode(backend, decoder, bandwidth)
    if compiled:
        backend._static = GraphDecoder(decoder, backend._workspace, compiled=True)
        result["decode_compiled_graphs"] = time_decode(backend, decoder, bandwidth)
    backend._static = GraphDecoder(decoder, backend._workspace)
    result["long"] = time_long(backend, decoder.config.vocabulary, 32768)
    return result


def main() -> int:
    """Runs the checks, then the times."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shape", action="append", choices=[*SHAPES], help="default: 1.5b and 8b")
    parser.add_argument("--compiled", action="store_true", help="also with torch.compile")
    parser.add_argument("--checks-only", action="store_true")
    options = parser.parse_args()
    device = best_device()
    if device.type != "cuda":
        print("no CUDA GPU is here: nothing was checked", file=sys.stderr)
        return NO_GPU
    result: dict[str, Any] = {
        "gpu": torch.cuda.get_device_name(device),
        "torch": torch.__version__,
        "checks": {},
    }
    for name, check in CHECKS.items():
        try:
            check(device)
            result["checks"][name] = "passed"
        except AssertionError as error:
            result["checks"][name] = f"failed: {error}"
    if not options.checks_only:
        for shape in options.shape or ["1.5b", "8b"]:
            result[shape] = time_shape(shape, device, options.compiled)
            torch.cuda.empty_cache()
    print(json.dumps(result, indent=2))
    return 0 if set(result["checks"].values()) == {"passed"} else 1


if __name__ == "__main__":
    raise SystemExit(main())
