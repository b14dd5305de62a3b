"""Small random models of every family, as transformers computes them and as files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from engine.torch_config import DecoderConfig, RopeSpec
from engine.torch_model import Decoder
from engine.torch_weights import Weights

torch.set_num_threads(1)  # small models: a second thread only waits

VOCABULARY = 400
_COMMON: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 96,
    "intermediate_size": 160,
    "num_hidden_layers": 3,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "max_position_embeddings": 4096,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
_LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 10000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}
_LONGROPE = {
    "rope_type": "longrope",
    "rope_theta": 10000.0,
    "original_max_position_embeddings": 512,
    "short_factor": [1.0 + 0.05 * i for i in range(8)],
    "long_factor": [1.0 + 0.5 * i for i in range(8)],
}
_GEMMA = {"query_pre_attn_scalar": 24, "sliding_window": 24, "num_hidden_layers": 7}

# name: (transformers class, settings beside the common ones)
FAMILIES: dict[str, tuple[str, dict[str, Any]]] = {
    "llama": ("Llama", {}),
    "llama-tied": ("Llama", {"tie_word_embeddings": True, "num_key_value_heads": 6}),
    "llama3": ("Llama", {"rope_parameters": _LLAMA3}),
    "llama-bias": ("Llama", {"attention_bias": True}),
    "mistral": ("Mistral", {"sliding_window": 40}),
    "qwen2": ("Qwen2", {}),
    "qwen2-sliding": (
        "Qwen2",
        {"use_sliding_window": True, "sliding_window": 32, "max_window_layers": 1},
    ),
    "qwen3": ("Qwen3", {"head_dim": 32}),
    "gemma3": ("Gemma3", _GEMMA),
    "gemma3-scaled": (
        "Gemma3",
        {
            **_GEMMA,
            "query_pre_attn_scalar": 16,
            "final_logit_softcapping": 2.0,
            "rope_parameters": {
                "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
                "full_attention": {"rope_type": "linear", "rope_theta": 1e6, "factor": 8.0},
            },
        },
    ),
    "phi3": ("Phi3", {"sliding_window": 48}),
    "phi3-partial": (
        "Phi3",
        {
            "rope_parameters": {
                "rope_type": "default",
                "rope_theta": 10000.0,
                "partial_rotary_factor": 0.5,
            }
        },
    ),
    "phi3-longrope": (
        "Phi3",
        {"rope_parameters": _LONGROPE, "original_max_position_embeddings": 512},
    ),
}


def reference(family: str, seed: int = 0) -> Any:
    """A random transformers model in fp32, weights wide enough for logits that differ."""
    import transformers

    kind, settings = FAMILIES[family]
    suffix = "TextConfig" if kind == "Gemma3" else "Config"
    config = getattr(transformers, kind + suffix)(**{**_COMMON, **settings})
    torch.manual_seed(seed)
    model = getattr(transformers, f"{kind}ForCausalLM")(config).eval()
    with torch.no_grad():
        for name, weight in model.named_parameters():
            spread = 0.3 if weight.dim() == 1 else 0.15
            weight.normal_(0, spread)
            if "norm" in name and kind != "Gemma3":
                weight.add_(1)
    return model


def reference_logits(model: Any, tokens: list[int]) -> np.ndarray:
    """Logits (T, V) of one pass over all tokens."""
    with torch.no_grad():
        logits: Tensor = model(torch.tensor([tokens])).logits[0]
    return logits.float().numpy()


def save_folder(model: Any, folder: Path) -> Path:
    """Writes the model as transformers does."""
    model.save_pretrained(folder)
    return folder


def random_tokens(count: int, seed: int = 0, vocabulary: int = VOCABULARY) -> list[int]:
    """Token ids drawn evenly."""
    drawn: list[int] = np.random.default_rng(seed).integers(0, vocabulary, count).tolist()
    return drawn


def small_config(layers: int = 2, **changes: Any) -> DecoderConfig:
    """A small llama."""
    settings: dict[str, Any] = {
        "name": "small",
        "architecture": "llama",
        "vocabulary": VOCABULARY,
        "hidden": 64,
        "layers": layers,
        "heads": 4,
        "kv_heads": 2,
        "head_dim": 16,
        "intermediate": 96,
        "norm_epsilon": 1e-5,
        "trained_context": 1 << 16,
        "rope": RopeSpec(theta=10000.0, dimension=16),
        "tied": True,
    }
    return DecoderConfig(**{**settings, **changes})


class RandomWeights:
    """Random weights of about unit gain."""

    def __init__(self, seed: int = 0) -> None:
        self._generator = torch.Generator().manual_seed(seed)

    def fill(self, weights: Weights, layer: int | None) -> None:
        for _, weight in weights.named():
            values = torch.randn(tuple(weight.shape), generator=self._generator)
            if values.dim() == 1:
                values = 1 + 0.1 * values
            else:
                values /= values.shape[1] ** 0.5
            if isinstance(weight, Tensor):
                weight.copy_(values)
            else:
                weight.write(0, values)


def small_decoder(
    layers: int = 2, seed: int = 0, dtype: torch.dtype = torch.float32, **changes: Any
) -> Decoder:
    """A small random llama, made on the spot."""
    config = small_config(layers, **changes)
    return Decoder(config, RandomWeights(seed), dtype, torch.device("cpu"))


class MemoryTensors:
    """Tensors by name, as a `TensorFile`."""

    def __init__(self, tensors: dict[str, Tensor]) -> None:
        self.tensors = tensors
        self.most_rows = 0

    def names(self) -> Iterable[str]:
        return self.tensors.keys()

    def shape(self, name: str) -> tuple[int, ...]:
        return tuple(self.tensors[name].shape)

    def rows(self, name: str, start: int, stop: int) -> Tensor:
        self.most_rows = max(self.most_rows, stop - start)
        return self.tensors[name][start:stop]
