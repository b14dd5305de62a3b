"""Plain set-ups to compare with: pieces of so many characters, vectors, and BM25 beside them.

They share the program's reader and embedder and nothing else. Vectors are kept in
build/evaluation/plain between runs.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rag.parser import Parser
from rag.protocols import Embedder
from rag.raw_page import RawPage
from rag.vectors import Vectors
from tests.evaluation.questions import Asked
from tests.evaluation.report import FOLDER
from tests.evaluation.scoring import Tally, holds, letters

SETUPS = ((1000, 0, False), (512, 0, True), (1500, 300, True))
_K, _DAMPING = 5, 60


@dataclass(frozen=True, slots=True)
class Piece:
    text: str
    pages: frozenset[int]


def plain_setups(asked: Sequence[Asked], embedder: Embedder) -> dict[str, Tally]:
    """A tally for each set-up and set."""
    tallies: dict[str, Tally] = {}
    documents = {row.document: _text(row.document) for row in asked}
    for size, overlap, keywords in SETUPS:
        kind = "vectors + BM25" if keywords else "vectors"
        pieces_of = {path: cut(pages, size, overlap) for path, pages in documents.items()}
        vectors = {path: vectors_of(pieces, embedder) for path, pieces in pieces_of.items()}
        for row in asked:
            if row.answerable and row.evidence:
                hits = _search(
                    row.question, pieces_of[row.document], vectors[row.document], embedder, keywords
                )
                tally = tallies.setdefault(f"{row.set}: {size}/{overlap} {kind}", Tally())
                texts = [letters(hit.text) for hit in hits]
                tally.passage.append(any(holds(t, e) for t in texts for e in row.evidence))
                if row.pages and row.document.suffix.lower() == ".pdf":
                    tally.page.append(any(hit.pages & row.pages for hit in hits))
    return tallies


def _text(path: Path) -> list[RawPage]:
    return [page for page in Parser().read(path) if isinstance(page, RawPage)]


def cut(pages: Sequence[RawPage], size: int, overlap: int) -> list[Piece]:
    text = "\n".join(page.text for page in pages)
    starts = np.cumsum([0, *(len(page.text) + 1 for page in pages)])
    pieces = []
    for at in range(0, len(text), size - overlap):
        inside = [
            page.number
            for page, start, stop in zip(pages, starts, starts[1:], strict=False)
            if start < at + size and stop > at
        ]
        if text[at : at + size].strip():
            pieces.append(Piece(text[at : at + size], frozenset(inside)))
    return pieces


def vectors_of(pieces: Sequence[Piece], embedder: Embedder) -> Vectors:
    texts = [piece.text for piece in pieces]
    name = hashlib.sha256("\0".join([embedder.name, *texts]).encode()).hexdigest()[:24]
    path = FOLDER / "plain" / f"{name}.npy"
    if path.exists():
        return np.load(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    vectors = embedder.embed(texts)
    np.save(path, vectors)
    return vectors


def _search(
    question: str, pieces: Sequence[Piece], vectors: Vectors, embedder: Embedder, keywords: bool
) -> list[Piece]:
    rankings = [np.argsort(-(vectors @ embedder.embed([question])[0]))]
    if keywords:
        rankings.append(np.argsort(-_bm25(question, pieces), kind="stable"))
    fused: dict[int, float] = defaultdict(float)
    for ranking in rankings:
        for place, number in enumerate(ranking):
            fused[int(number)] += 1 / (_DAMPING + place)
    return [pieces[i] for i in sorted(fused, key=lambda i: -fused[i])[:_K]]


def _bm25(question: str, pieces: Sequence[Piece]) -> np.ndarray:
    counts = [Counter(_words(piece.text)) for piece in pieces]
    mean_length = sum(c.total() for c in counts) / len(counts)
    scores = np.zeros(len(pieces))
    for word in set(_words(question)):
        holding = sum(word in c for c in counts)
        rarity = math.log(1 + (len(pieces) - holding + 0.5) / (holding + 0.5))
        for place, c in enumerate(counts):
            if word in c:
                damping = 1.2 * (0.25 + 0.75 * c.total() / mean_length)
                scores[place] += rarity * c[word] * 2.2 / (c[word] + damping)
    return scores


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+|[\u4e00-\u9fff]", text.lower())
