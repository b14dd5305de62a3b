"""Questions with known pages and passages: the project's own, and the corpus's if it is there."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
SAMPLES = ROOT / "assets" / "samples"
CORPUS = Path(os.environ.get("CLAUSEBOOK_CORPUS", ROOT.parent / "shared" / "corpus"))


@dataclass(frozen=True, slots=True)
class Asked:
    """A question whose right passages are known.

    Attributes:
        half: 0 or 1, by the document: what was tuned on one half is measured on the other.
    """

    id: str
    set: str
    question: str
    document: Path
    evidence: tuple[str, ...]
    pages: frozenset[int]
    answerable: bool

    @property
    def half(self) -> int:
        return hashlib.md5(self.document.name.encode(), usedforsecurity=False).digest()[0] % 2


def load(sets: Sequence[str] = (), limit: int = 0) -> list[Asked]:
    """The single questions of the sets named, or of all; `limit` takes every n-th."""
    rows = [
        asked
        for path, root in files()
        for asked in _read(path, root)
        if not sets or asked.set in sets
    ]
    step = max(1, len(rows) // limit) if limit else 1
    return rows[::step][: limit or None]


def files() -> Iterator[tuple[Path, Path]]:
    yield SAMPLES / "questions.jsonl", SAMPLES
    if (CORPUS / "qa" / "open.jsonl").exists():
        yield CORPUS / "qa" / "open.jsonl", CORPUS


def _read(path: Path, root: Path) -> Iterable[Asked]:
    with path.open(encoding="utf-8") as lines:
        rows: list[dict[str, Any]] = [json.loads(line) for line in lines]
    for row in rows:
        if row["type"] == "single":
            yield Asked(
                row["id"],
                row["set"],
                row["question"],
                root / row["doc_path"],
                tuple(row["evidence"]),
                frozenset(row.get("pages") or ()),
                row["answerable"],
            )
