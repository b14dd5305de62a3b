"""Which device and which type to compute in. It asks torch and the processor, loads nothing."""

from __future__ import annotations

import torch

_OLDEST_GPU = (7, 0)  # the first with matrix units for 16 bits


def usable_gpu() -> bool:
    """Whether `auto` should take this decoder: a CUDA or Apple GPU that computes in 16 bits."""
    return best_device().type != "cpu"


def best_device() -> torch.device:
    """The GPU if there is a usable one, else the CPU."""
    if torch.cuda.is_available():  # pragma: no cover - needs a GPU
        if torch.cuda.get_device_capability() >= _OLDEST_GPU:
            return torch.device("cuda", torch.cuda.current_device())
    elif torch.backends.mps.is_available():  # pragma: no cover - needs a Mac
        return torch.device("mps")
    return torch.device("cpu")


def compute_type(device: torch.device) -> torch.dtype:
    """The type of the matrices: bf16 where the device multiplies it, else fp32.

    fp16 would be as fast, and faster on some processors, but Gemma 3 and Qwen 2 leave its range.
    """
    if device.type != "cpu":
        return torch.bfloat16
    bf16 = cpu_has("avx512_bf16") or cpu_has("amx_bf16")
    return torch.bfloat16 if bf16 else torch.float32


def cpu_has(feature: str) -> bool:
    """Whether the processor has "avx512_bf16" or "amx_bf16" instructions that torch uses."""
    if hasattr(torch.cpu, "get_capabilities"):
        return bool(torch.cpu.get_capabilities().get(feature))
    if feature == "amx_bf16":  # older versions of torch
        return bool(torch.cpu._is_amx_tile_supported())
    return bool(torch.cpu._is_avx512_bf16_supported())


def free_memory(device: torch.device) -> tuple[int, int]:
    """Bytes of a GPU's memory that are free (or held by torch and unused), and all; else 0, 0."""
    if device.type != "cuda":
        return 0, 0
    free, total = torch.cuda.mem_get_info(device)  # pragma: no cover - needs a GPU
    unused = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return free + unused, total  # pragma: no cover - needs a GPU
