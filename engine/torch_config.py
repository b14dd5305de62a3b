"""What a decoder is made of: one record for every supported family.

It knows numbers only. Where they are read from (GGUF metadata, a Hugging Face config.json) is in
`torch_config_gguf` and `torch_config_hf`; what is computed with them is in `torch_model`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from engine.errors import UnsupportedModel

ARCHITECTURES = ("llama", "mistral", "qwen2", "qwen3", "gemma3", "phi3")

Activation = Literal["silu", "gelu_tanh"]
Scaling = Literal["none", "linear", "llama3", "factors"]


@dataclass(frozen=True, slots=True)
class RopeSpec:
    """One set of rotary embeddings.

    Attributes:
        theta: the base.
        dimension: how many of a head's channels are rotated; the others pass through.
        scaling: `linear` divides every frequency by `factor`; `llama3` by a smooth function of
            the wavelength (Llama 3.1); `factors` by one number a frequency (LongRoPE and GGUF's
            `rope_freqs`).
        factors: those numbers, `dimension / 2` of them.
        attention_factor: multiplies cosine and sine (LongRoPE).
        long: the factors are those for a window beyond the original context (LongRoPE).
    """

    theta: float
    dimension: int
    scaling: Scaling = "none"
    factor: float = 1.0
    low_frequency_factor: float = 1.0
    high_frequency_factor: float = 4.0
    original_context: int = 0
    factors: tuple[float, ...] = ()
    attention_factor: float = 1.0
    long: bool = False

    def __post_init__(self) -> None:
        if self.theta <= 0:
            raise ValueError(f"theta must be positive, not {self.theta}")
        if self.dimension < 2 or self.dimension % 2:
            raise ValueError(f"dimension must be even and positive, not {self.dimension}")
        if self.scaling == "factors" and len(self.factors) != self.dimension // 2:
            raise ValueError(
                f"{self.dimension // 2} frequency factors are needed, not {len(self.factors)}"
            )


@dataclass(frozen=True, slots=True)
class DecoderConfig:
    """Sizes and switches of a decoder.

    Attributes:
        local_layers: for each layer, whether it sees only `sliding_window` positions back.
        local_rope: the rotary embeddings of those layers, where they have their own (Gemma 3).
        query_key_norm: queries and keys are normalised head by head (Qwen 3, Gemma 3).
        post_norms: attention and feed-forward outputs are normalised too (Gemma 3).
        attention_scale: multiplies the dot products.
        logit_softcap: c · tanh(logits / c) where positive.
        tied: the output matrix is the embedding matrix.
    """

    name: str
    architecture: str
    vocabulary: int
    hidden: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    intermediate: int
    norm_epsilon: float
    trained_context: int
    rope: RopeSpec
    local_rope: RopeSpec | None = None
    sliding_window: int = 0
    local_layers: tuple[bool, ...] = ()
    activation: Activation = "silu"
    query_key_norm: bool = False
    post_norms: bool = False
    qkv_bias: bool = False
    output_bias: bool = False
    embedding_scale: float = 1.0
    attention_scale: float = 0.0
    logit_softcap: float = 0.0
    tied: bool = False

    def __post_init__(self) -> None:
        if self.heads % self.kv_heads:
            raise ValueError(f"{self.heads} heads can't share {self.kv_heads} key heads evenly")
        if self.local_layers and len(self.local_layers) != self.layers:
            raise ValueError(
                f"{len(self.local_layers)} layer types are given for {self.layers} layers"
            )
        if any(self.local_layers) and self.sliding_window < 1:
            raise ValueError(f"sliding_window must be positive, not {self.sliding_window}")
        if self.rope.dimension > self.head_dim:
            raise ValueError(
                f"{self.rope.dimension} channels can't be rotated in a head of {self.head_dim}"
            )

    @property
    def scale(self) -> float:
        """Factor of the dot products; by default one over the root of the head size."""
        return float(self.attention_scale or self.head_dim**-0.5)

    @property
    def qkv_rows(self) -> int:
        """Rows of the joined query, key and value matrix."""
        return (self.heads + 2 * self.kv_heads) * self.head_dim

    @property
    def matrix_numbers(self) -> int:
        """Numbers in all matrices that states are multiplied with."""
        layer = self.qkv_rows + self.heads * self.head_dim + 3 * self.intermediate
        return (self.layers * layer + self.vocabulary) * self.hidden

    @property
    def long_context(self) -> bool:
        """Whether LongRoPE's long factors are in use; keys of one choice don't fit the other."""
        return self.rope.long

    def is_local(self, layer: int) -> bool:
        """Whether `layer` sees only the sliding window."""
        return bool(self.local_layers) and self.local_layers[layer]


def unsupported(architecture: str) -> UnsupportedModel:
    """The error for a family that this decoder doesn't compute."""
    return UnsupportedModel(
        f"The architecture {architecture!r} isn't supported by the torch decoder; "
        f"choose a model of one of these: {', '.join(ARCHITECTURES)}."
    )


def unsupported_option(architecture: str, option: str, value: object) -> UnsupportedModel:
    """The error for a supported family's option that this decoder doesn't compute."""
    return UnsupportedModel(
        f"This {architecture} model wants {option} = {value!r}, which the torch decoder doesn't "
        "compute; choose another model or the llama.cpp backend."
    )
