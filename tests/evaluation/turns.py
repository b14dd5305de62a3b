"""Conversations with known answers: right answers against tokens read, beside plain set-ups.

    python -m tests.evaluation.turns [--chart assets/charts/answers.png]

The plain set-ups put the best 1,000-character passages (vectors, the same embedder) into the system
message of each turn, keep the conversation, and let the same model write freely; llama-cpp-python's
own prefix match saves them what it can. Each conversation is held in every way before the next, so
that a machine whose speed changes slows all of them down. An answer is right if one of the known
answers stands in it, by letters and digits.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from typing import Any

from desktop_app.asking import Asker
from desktop_app.composition import Composition
from desktop_app.settings import Settings
from rag.embedding import load_embedder
from rag.library import Library
from rag.parser import Parser
from rag.protocols import Embedder
from rag.raw_page import RawPage
from rag.types import Answer, AnswerDelta, AnswerDraft, AnswerEvent, EvidenceFound, Hit
from tests.benchmarks.peers import chatml, common_prefix, open_llama
from tests.evaluation.plain import Piece, cut, vectors_of
from tests.evaluation.questions import ROOT, files
from tests.evaluation.report import Table, report
from tests.evaluation.scoring import letters
from tests.evaluation.search import ingest

MODEL = ROOT / "build" / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf"
EMBEDDER = ROOT / "build" / "models" / "all-MiniLM-L6-v2"
PASSAGES = (1, 3)
FIRST = 5
READ = "tokens read a follow-up"
SYSTEM = (
    "You answer questions about contracts. Use only the passages given. Answer in one or two short "
    "sentences."
)
_TOKENS = 72
_CHARACTERS = 1000


@dataclass(frozen=True, slots=True)
class Conversation:
    """A document and questions about it, each with the answers that count as right."""

    id: str
    document: Path
    questions: tuple[str, ...]
    answers: tuple[tuple[str, ...], ...]
    pages: tuple[frozenset[int], ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One turn. Milliseconds from the question to the passages, the quotation, the first word.

    `page` says whether a right page is cited, `found` whether one is among the first five passages.
    """

    right: bool
    page: bool | None
    read: int
    first_ms: float
    evidence_ms: float | None = None
    quotation_ms: float | None = None
    follow_up: bool = False
    found: bool | None = None


def conversations() -> list[Conversation]:
    """The samples' conversations, and the corpus's if it is there."""
    found = []
    for path, root in files():
        with path.open(encoding="utf-8") as lines:
            rows: list[dict[str, Any]] = [json.loads(line) for line in lines]
        for row in rows:
            if row["type"] == "multiturn":
                turns = row["turns"]
                found.append(
                    Conversation(
                        row["id"],
                        root / row["doc_path"],
                        tuple(turn["question"] for turn in turns),
                        tuple(tuple(turn["answers"]) for turn in turns),
                        tuple(frozenset(turn.get("pages") or ()) for turn in turns),
                    )
                )
    return found


def ours(one: Conversation, folder: Path, name: str) -> list[Outcome]:
    """A conversation as a user holds it with Clausebook, about the document `name`."""
    composition = Composition(folder, Settings(), model=str(MODEL))
    asker = Asker(composition)
    _ = composition.engine.info, composition.embedder  # loaded, as they are while a user types
    outcomes = []
    try:
        for turn, question in enumerate(one.questions):
            begun = time.perf_counter()
            at: dict[type, float] = {}
            answer: AnswerEvent | None = None
            hits: tuple[Hit, ...] = ()
            for event in asker.ask(question, conversation=one.id, documents=(name,)):
                at.setdefault(type(event), 1000 * (time.perf_counter() - begun))
                answer = event
                if isinstance(event, EvidenceFound):
                    hits = event.hits
            assert isinstance(answer, Answer)
            pages = {c.page for c in answer.citations}
            read = answer.stats.get("prefilled_tokens", 0)
            assert isinstance(read, int)
            outcomes.append(
                Outcome(
                    _right(answer.text, one.answers[turn]),
                    bool(pages & one.pages[turn]) if one.pages[turn] else None,
                    read,
                    at.get(AnswerDraft, at[Answer]),
                    at.get(EvidenceFound),
                    at.get(AnswerDelta),
                    turn > 0,
                    _among(hits[:FIRST], one.pages[turn]),
                )
            )
    finally:
        asker.close()
        composition.close()
    return outcomes


