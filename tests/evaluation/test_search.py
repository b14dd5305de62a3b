"""A small fixed part of the evaluation, as a gate: retrieval must not get worse."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag.embedding import load_embedder
from rag.library import Library
from tests.evaluation.questions import Asked, load
from tests.evaluation.report import layout, report
from tests.evaluation.scoring import Tally, holds, letters
from tests.evaluation.search import score

SMALL = ("privacy_qa/Groupon.txt", "flotek_supply.pdf", "commonpaper_cloud_service_agreement.pdf")


def measured(asked: list[Asked], folder: Path, model: Path) -> dict[str, Tally]:
    library = Library(folder, load_embedder(model))
    try:
        return score(library, asked)
    finally:
        library.close()


@pytest.mark.model
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_samples_questions_find_their_passages(tmp_path: Path, embedder_folder: Path) -> None:
    row = measured(load(["samples"]), tmp_path, embedder_folder)["samples"].row()
    assert row["questions"] >= 20
    assert row["passage@5"] >= 0.95, row
    assert row["page@5"] >= 0.95, row


@pytest.mark.model
@pytest.mark.corpus
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_part_of_the_corpus_finds_its_passages(
    tmp_path: Path, embedder_folder: Path, corpus: Path
) -> None:
    asked = [row for row in load() if any(row.document.as_posix().endswith(s) for s in SMALL)]
    tallies = measured(asked, tmp_path, embedder_folder)
    outcomes = [found for tally in tallies.values() for found in tally.passage]
    assert len(outcomes) >= 40
    assert sum(outcomes) / len(outcomes) >= 0.85


def test_a_long_passage_may_cross_the_border_of_a_hit() -> None:
    passage = "The Supplier shall " + "deliver the goods and " * 10 + "send an invoice."
    assert holds(letters("Before. " + passage[:90]), passage)
    assert holds(letters(passage[-90:] + " After."), passage)
    assert not holds(letters(passage[40:-90]), passage)
    assert holds(letters("It is $5,000 a-\nyear"), "5,000 a year")
    assert not holds(letters("It is $5,000"), "5,000 a year")


def test_a_report_shows_what_has_changed(tmp_path: Path) -> None:
    one, two = Tally([True, False], [True], [4.0, 6.0]), Tally([True, True], [True], [4.0, 6.0])
    first = report("search", {"hand": one.row()}, tmp_path)
    assert "0.5" in first
    assert "(" not in first
    second = report("search", {"hand": two.row()}, tmp_path)
    assert "1 (+0.500)" in second
    assert (tmp_path / "search.previous.json").exists()
    assert layout({"empty": Tally().row()}, {}).count("-") >= 4
