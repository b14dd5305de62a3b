"""Fits the weights of `rag.honesty` on questions whose answer is known to be there or not.

    python tests/evaluation/calibrate.py QUESTIONS.jsonl --models DIR --library DIR

Prints, for weights fitted on half of the documents and tried on the other, how many unanswerable
questions are recognised where one in ten answerable ones is refused wrongly; then the weights over
all. The questions file has the fields of the evaluation corpus; documents lie beside its folder.
A question for a document's title is always answered, and is left out of the fit.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import astuple
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rag import honesty, quotes
from rag.concepts import expand
from rag.embedding import load_embedder
from rag.library import Library
from rag.types import IngestResult

Array = NDArray[np.float64]


def features(library: Library, rows: list[dict[str, object]], root: Path) -> Array:
    """One row of signs per question, shape (questions, signs)."""
    paths = sorted({root / str(r["doc_path"]) for r in rows})
    names = {
        Path(e.path).name: e.document for e in library.ingest(paths) if isinstance(e, IngestResult)
    }
    out = []
    for row in rows:
        question = str(row["question"])
        hits = library.search(question, [names[Path(str(row["doc_path"])).name]], k=5)
        ranked = quotes.rank(question, hits, library.embedder)
        out.append(astuple(honesty.signs(question, hits, ranked)))
    return np.array(out)


def fit(x: Array, y: Array, ridge: float = 0.5, steps: int = 4000) -> Array:
    """Logistic regression with balanced classes; the last weight is the bias."""
    x = np.hstack([x, np.ones((len(x), 1))])
    weight = np.where(y > 0, 0.5 / max(1, y.sum()), 0.5 / max(1, (1 - y).sum()))
    w = np.zeros(x.shape[1])
    for _ in range(steps):
        p = 1 / (1 + np.exp(-x @ w))
        w -= 1.0 * (x.T @ (weight * (p - y)) + ridge / len(y) * np.append(w[:-1], 0))
    return w


def report(name: str, score: Array, y: Array, refuse: float = 0.1) -> float:
    """Prints the rates where `refuse` of the answerable are refused; returns that score."""
    threshold = float(np.quantile(score[y > 0], refuse))
    recognised = float((score[y == 0] < threshold).mean())
    print(f"{name}: unanswerable recognised {recognised:.2f} at {refuse:.0%} wrong refusals")
    return threshold


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--models", type=Path, required=True)
    parser.add_argument("--library", type=Path, required=True)
    parser.add_argument("--sets", default="cuad,hand")
    options = parser.parse_args()
    wanted = set(options.sets.split(","))
    rows = [json.loads(line) for line in options.questions.open(encoding="utf-8")]
    rows = [r for r in rows if r["set"] in wanted and r["type"] == "single"]
    library = Library(options.library, load_embedder(options.models / "all-MiniLM-L6-v2"))
    x = features(library, rows, options.questions.resolve().parent.parent)
    y = np.array([float(bool(r["answerable"])) for r in rows])
    documents = sorted({str(r["doc_path"]) for r in rows})
    half = np.array([documents.index(str(r["doc_path"])) % 2 for r in rows])
    titles = np.array(["Title" in expand(str(r["question"])).names[:1] for r in rows])
    held = np.empty(len(rows))
    for part in (0, 1):
        tuned = (half != part) & ~titles
        w = fit(x[tuned], y[tuned])
        held[half == part] = x[half == part] @ w[:-1] + w[-1]
    held[titles] = np.inf
    print(f"{len(rows)} questions, {int((1 - y).sum())} of them unanswerable")
    report("held out", held, y)
    w = fit(x[~titles], y[~titles])
    threshold = report("all", np.where(titles, np.inf, x @ w[:-1] + w[-1]), y)
    print("weights", np.round(w[:-1], 2).tolist(), "bias", round(w[-1] - threshold, 2))
    for name, column in zip(honesty.Signs.__slots__, x.T, strict=True):
        report(f"  {name} alone", column, y)
    library.close()


if __name__ == "__main__":
    main()
