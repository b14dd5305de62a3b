"""How others hold the same conversation: each peer is a generator of one row per turn.

A peer that isn't installed, or can't read the model, yields nothing and says why.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks.script import SYSTEM, ScriptTurn


@dataclass(frozen=True, slots=True)
class Row:
    """What one turn cost. Times in milliseconds."""

    turn: int
    prompt_tokens: int
    prefilled_tokens: int
    ttft_ms: float
    tokens_per_second: float


Peer = Callable[[Path, Sequence[ScriptTurn], int, int], Iterator[Row]]


class PeerMissing(Exception):
    """The peer can't take part here; the message says why."""


def llama_cpp_python(
    model: Path, script: Sequence[ScriptTurn], max_tokens: int, threads: int
) -> Iterator[Row]:
    """llama-cpp-python's `Llama` with its own prefix match; the history is sent whole."""
    yield from _llama(model, script, max_tokens, threads, in_system=False)


def passages_in_system(
    model: Path, script: Sequence[ScriptTurn], max_tokens: int, threads: int
) -> Iterator[Row]:
    """The same `Llama`, with the current passages in the system message, as several products do."""
    yield from _llama(model, script, max_tokens, threads, in_system=True)


def transformers_cache(
    model: Path, script: Sequence[ScriptTurn], max_tokens: int, threads: int
) -> Iterator[Row]:
    """Hugging Face transformers with the same weights and a DynamicCache kept between turns."""
    try:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer, DynamicCache
    except ImportError as error:
        raise PeerMissing("transformers isn't installed") from error
    torch.set_num_threads(threads)
    tokenizer = AutoTokenizer.from_pretrained(model.parent, gguf_file=model.name)
    decoder = AutoModelForCausalLM.from_pretrained(
        model.parent, gguf_file=model.name, dtype=torch.bfloat16
    ).eval()
    cache = DynamicCache()
    text = chatml("system", SYSTEM)
    for number, turn in enumerate(script, start=1):
        text += chatml("user", turn.user) + "<|im_start|>assistant\n"
        ids = tokenizer(text, return_tensors="pt", add_special_tokens=False).input_ids
        reused = cache.get_seq_length()
        begin = time.perf_counter()
        times: list[float] = []
        answer: list[int] = []
        step = ids[:, reused:]
        with torch.inference_mode():
            while len(answer) < max_tokens:
                logits = decoder(step, past_key_values=cache, use_cache=True).logits
                token = int(logits[0, -1].argmax())
                times.append(time.perf_counter())
                if token == tokenizer.eos_token_id:
                    break
                answer.append(token)
                step = torch.tensor([[token]])
        surplus = cache.get_seq_length() - ids.shape[1]
        if surplus:
            cache.crop(-surplus)  # the answer is tokenised again with the next turn
        text += tokenizer.decode(answer, skip_special_tokens=True) + "<|im_end|>\n"
        yield Row(
            number, ids.shape[1], ids.shape[1] - reused, 1000 * (times[0] - begin), _speed(times)
        )


PEERS: dict[str, Peer] = {
    "llama-cpp-python Llama, prefix match": llama_cpp_python,
    "llama-cpp-python Llama, passages in the system message": passages_in_system,
    "transformers, DynamicCache": transformers_cache,
}


def open_llama(model: Path, threads: int) -> Any:
    """llama-cpp-python's `Llama` with 8,192 tokens of context. Raises PeerMissing."""
    try:
        from llama_cpp import Llama
    except ImportError as error:
        raise PeerMissing("llama-cpp-python isn't installed") from error
    return Llama(
        str(model), n_ctx=8192, n_batch=128, n_threads=threads, n_threads_batch=threads,
        verbose=False,
    )  # fmt: skip


def _llama(
    model: Path, script: Sequence[ScriptTurn], max_tokens: int, threads: int, *, in_system: bool
) -> Iterator[Row]:
    llama = open_llama(model, threads)
    history: list[dict[str, str]] = []
    for number, turn in enumerate(script, start=1):
        system = f"{SYSTEM}\n\n{turn.passages}" if in_system else SYSTEM
        history.append({"role": "user", "content": turn.question if in_system else turn.user})
        text = chatml("system", system)
        text += "".join(chatml(one["role"], one["content"]) for one in history)
        ids = llama.tokenize((text + "<|im_start|>assistant\n").encode(), False, special=True)
        reused = common_prefix(llama._input_ids[: llama.n_tokens].tolist(), ids)
        begin = time.perf_counter()
        times: list[float] = []
        answer: list[int] = []
        for token in llama.generate(ids, temp=0.0, repeat_penalty=1.0):
            times.append(time.perf_counter())
            if token == llama.token_eos() or len(answer) == max_tokens:
                break
            answer.append(token)
        history.append({"role": "assistant", "content": llama.detokenize(answer).decode()})
        yield Row(number, len(ids), len(ids) - reused, 1000 * (times[0] - begin), _speed(times))
    llama.close()


def chatml(role: str, text: str) -> str:
    """A message as the default model's template writes it."""
    return f"<|im_start|>{role}\n{text}<|im_end|>\n"


def common_prefix(one: Sequence[Any], other: Sequence[Any]) -> int:
    """How many items two sequences begin with in common."""
    count = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        count += 1
    return count


def _speed(times: Sequence[float]) -> float:
    return (len(times) - 1) / (times[-1] - times[0]) if len(times) > 1 else 0.0
