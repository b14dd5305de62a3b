"""A decoder's configuration from GGUF metadata.

It knows the keys that llama.cpp's converter writes, and the few numbers that llama.cpp itself
keeps in its source instead of in the file (Gemma 3's local base and layer pattern).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from engine.errors import ModelCorrupt
from engine.torch_config import DecoderConfig, RopeSpec, unsupported, unsupported_option
from engine.torch_config_hf import longrope_attention

_FAMILIES = ("llama", "qwen2", "qwen3", "gemma3", "phi3")
_GEMMA_LOCAL_THETA = 10000.0
_GEMMA_GLOBAL_EVERY = 6
_GEMMA_27B_LAYERS = 62


class _Metadata:
    """Keys of one architecture; a missing one is an error unless a default is given."""

    def __init__(self, values: Mapping[str, Any], family: str) -> None:
        self._values, self._family = values, family

    def get(self, key: str, default: Any = None) -> Any:
        return self._values.get(f"{self._family}.{key}", default)

    def need(self, key: str) -> Any:
        value = self.get(key)
        if value is None:
            raise ModelCorrupt(f"The model file has no {self._family}.{key}; get the model again.")
        return value


def config_from_gguf(
    metadata: Mapping[str, Any],
    shapes: Mapping[str, Sequence[int]],
    factors: Mapping[str, Sequence[float]],
    *,
    window: int = 0,
) -> DecoderConfig:
    """The decoder that a GGUF file holds.

    Args:
        metadata: the file's key-value pairs.
        shapes: for each tensor its shape, rows first.
        factors: contents of the `rope_*.weight` tensors, by name.
        window: most tokens that will be read; chooses LongRoPE's factors.

    Raises:
        UnsupportedModel: the architecture or one of its options isn't computed here.
        ModelCorrupt: a key or tensor is missing.
    """
    family = str(metadata.get("general.architecture", ""))
    if family not in _FAMILIES:
        raise unsupported(family)
    if "token_embd.weight" not in shapes:
        raise ModelCorrupt("The model file has no token embeddings; get the model again.")
    keys = _Metadata(metadata, family)
    heads, layers = int(keys.need("attention.head_count")), int(keys.need("block_count"))
    hidden = int(keys.need("embedding_length"))
    head_dim = int(keys.get("attention.key_length") or hidden // heads)
    if int(keys.get("attention.value_length") or head_dim) != head_dim:
        raise unsupported_option(family, "value_length", keys.get("attention.value_length"))
    gemma = family == "gemma3"
    rope, local_rope = _ropes(family, keys, factors, head_dim, window)
    return DecoderConfig(
        name=str(metadata.get("general.name") or family),
        architecture=family,
        vocabulary=int(shapes["token_embd.weight"][0]),
        hidden=hidden,
        layers=layers,
        heads=heads,
        kv_heads=int(keys.get("attention.head_count_kv") or heads),
        head_dim=head_dim,
        intermediate=int(keys.need("feed_forward_length")),
        norm_epsilon=float(keys.need("attention.layer_norm_rms_epsilon")),
        trained_context=int(keys.need("context_length")),
        rope=rope,
        local_rope=local_rope,
        sliding_window=int(keys.get("attention.sliding_window") or 0),
        local_layers=_local_layers(family, keys, layers),
        activation="gelu_tanh" if gemma else "silu",
        query_key_norm="blk.0.attn_q_norm.weight" in shapes,
        post_norms=gemma,
        qkv_bias="blk.0.attn_q.bias" in shapes,
        output_bias="blk.0.attn_output.bias" in shapes,
        embedding_scale=math.sqrt(hidden) if gemma else 1.0,
        attention_scale=_attention_scale(gemma, layers, hidden, heads),
        logit_softcap=float(keys.get("final_logit_softcapping") or 0.0),
        tied="output.weight" not in shapes,
    )


def _attention_scale(gemma: bool, layers: int, hidden: int, heads: int) -> float:
    """Gemma 3 27B divides by the root of hidden / heads; everyone else by that of the head."""
    return (hidden / heads) ** -0.5 if gemma and layers == _GEMMA_27B_LAYERS else 0.0


def _local_layers(family: str, keys: _Metadata, layers: int) -> tuple[bool, ...]:
    if not keys.get("attention.sliding_window"):
        return ()
    if family == "gemma3":
        every = int(keys.get("attention.sliding_window_pattern") or _GEMMA_GLOBAL_EVERY)
        return tuple((layer + 1) % every != 0 for layer in range(layers))
    if family == "phi3":
        return (True,) * layers
    return ()


def _ropes(
    family: str,
    keys: _Metadata,
    factors: Mapping[str, Sequence[float]],
    head_dim: int,
    window: int,
) -> tuple[RopeSpec, RopeSpec | None]:
    theta = float(keys.get("rope.freq_base") or 10000.0)
    dimension = int(keys.get("rope.dimension_count") or head_dim)
    if family == "gemma3":
        dimension = head_dim
    local = None
    if family == "gemma3":
        local_theta = float(keys.get("rope.freq_base_swa") or _GEMMA_LOCAL_THETA)
        local = RopeSpec(local_theta, dimension)
    if "rope_freqs.weight" in factors:
        values = tuple(factors["rope_freqs.weight"])
        return RopeSpec(theta, dimension, "factors", factors=values), local
    if "rope_factors_long.weight" in factors:
        return _longrope(keys, factors, theta, dimension, window), local
    kind = str(keys.get("rope.scaling.type") or "none")
    if kind == "none":
        return RopeSpec(theta, dimension), local
    if kind == "linear":
        return RopeSpec(theta, dimension, "linear", float(keys.need("rope.scaling.factor"))), local
    raise unsupported_option(family, "rope.scaling.type", kind)


def _longrope(
    keys: _Metadata,
    factors: Mapping[str, Sequence[float]],
    theta: float,
    dimension: int,
    window: int,
) -> RopeSpec:
    original = int(keys.need("rope.scaling.original_context_length"))
    stretch = float(keys.need("context_length")) / original
    attention = keys.get("rope.scaling.attn_factor") or longrope_attention(stretch, original)
    values = factors[
        "rope_factors_long.weight" if window > original else "rope_factors_short.weight"
    ]
    return RopeSpec(
        theta,
        dimension,
        "factors",
        original_context=original,
        factors=tuple(map(float, values)),
        attention_factor=float(attention),
        long=window > original,
    )
