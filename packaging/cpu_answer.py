"""One token from the default model and a recognised title, in this process; for cpu_check.sh."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pypdfium2

from engine.load import load_backend
from engine.types import EngineOptions
from rag.ocr import Recogniser, page_text

ROOT = Path(__file__).parent.parent
MODEL = ROOT / "build/models/SmolLM2-135M-Instruct.Q4_1.gguf"
TITLE = "Supply and Services Agreement"
SAMPLE = ROOT / "assets/samples/supply-agreement.pdf"


def variant() -> str:
    """The CPU library that llama.cpp chose, from this process's memory map."""
    maps = Path("/proc/self/maps").read_text(encoding="utf8")
    names = {line.rsplit("/", 1)[-1] for line in maps.splitlines() if "libggml-cpu" in line}
    return ", ".join(sorted(names)) or "unknown"


def title() -> str:
    """The first page's title, from a picture of that part of the page."""
    with pypdfium2.PdfDocument(SAMPLE) as document:
        page = document[0]
        text = page.get_textpage()
        places = text.search(TITLE)
        places.get_next()  # the head of the page names it too
        _, bottom, _, top = text.get_charbox(places.get_next()[0])
        band = (0, bottom - 12, 0, page.get_height() - top - 12)
        picture = page.render(scale=2, crop=band, rev_byteorder=True).to_numpy()[..., :3]
    return page_text(Recogniser(threads=1)(picture))


def main() -> None:
    backend = load_backend(
        EngineOptions(model=MODEL, backend="llama.cpp", window=256, batch=32, threads=1)
    )
    sequence = backend.new_sequence()
    tokens = backend.tokenizer.encode("The capital of France is")
    logits = backend.forward(sequence, tokens, 0)
    print(backend.tokenizer.piece(int(np.argmax(logits))).decode(), "by", variant())
    backend.close()
    if "--recognise" in sys.argv:
        print("recognised:", title())


if __name__ == "__main__":
    main()
