"""The torch decoder's speed on this processor, beside transformers with its own cache.

Both compute the same weights in the same type in the same process, in turns, so that the ratios
hold on a busy machine too; the absolute figures don't. Prints one JSON object.

    python tests/benchmarks/bench_torch.py build/models/SmolLM2-135M-Instruct.Q4_1.gguf
    python tests/benchmarks/bench_torch.py --shape 1.5b --contexts 256 4096
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from engine.fake_tokenizer import FakeTokenizer
from engine.torch_backend import CacheOptions, TorchBackend
from engine.torch_device import compute_type
from engine.torch_load import load_decoder

Step = Callable[[], None]

# Random weights in the shapes of Qwen2.5, https://arxiv.org/abs/2412.15115, table 1
SHAPES = {
    "0.5b": {
        "hidden_size": 896,
        "intermediate_size": 4864,
        "num_hidden_layers": 24,
        "num_attention_heads": 14,
        "num_key_value_heads": 2,
    },
    "1.5b": {
        "hidden_size": 1536,
        "intermediate_size": 8960,
        "num_hidden_layers": 28,
        "num_attention_heads": 12,
        "num_key_value_heads": 2,
    },
}


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("model", nargs="?", type=Path, help="a GGUF file, or a folder of weights")
    source.add_argument("--shape", choices=SHAPES, help="random weights instead")
    parser.add_argument("--dtype", choices=("bfloat16", "float32"), help="default: the CPU's")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--contexts", type=int, nargs="+", default=[256, 1024, 4096])
    parser.add_argument("--rounds", type=int, default=15, help="tokens decoded at each context")
    parser.add_argument("--no-transformers", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.set_grad_enabled(False)
    dtype = getattr(torch, options.dtype) if options.dtype else compute_type(torch.device("cpu"))
    with tempfile.TemporaryDirectory() as folder:
        if options.shape:
            options.model = Path(folder) / options.shape
            write_random(options.shape, options.model)
        print(json.dumps(measure(options, dtype), indent=2))


def write_random(shape: str, folder: Path) -> None:
    """A folder with random bf16 weights of a shape."""
    from transformers import Qwen2Config, Qwen2ForCausalLM

    torch.manual_seed(0)
    config = Qwen2Config(vocab_size=151936, tie_word_embeddings=True, **SHAPES[shape])
    Qwen2ForCausalLM(config).bfloat16().save_pretrained(folder)


def measure(options: argparse.Namespace, dtype: torch.dtype) -> dict[str, Any]:
    """Prefill and decode at each context, and the ratios."""
    ours = Ours(options.model, dtype, max(options.contexts) + options.rounds + 64)
    rivals: list[Any] = [ours]
    if not options.no_transformers:
        rivals.append(Transformers(options.model, dtype))
    result: dict[str, Any] = {
        "model": options.model.name,
        "dtype": str(dtype).removeprefix("torch."),
        "threads": options.threads,
        "torch": torch.__version__,
    }
    for rival in rivals:
        result[rival.name] = {"prefill_tokens_per_second": {}, "decode_ms": {}}
    prompt = np.random.default_rng(0).integers(0, 40000, max(options.contexts)).tolist()
    _in_turns([lambda rival=rival: rival.read(prompt[:256]) for rival in rivals], 1)  # warm up
    for context in sorted(options.contexts):
        times = _in_turns([lambda r=rival, n=context: r.read(prompt[:n]) for rival in rivals], 5)
        for rival, seconds in zip(rivals, times, strict=True):
            result[rival.name]["prefill_tokens_per_second"][context] = {
                "best": round(context / min(seconds), 1),
                "median": round(context / statistics.median(seconds), 1),
            }
        times = _in_turns([rival.decode for rival in rivals], options.rounds)
        for rival, seconds in zip(rivals, times, strict=True):
            result[rival.name]["decode_ms"][context] = {
                "best": round(min(seconds) * 1e3, 2),
                "median": round(statistics.median(seconds) * 1e3, 2),
            }
    result["growth"] = _growth(ours, prompt, options)
    if not options.no_transformers:
        result["ratios"] = _ratios(result)
    return result


def _in_turns(steps: list[Step], rounds: int) -> list[list[float]]:
    """Seconds of each step, measured one after the other, `rounds` times."""
    times: list[list[float]] = [[] for _ in steps]
    for _ in range(rounds):
        for step, seconds in zip(steps, times, strict=True):
            begin = time.perf_counter()
            step()
            seconds.append(time.perf_counter() - begin)
    return times


def _growth(ours: Ours, prompt: list[int], options: argparse.Namespace) -> dict[str, Any]:
    """A token's time at the longest context over that at the shortest, measured in turns."""
    short, long = min(options.contexts), max(options.contexts)
    ours.read([7])
    places = [ours.place(prompt[:short]), ours.place(prompt[:long])]
    best: list[list[float]] = [[], []]
    for _ in range(3):
        for place, seconds in zip(places, best, strict=True):
            ours.decode_at(place)  # the change of sequence isn't part of a token's time
            seconds += [_timed(lambda place=place: ours.decode_at(place)) for _ in range(8)]
    return {
        f"best_{long}_over_{short}": round(min(best[1]) / min(best[0]), 3),
        f"median_{long}_over_{short}": round(
            statistics.median(best[1]) / statistics.median(best[0]), 3
        ),
    }


