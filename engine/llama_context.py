"""A llama.cpp context with one cache for all sequences, and the types of its keys and values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import psutil

from engine.errors import EngineError, InvalidRequest
from engine.llama_library import last_errors
from engine.llama_model import LlamaModel
from engine.model_file import ModelFile

ROUND = 256  # cells come in multiples of this


@dataclass(frozen=True, slots=True)
class KvType:
    """How keys and values are kept.

    Attributes:
        number: ggml's. elements, nbytes: of a block.
        flash: whether flash attention is used. With f16 it isn't: on a CPU it would make a prompt
            that is read in two parts differ from one read at once. The others need it.
    """

    number: int
    elements: int
    nbytes: int
    flash: bool

    @property
    def attention(self) -> str:
        """Names the kind of attention; the layout of saved states depends on it."""
        return "flash" if self.flash else "plain"

    def bytes_per_token(self, model: ModelFile) -> int:
        """Bytes of keys and values of one token in all layers."""
        return sum(model.kv_elements()) // self.elements * self.nbytes


KV_TYPES = {
    "f16": KvType(1, 1, 2, False),
    "q8_0": KvType(8, 32, 34, True),
    "q4_0": KvType(2, 32, 18, True),
}


def kv_type_of(name: str) -> KvType:
    """The type of that name. Raises InvalidRequest."""
    if name not in KV_TYPES:
        known = ", ".join(KV_TYPES)
        raise InvalidRequest(f"llama.cpp keeps keys and values as {known}, not {name}.")
    return KV_TYPES[name]


def new_context(
    library: Any, model: LlamaModel, kind: KvType, cells: int, sequences: int, batch: int
) -> Any:
    """A `llama_context` with one sequence more than asked for. Raises EngineError."""
    _check_memory(cells * kind.bytes_per_token(model.file), cells)
    params = library.llama_context_default_params()
    params.n_ctx, params.n_seq_max = cells, sequences + 1
    params.n_batch = params.n_ubatch = batch
    params.kv_unified, params.swa_full = True, True
    params.flash_attn_type = int(kind.flash)
    params.type_k = params.type_v = kind.number
    params.no_perf = True
    last_errors()
    context = library.llama_init_from_model(model.pointer, params)
    if context is None:
        reason = last_errors() or "not enough memory"
        raise EngineError(
            f"There is no memory for {cells:,} tokens ({reason}); choose a smaller window."
        )
    return context


def _check_memory(nbytes: int, cells: int) -> None:
    # llama.cpp would take its time to find this out.
    total = psutil.virtual_memory().total
    if nbytes > total:
        raise EngineError(
            f"{cells:,} tokens need {nbytes >> 20:,} MB, and the machine has {total >> 20:,} MB;"
            " choose a smaller window."
        )
