"""Models of a few thousand random weights that llama.cpp can load: one of each kind of cache."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from engine.fake_tokenizer import CHAT_TEMPLATE
from tests.engine.gguf_files import gguf

WIDTH, LAYERS, HEADS, KV_HEADS, HEAD = 32, 2, 2, 1, 16
FEED, STATE, RANK, CONV = 64, 8, 2, 4
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.,?"
SPECIALS = ["<unk>", "<s>", "</s>", "<|im_start|>", "<|im_end|>"]
TOKENS = [*SPECIALS, *(f"<0x{byte:02X}>" for byte in range(256)), "▁", *LETTERS]
TYPES = [2, 3, 3, 3, 3, *[6] * 256, *[1] * (1 + len(LETTERS))]

Shapes = dict[str, list[int]]


def write_tiny(path: Path, kind: str, seed: int = 0) -> Path:
    """Writes a model. `kind`: "llama", "gemma3" (sliding window of 16) or "mamba" (recurrent)."""
    shapes = {"token_embd.weight": [WIDTH, len(TOKENS)], "output_norm.weight": [WIDTH]}
    for layer in range(LAYERS):
        block = _mamba() if kind == "mamba" else _attention(extra=kind == "gemma3")
        shapes |= {f"blk.{layer}.{name}": shape for name, shape in block.items()}
    chance = np.random.default_rng(seed)
    data = b"".join(_weights(chance, name, shape) for name, shape in shapes.items())
    tensors = [(name, shape, 0) for name, shape in shapes.items()]
    path.write_bytes(gguf(_values(kind), tensors, data=data))
    return path


def _attention(*, extra: bool) -> Shapes:
    shapes = {
        "attn_norm.weight": [WIDTH],
        "attn_q.weight": [WIDTH, HEADS * HEAD],
        "attn_k.weight": [WIDTH, KV_HEADS * HEAD],
        "attn_v.weight": [WIDTH, KV_HEADS * HEAD],
        "attn_output.weight": [HEADS * HEAD, WIDTH],
        "ffn_norm.weight": [WIDTH],
        "ffn_gate.weight": [WIDTH, FEED],
        "ffn_up.weight": [WIDTH, FEED],
        "ffn_down.weight": [FEED, WIDTH],
    }
    if extra:
        shapes |= {
            "attn_q_norm.weight": [HEAD],
            "attn_k_norm.weight": [HEAD],
            "post_attention_norm.weight": [WIDTH],
            "post_ffw_norm.weight": [WIDTH],
        }
    return shapes


def _mamba() -> Shapes:
    inner = 2 * WIDTH
    return {
        "attn_norm.weight": [WIDTH],
        "ssm_in.weight": [WIDTH, 2 * inner],
        "ssm_conv1d.weight": [CONV, inner],
        "ssm_conv1d.bias": [inner],
        "ssm_x.weight": [inner, RANK + 2 * STATE],
        "ssm_dt.weight": [RANK, inner],
        "ssm_dt.bias": [inner],
        "ssm_a": [STATE, inner],
        "ssm_d": [inner],
        "ssm_out.weight": [inner, WIDTH],
    }


def _weights(chance: np.random.Generator, name: str, shape: list[int]) -> bytes:
    if "norm" in name:
        values = np.ones(shape)
    elif name.endswith("ssm_a"):
        values = -np.abs(chance.normal(size=shape))
    else:
        values = chance.normal(size=shape) / math.sqrt(shape[0])
    raw = values.astype(np.float32).tobytes()
    return raw + b"\0" * (-len(raw) % 32)


def _values(kind: str) -> dict[str, object]:
    values: dict[str, object] = {
        "general.architecture": kind,
        f"{kind}.block_count": LAYERS,
        f"{kind}.context_length": 2048,
        f"{kind}.embedding_length": WIDTH,
        f"{kind}.feed_forward_length": FEED,
        f"{kind}.attention.head_count": HEADS,
        f"{kind}.attention.layer_norm_rms_epsilon": 1e-5,
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.tokens": TOKENS,
        "tokenizer.ggml.scores": [0.0] * len(TOKENS),
        "tokenizer.ggml.token_type": TYPES,
        "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.eos_token_id": 2,
        "tokenizer.ggml.add_bos_token": True,
        "tokenizer.chat_template": CHAT_TEMPLATE,
    }
    if kind == "mamba":
        return values | {
            "mamba.feed_forward_length": 0,
            "mamba.attention.head_count": 0,
            "mamba.ssm.conv_kernel": CONV,
            "mamba.ssm.inner_size": 2 * WIDTH,
            "mamba.ssm.state_size": STATE,
            "mamba.ssm.time_step_rank": RANK,
        }
    values |= {
        f"{kind}.attention.head_count_kv": KV_HEADS,
        f"{kind}.attention.key_length": HEAD,
        f"{kind}.attention.value_length": HEAD,
        f"{kind}.rope.dimension_count": HEAD,
        f"{kind}.rope.freq_base": 10000.0,
    }
    return values | ({"gemma3.attention.sliding_window": 16} if kind == "gemma3" else {})