def _timed(step: Step) -> float:
    begin = time.perf_counter()
    step()
    return time.perf_counter() - begin


def _ratios(result: dict[str, Any]) -> dict[str, Any]:
    ours, theirs = result["ours"], result["transformers"]
    kinds = ("best", "median")
    return {
        "prefill": {
            kind: {
                context: round(speeds[kind] / theirs["prefill_tokens_per_second"][context][kind], 3)
                for context, speeds in ours["prefill_tokens_per_second"].items()
            }
            for kind in kinds
        },
        "decode": {
            kind: {
                context: round(theirs["decode_ms"][context][kind] / times[kind], 3)
                for context, times in ours["decode_ms"].items()
            }
            for kind in kinds
        },
    }


class Ours:
    """This project's decoder behind its backend."""

    name = "ours"

    def __init__(self, model: Path, dtype: torch.dtype, cells: int) -> None:
        options = CacheOptions(cells=cells + 1024, batch=512)
        decoder = load_decoder(model, dtype, torch.device("cpu"))
        self._backend = TorchBackend(decoder, FakeTokenizer(), options, fingerprint="")
        self._sequence = self._backend.new_sequence()

    def read(self, prompt: list[int]) -> None:
        """A prompt into an empty sequence."""
        self._backend.free_sequence(self._sequence)
        self._sequence = self.place(prompt)

    def place(self, prompt: list[int]) -> int:
        """A prompt into a new sequence."""
        sequence = self._backend.new_sequence()
        for start in range(0, len(prompt), self._backend.batch):
            self._backend.forward(sequence, prompt[start : start + self._backend.batch], start)
        return sequence

    def decode(self) -> None:
        """One more token."""
        self.decode_at(self._sequence)

    def decode_at(self, sequence: int) -> None:
        """One more token of a sequence."""
        self._backend.forward(sequence, [7], self._backend.positions(sequence)[-1][1])


class Transformers:
    """The reference, with its dynamic cache."""

    name = "transformers"

    def __init__(self, model: Path, dtype: torch.dtype) -> None:
        from transformers import AutoModelForCausalLM, GgufConfig

        settings: dict[str, Any] = {"dtype": dtype}
        if model.is_file():
            settings |= {
                "gguf_file": model.name,
                "quantization_config": GgufConfig(dequantize=True),
            }
            model = model.parent
        self._model = AutoModelForCausalLM.from_pretrained(model, **settings).eval()
        self._cache: Any = None

    def read(self, prompt: list[int]) -> None:
        """A prompt in one pass, logits of the last token only."""
        self._cache = None
        self._forward(prompt)

    def decode(self) -> None:
        """One more token."""
        self._forward([7])

    def _forward(self, tokens: list[int]) -> None:
        output = self._model(
            torch.tensor([tokens]),
            past_key_values=self._cache,
            use_cache=True,
            logits_to_keep=1,
        )
        self._cache = output.past_key_values


if __name__ == "__main__":
    main()
