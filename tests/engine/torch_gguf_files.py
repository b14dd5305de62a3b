"""Small random transformers models as GGUF files, as llama.cpp's converter writes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gguf
import numpy as np
import torch

from tests.engine.torch_models import FAMILIES

Kind = gguf.GGMLQuantizationType
_NAMES = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.qkv_proj": "attn_qkv",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.gate_up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
}
_GEMMA_NAMES = {
    "post_attention_layernorm": "post_attention_norm",
    "pre_feedforward_layernorm": "ffn_norm",
    "post_feedforward_layernorm": "post_ffw_norm",
}


def architecture(family: str) -> str:
    """The name that GGUF files give a family."""
    name = FAMILIES[family][0].lower()
    return "llama" if name == "mistral" else name


def quantise(model: Any, kind: Kind) -> None:
    """Replaces the matrices by what is left of them in a quantised file."""
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() == 2:
                packed = gguf.quants.quantize(weight.numpy(), kind)
                weight.copy_(torch.from_numpy(gguf.quants.dequantize(packed, kind)))


def write_gguf(model: Any, family: str, path: Path, kind: Kind = Kind.F32) -> Path:
    """Writes the model."""
    arch = architecture(family)
    writer = gguf.GGUFWriter(path, arch)
    _write_metadata(writer, model.config, arch)
    heads = {"q_proj": model.config.num_attention_heads, "k_proj": model.config.num_key_value_heads}
    for name, weight in model.state_dict().items():
        if name == "lm_head.weight" and model.config.tie_word_embeddings:
            continue
        values, part = weight.float().numpy(), name.split(".")[-2]
        if arch == "llama" and part in heads:
            values = _pair(values, heads[part])
        if arch == "gemma3" and "norm" in part:
            values = values + 1
        stored = values if values.ndim == 1 else gguf.quants.quantize(values, kind)
        raw = None if values.ndim == 1 else kind
        writer.add_tensor(_name(name, arch), np.ascontiguousarray(stored), raw_dtype=raw)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _name(name: str, arch: str) -> str:
    stem, _, suffix = name.rpartition(".")
    if stem.startswith("model.layers."):
        _, _, layer, part = stem.split(".", 3)
        table = _NAMES | _GEMMA_NAMES if arch == "gemma3" else _NAMES
        return f"blk.{layer}.{table[part]}.{suffix}"
    return f"{_NAMES[stem]}.{suffix}"


def _pair(values: np.ndarray, heads: int) -> np.ndarray:
    """Halves of each head's rows to neighbouring pairs."""
    split = values.reshape(heads, 2, -1, *values.shape[1:])
    return split.swapaxes(1, 2).reshape(values.shape)


def _write_metadata(writer: gguf.GGUFWriter, config: Any, arch: str) -> None:
    writer.add_name("small")
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    head_dim = getattr(config, "head_dim", None)
    head_dim = head_dim or config.hidden_size // config.num_attention_heads
    writer.add_key_length(head_dim)
    writer.add_value_length(head_dim)
    if getattr(config, "sliding_window", None):
        writer.add_sliding_window(config.sliding_window)
    if getattr(config, "final_logit_softcapping", None):
        writer.add_final_logit_softcapping(config.final_logit_softcapping)
    rope = dict(config.rope_parameters)
    rope = rope.get("full_attention", rope)
    writer.add_rope_freq_base(rope["rope_theta"])
    part = rope.get("partial_rotary_factor", 1.0)
    writer.add_rope_dimension_count(int(head_dim * part))
    if rope["rope_type"] == "linear":
        writer.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
        writer.add_rope_scaling_factor(rope["factor"])
    if rope["rope_type"] == "longrope":
        writer.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])
        for kind in ("short", "long"):
            factors = np.array(rope[f"{kind}_factor"], np.float32)
            writer.add_tensor(f"rope_factors_{kind}.weight", factors)
    if rope["rope_type"] == "llama3":
        writer.add_tensor("rope_freqs.weight", _llama3_factors(rope, head_dim))


def _llama3_factors(rope: dict[str, Any], head_dim: int) -> np.ndarray:
    """How much each frequency is divided by, as the converter works it out."""
    plain = 1.0 / rope["rope_theta"] ** (np.arange(0, head_dim, 2) / head_dim)
    waves, factors = 2 * np.pi / plain, []
    original = rope["original_max_position_embeddings"]
    low, high = rope["low_freq_factor"], rope["high_freq_factor"]
    for wave in waves:
        if wave < original / high:
            factors.append(1.0)
        elif wave > original / low:
            factors.append(rope["factor"])
        else:
            smooth = (original / wave - low) / (high - low)
            factors.append(1 / ((1 - smooth) / rope["factor"] + smooth))
    return np.array(factors, np.float32)
