"""Where each tensor of a model file goes in the decoder.

Hugging Face folders and GGUF files name the same tensors differently and store some of them
differently; this table is the only place that knows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from engine.torch_config import DecoderConfig


@dataclass(frozen=True, slots=True)
class Slot:
    """A place in the weights of a layer, or before and after the layers.

    Attributes:
        field: attribute of `LayerWeights`, or of `EndWeights` where `layer` is None.
        part: which rows of a joined matrix: "q", "k", "v", "gate", "up"; empty for all.
        layer: the layer's index.
        add: what is added on loading (Gemma's norms in Hugging Face files lack their 1).
        paired: rows of each head are stored as rotation wants them, in neighbouring pairs.
    """

    field: str
    part: str = ""
    layer: int | None = None
    add: float = 0.0
    paired: bool = False


_HF_LAYER = re.compile(r"model\.layers\.(\d+)\.(.+)")
_GGUF_LAYER = re.compile(r"blk\.(\d+)\.(.+)")

_HF_GLOBAL = {
    "model.embed_tokens.weight": "embedding",
    "model.norm.weight": "final_norm",
    "lm_head.weight": "head",
}
_GGUF_GLOBAL = {
    "token_embd.weight": "embedding",
    "output_norm.weight": "final_norm",
    "output.weight": "head",
}
_HF = {
    "input_layernorm.weight": ("attention_norm", ""),
    "post_attention_layernorm.weight": ("feed_forward_norm", ""),
    "self_attn.q_proj.weight": ("qkv", "q"),
    "self_attn.k_proj.weight": ("qkv", "k"),
    "self_attn.v_proj.weight": ("qkv", "v"),
    "self_attn.qkv_proj.weight": ("qkv", ""),
    "self_attn.q_proj.bias": ("qkv_bias", "q"),
    "self_attn.k_proj.bias": ("qkv_bias", "k"),
    "self_attn.v_proj.bias": ("qkv_bias", "v"),
    "self_attn.q_norm.weight": ("head_norm", "q"),
    "self_attn.k_norm.weight": ("head_norm", "k"),
    "self_attn.o_proj.weight": ("output", ""),
    "self_attn.o_proj.bias": ("output_bias", ""),
    "mlp.gate_proj.weight": ("gate_up", "gate"),
    "mlp.up_proj.weight": ("gate_up", "up"),
    "mlp.gate_up_proj.weight": ("gate_up", ""),
    "mlp.down_proj.weight": ("down", ""),
}
_HF_POST_NORMS = {
    "post_attention_layernorm.weight": ("post_attention_norm", ""),
    "pre_feedforward_layernorm.weight": ("feed_forward_norm", ""),
    "post_feedforward_layernorm.weight": ("post_feed_forward_norm", ""),
}
_GGUF = {
    "attn_norm.weight": ("attention_norm", ""),
    "ffn_norm.weight": ("feed_forward_norm", ""),
    "post_attention_norm.weight": ("post_attention_norm", ""),
    "post_ffw_norm.weight": ("post_feed_forward_norm", ""),
    "attn_q.weight": ("qkv", "q"),
    "attn_k.weight": ("qkv", "k"),
    "attn_v.weight": ("qkv", "v"),
    "attn_qkv.weight": ("qkv", ""),
    "attn_q.bias": ("qkv_bias", "q"),
    "attn_k.bias": ("qkv_bias", "k"),
    "attn_v.bias": ("qkv_bias", "v"),
    "attn_q_norm.weight": ("head_norm", "q"),
    "attn_k_norm.weight": ("head_norm", "k"),
    "attn_output.weight": ("output", ""),
    "attn_output.bias": ("output_bias", ""),
    "ffn_gate.weight": ("gate_up", "gate"),
    "ffn_up.weight": ("gate_up", "up"),
    "ffn_down.weight": ("down", ""),
}
_GGUF_ELSEWHERE = ("rope_freqs.weight", "rope_factors_long.weight", "rope_factors_short.weight")


def huggingface_slot(name: str, config: DecoderConfig) -> Slot | None:
    """The slot of a safetensors name; None if the decoder has no use for it."""
    add = 1.0 if config.architecture == "gemma3" else 0.0
    if name in _HF_GLOBAL:
        field = _HF_GLOBAL[name]
        return Slot(field, add=add if field == "final_norm" else 0.0)
    match = _HF_LAYER.fullmatch(name)
    if match is None:
        return None
    table = _HF | _HF_POST_NORMS if config.post_norms else _HF
    found = table.get(match[2])
    if found is None:
        return None
    field, part = found
    return Slot(field, part, int(match[1]), add if field.endswith("norm") else 0.0)


def gguf_slot(name: str, config: DecoderConfig) -> Slot | None:
    """The slot of a GGUF name; None if the decoder has no use for it."""
    if name in _GGUF_GLOBAL:
        return Slot(_GGUF_GLOBAL[name])
    match = _GGUF_LAYER.fullmatch(name)
    if match is None or match[2] not in _GGUF:
        return None
    field, part = _GGUF[match[2]]
    if config.architecture == "phi3" and match[2] == "ffn_up.weight":
        part = ""
    paired = config.architecture == "llama" and part in ("q", "k") and field != "head_norm"
    return Slot(field, part, int(match[1]), paired=paired)


def is_read_elsewhere(name: str) -> bool:
    """Whether a tensor without a slot may be left out of the decoder all the same."""
    return name in _GGUF_ELSEWHERE or name.endswith(".rotary_emb.inv_freq")