def plain(one: Conversation, passages: int, embedder: Embedder) -> list[Outcome]:
    """The same with the passages of each turn in the system message."""
    llama = open_llama(MODEL, os.cpu_count() or 1)
    pieces = cut(_pages(one.document), _CHARACTERS, 0)
    vectors = vectors_of(pieces, embedder)
    history: list[tuple[str, str]] = []
    outcomes = []
    for turn, question in enumerate(one.questions):
        begun = time.perf_counter()
        scores = vectors @ embedder.embed([question])[0]
        best = [pieces[int(i)] for i in (-scores).argsort()[:passages]]
        ids = llama.tokenize(_prompt(best, history, question).encode(), False, special=True)
        reused = common_prefix(llama._input_ids[: llama.n_tokens].tolist(), ids)
        first, text = 0.0, b""
        for count, token in enumerate(llama.generate(ids, temp=0.0, repeat_penalty=1.0)):
            first = first or 1000 * (time.perf_counter() - begun)
            if token == llama.token_eos() or count == _TOKENS:
                break
            text += llama.detokenize([token])
        answer = text.decode("utf-8", "replace").strip()
        history.append((question, answer))
        pages = frozenset().union(*(piece.pages for piece in best))
        outcomes.append(
            Outcome(
                _right(answer, one.answers[turn]),
                bool(pages & one.pages[turn]) if one.pages[turn] else None,
                len(ids) - reused,
                first,
                follow_up=turn > 0,
            )
        )
    llama.close()
    return outcomes


def measure(chart: Path | None = None) -> str:
    """Holds each conversation in every way, one after the other; a table, and draws the chart."""
    asked, embedder = conversations(), load_embedder(EMBEDDER)
    runs: dict[str, list[Outcome]] = {"Clausebook": []}
    with tempfile.TemporaryDirectory() as folder:
        library = Library(Path(folder), embedder)
        names = ingest(library, sorted({one.document for one in asked}))
        library.close()
        for one in asked:
            runs["Clausebook"] += ours(one, Path(folder), names[one.document])
            for passages in PASSAGES:
                name = f"{passages} passage{'s' * (passages > 1)} in the system message"
                runs.setdefault(name, []).extend(plain(one, passages, embedder))
    table = {name: summary(rows) for name, rows in runs.items()}
    if chart is not None:
        draw(table, chart)
    return report("turns", table)


def summary(rows: Sequence[Outcome]) -> dict[str, float | int | None]:
    """The figures of one way of holding the conversations."""
    later = [row for row in rows if row.follow_up]
    paged = [row.page for row in rows if row.page is not None]
    found = [row.found for row in later if row.found is not None]
    return {
        "turns": len(rows),
        "right": sum(row.right for row in rows),
        "right page": round(mean(paged), 3) if paged else None,
        "page found, follow-ups": round(mean(found), 3) if found else None,
        READ: round(mean(row.read for row in later), 1),
        "first word ms": round(mean(row.first_ms for row in later)),
        "evidence ms, median": _median([row.evidence_ms for row in rows]),
        "quotation ms, median": _median([row.quotation_ms for row in rows]),
    }


def draw(table: Table, path: Path) -> None:
    """Right answers against tokens read for a follow-up, as PNG."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8.4, 3.6), dpi=150)
    turns = max(int(row["turns"] or 0) for row in table.values())
    widest = max(float(row[READ] or 0) for row in table.values())
    for name, row in table.items():
        colour = "#1b6e53" if name == "Clausebook" else "#b0413e"
        place = (float(row[READ] or 0), float(row["right"] or 0))
        axes.scatter(*zip(place, strict=True), s=70, color=colour, zorder=3)
        axes.annotate(name, place, xytext=(9, -3), textcoords="offset points", fontsize=8.5)
    axes.set_xlabel("tokens read for a follow-up, mean")
    axes.set_ylabel(f"right answers of {turns}")
    axes.set_xlim(0, 1.45 * widest)
    axes.set_ylim(0, turns)
    axes.grid(alpha=0.3)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
    pyplot.close(figure)


def _pages(path: Path) -> list[RawPage]:
    return [page for page in Parser().read(path) if isinstance(page, RawPage)]


def _among(hits: Sequence[Hit], pages: frozenset[int]) -> bool | None:
    return any(pages & set(hit.chunk.pages) for hit in hits) if pages and hits else None


def _right(answer: str, known: Sequence[str]) -> bool:
    said = letters(answer)
    return any(letters(one) in said for one in known)


def _prompt(best: Sequence[Piece], history: Sequence[tuple[str, str]], question: str) -> str:
    passages = "\n\n".join(piece.text for piece in best)
    parts = [chatml("system", f"{SYSTEM}\n\n{passages}")]
    for earlier, answer in history:
        parts += [chatml("user", earlier), chatml("assistant", answer)]
    return "".join([*parts, chatml("user", question), "<|im_start|>assistant\n"])


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(median(known), 1) if known else None


def main() -> None:
    parser = argparse.ArgumentParser(description="Conversations, measured.")
    parser.add_argument("--chart", type=Path, help="write the chart as PNG")
    print(measure(parser.parse_args().chart))


if __name__ == "__main__":
    main()
