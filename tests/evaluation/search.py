"""Passages found, measured: the library's own search over questions with known passages.

    python -m tests.evaluation.search [--sets cuad,hand] [--limit 100] [--plain] [--halves]

The documents are kept in build/evaluation/library between runs, so only what changed is embedded.
`--plain` measures plain set-ups with the same embedder beside it; `--halves` splits each set by
document into the half that was tuned on and the half that was not.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from rag.embedding import load_embedder
from rag.library import Library
from rag.protocols import Embedder
from rag.types import IngestResult
from tests.evaluation.plain import plain_setups
from tests.evaluation.questions import ROOT, Asked, load
from tests.evaluation.report import FOLDER, report
from tests.evaluation.scoring import Tally, holds, letters

K = 5
MODEL = ROOT / "build" / "models" / "all-MiniLM-L6-v2"


def ingest(library: Library, paths: Sequence[Path]) -> dict[Path, str]:
    """Adds the documents; returns the name of each that is ready."""
    names: dict[Path, str] = {}
    for event in library.ingest(paths):
        if isinstance(event, IngestResult):
            if event.status in ("ready", "unchanged"):
                names[Path(event.path)] = event.document
            else:
                print(f"not ready: {event.path}: {event.error}")
    return names


def score(library: Library, asked: Sequence[Asked], halves: bool = False) -> dict[str, Tally]:
    """Searches for each question in its own document; one tally a set."""
    names = ingest(library, sorted({row.document for row in asked}))
    tallies: dict[str, Tally] = defaultdict(Tally)
    limit = library.embedder.limit
    for row in asked:
        if row.document not in names or not row.answerable or not row.evidence:
            continue
        begun = time.perf_counter()
        hits = library.search(row.question, [names[row.document]], K)
        took = 1000 * (time.perf_counter() - begun)
        assert all(library.embedder.count_tokens(hit.chunk.text) <= limit for hit in hits)
        texts = [letters(hit.chunk.text) for hit in hits]
        found = any(holds(text, evidence) for text in texts for evidence in row.evidence)
        for label in [row.set, *([f"{row.set} half {row.half}"] if halves else [])]:
            tallies[label].passage.append(found)
            tallies[label].milliseconds.append(took)
            if row.pages and row.document.suffix.lower() == ".pdf":
                seen = {page for hit in hits for page in hit.chunk.pages}
                tallies[label].page.append(bool(seen & row.pages))
    return dict(sorted(tallies.items()))


def measure(
    sets: Sequence[str] = (), limit: int = 0, halves: bool = False, plain: bool = False
) -> str:
    """Runs the evaluation and returns its report."""
    asked = load(sets, limit)
    embedder: Embedder = load_embedder(MODEL)
    library = Library(FOLDER / "library", embedder)
    try:
        tallies = score(library, asked, halves)
    finally:
        library.close()
    if plain:
        for label, tally in plain_setups(asked, embedder).items():
            tallies[label] = tally
    name = "search" if not sets and not limit else "search-part"
    return report(name, {label: tally.row() for label, tally in tallies.items()})


def main() -> None:
    parser = argparse.ArgumentParser(description="Passages found, measured.")
    parser.add_argument("--sets", default="", help="comma-separated; all if left out")
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--halves", action="store_true")
    parser.add_argument("--plain", action="store_true", help="measure plain set-ups too")
    args = parser.parse_args()
    sets = [name for name in args.sets.split(",") if name]
    print(measure(sets, args.limit, args.halves, args.plain))


if __name__ == "__main__":
    main()
