"""A decoder's configuration from a Hugging Face config.json.

It reads both spellings of the rotary settings: `rope_theta` with `rope_scaling`, and the newer
`rope_parameters`. It opens no file.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from engine.errors import ModelCorrupt
from engine.torch_config import (
    Activation,
    DecoderConfig,
    RopeSpec,
    unsupported,
    unsupported_option,
)

_FAMILIES = {
    "llama": "llama",
    "mistral": "mistral",
    "qwen2": "qwen2",
    "qwen3": "qwen3",
    "gemma3_text": "gemma3",
    "phi3": "phi3",
}
_ACTIVATIONS: dict[str, Activation] = {
    "silu": "silu",
    "gelu_pytorch_tanh": "gelu_tanh",
}


def config_from_huggingface(
    config: Mapping[str, Any], *, name: str = "", window: int = 0
) -> DecoderConfig:
    """The decoder that a config.json describes.

    Args:
        config: the parsed file.
        name: the model's name for people.
        window: most tokens that will be read; chooses LongRoPE's factors.

    Raises:
        UnsupportedModel: the family or one of its options isn't computed here.
        ModelCorrupt: a number is missing.
    """
    family = _FAMILIES.get(str(config.get("model_type", "")))
    if family is None:
        raise unsupported(str(config.get("model_type", "without a model_type")))
    try:
        return _decoder(family, config, name, window)
    except KeyError as missing:
        raise ModelCorrupt(f"The model's config.json has no {missing}; get the model again.") from (
            missing
        )


def _decoder(family: str, config: Mapping[str, Any], name: str, window: int) -> DecoderConfig:
    heads = int(config["num_attention_heads"])
    head_dim = int(config.get("head_dim") or config["hidden_size"] // heads)
    gemma = family == "gemma3"
    rope, local_rope = _ropes(family, config, head_dim, window)
    return DecoderConfig(
        name=name,
        architecture=family,
        vocabulary=int(config["vocab_size"]),
        hidden=int(config["hidden_size"]),
        layers=int(config["num_hidden_layers"]),
        heads=heads,
        kv_heads=int(config.get("num_key_value_heads") or heads),
        head_dim=head_dim,
        intermediate=int(config["intermediate_size"]),
        norm_epsilon=float(config.get("rms_norm_eps", 1e-6)),
        trained_context=int(config["max_position_embeddings"]),
        rope=rope,
        local_rope=local_rope,
        sliding_window=int(config.get("sliding_window") or 0),
        local_layers=_local_layers(family, config),
        activation=_activation(family, config),
        query_key_norm=family in ("qwen3", "gemma3"),
        post_norms=gemma,
        qkv_bias=family == "qwen2" or bool(config.get("attention_bias")),
        output_bias=bool(config.get("attention_bias")),
        embedding_scale=math.sqrt(config["hidden_size"]) if gemma else 1.0,
        attention_scale=float(config["query_pre_attn_scalar"]) ** -0.5 if gemma else 0.0,
        logit_softcap=float(config.get("final_logit_softcapping") or 0.0),
        tied=bool(config.get("tie_word_embeddings", gemma)),
    )


def _activation(family: str, config: Mapping[str, Any]) -> Activation:
    name = str(config.get("hidden_activation") or config.get("hidden_act") or "silu")
    if name not in _ACTIVATIONS:
        raise unsupported_option(family, "hidden_act", name)
    for option in ("attn_logit_softcapping", "use_bidirectional_attention", "mlp_bias"):
        if config.get(option):
            raise unsupported_option(family, option, config[option])
    return _ACTIVATIONS[name]


def _local_layers(family: str, config: Mapping[str, Any]) -> tuple[bool, ...]:
    """Which layers see only the window: listed, in a pattern, or all where a window is set."""
    layers = int(config["num_hidden_layers"])
    if not config.get("sliding_window"):
        return ()
    if config.get("layer_types"):
        return tuple(kind == "sliding_attention" for kind in config["layer_types"])
    if family == "gemma3":
        every = int(
            config.get("sliding_window_pattern") or config.get("_sliding_window_pattern") or 6
        )
        return tuple((layer + 1) % every != 0 for layer in range(layers))
    if family in ("qwen2", "qwen3"):
        first = int(config.get("max_window_layers") or 0)
        wanted = bool(config.get("use_sliding_window"))
        return tuple(wanted and layer >= first for layer in range(layers))
    return (True,) * layers


def _ropes(
    family: str, config: Mapping[str, Any], head_dim: int, window: int
) -> tuple[RopeSpec, RopeSpec | None]:
    """Rotary embeddings of the global layers, and of the local ones where they differ."""
    parameters = dict(config.get("rope_parameters") or {})
    if "full_attention" in parameters:
        local = _rope(family, config, parameters["sliding_attention"], head_dim, window)
        return _rope(family, config, parameters["full_attention"], head_dim, window), local
    if not parameters:
        parameters = dict(config.get("rope_scaling") or {})
        parameters["rope_theta"] = config.get("rope_theta", 10000.0)
    rope = _rope(family, config, parameters, head_dim, window)
    if family == "gemma3":
        theta = float(config.get("rope_local_base_freq", 10000.0))
        return rope, RopeSpec(theta=theta, dimension=head_dim)
    return rope, None


def _rope(
    family: str,
    config: Mapping[str, Any],
    parameters: Mapping[str, Any],
    head_dim: int,
    window: int,
) -> RopeSpec:
    kind = str(parameters.get("rope_type") or parameters.get("type") or "default")
    part = parameters.get("partial_rotary_factor") or config.get("partial_rotary_factor") or 1.0
    theta, dimension = float(parameters["rope_theta"]), int(head_dim * float(part))
    if kind == "default":
        return RopeSpec(theta, dimension)
    if kind == "linear":
        return RopeSpec(theta, dimension, "linear", float(parameters["factor"]))
    if kind == "llama3":
        return RopeSpec(
            theta,
            dimension,
            "llama3",
            float(parameters["factor"]),
            float(parameters["low_freq_factor"]),
            float(parameters["high_freq_factor"]),
            int(parameters["original_max_position_embeddings"]),
        )
    if kind == "longrope":
        return _longrope(config, parameters, theta, dimension, window)
    raise unsupported_option(family, "rope_type", kind)


def _longrope(
    config: Mapping[str, Any],
    parameters: Mapping[str, Any],
    theta: float,
    dimension: int,
    window: int,
) -> RopeSpec:
    """LongRoPE (arXiv:2402.13753): one of two sets of factors, chosen once by the window.

    Keys already in the cache are rotated, so the set can't change while a conversation grows.
    """
    original = int(
        parameters.get("original_max_position_embeddings")
        or config["original_max_position_embeddings"]
    )
    stretch = config["max_position_embeddings"] / original
    attention = parameters.get("attention_factor") or longrope_attention(stretch, original)
    factors = parameters["long_factor" if window > original else "short_factor"]
    return RopeSpec(
        theta,
        dimension,
        "factors",
        original_context=original,
        factors=tuple(map(float, factors)),
        attention_factor=float(attention),
        long=window > original,
    )


def longrope_attention(stretch: float, original: int) -> float:
    """LongRoPE's default factor of cosine and sine for a context stretched `stretch` times."""
    return 1.0 if stretch <= 1 else math.sqrt(1 + math.log(stretch) / math.log(original))
