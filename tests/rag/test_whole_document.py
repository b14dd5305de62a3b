from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag import survey_text, whole_document
from rag.fake_embedder import FakeEmbedder
from rag.library import Library
from rag.types import Reading
from rag.whole_document import Findings, Survey
from tests.rag.libraries import library_of

CONTRACT = """SUPPLY AGREEMENT

This agreement is made between Northgate Ltd (the Supplier) and Alder GmbH (the Customer).

1. Payment
The Customer shall pay each invoice within 30 days. The price is 900 euros.

2. Duties
The Supplier shall deliver the goods to the depot. The Supplier must insure the goods in transit.

3. Termination
Either party may terminate this agreement with 60 days notice. After termination the Supplier
shall return the tools.

4. Law
This agreement is governed by the laws of Iceland and its courts have jurisdiction.
"""


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    opened = library_of(tmp_path, "supply.txt", CONTRACT, FakeEmbedder())
    yield opened
    opened.close()


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What are the main terms?", Survey("terms")),
        ("Please summarise this contract", Survey("terms")),
        ("这份合同的主要条款是什么？", Survey("terms")),
        ("List all obligations of the supplier", Survey("duties", "supplier")),
        ("What are the obligations of the Customer?", Survey("duties", "Customer")),
        ("What are the reseller's obligations?", Survey("duties", "reseller")),
        ("What are the parties' main duties?", Survey("duties")),
        ("Which clauses mention termination?", Survey("mentions", "termination")),
        ("哪些条款提到违约金？", Survey("mentions", "违约金")),
        ("How is payment made?", None),
        ("How long is the warranty?", None),
    ],
)
def test_questions_about_the_whole_document_are_recognised(
    question: str, expected: Survey | None
) -> None:
    assert whole_document.recognise(question) == expected


def run(library: Library, asked: Survey) -> Findings:
    events = list(whole_document.survey(asked, library, ["supply.txt"], chinese=False))
    assert any(isinstance(e, Reading) for e in events)
    assert isinstance(events[-1], Findings)
    return events[-1]


def test_every_mention_is_listed_with_its_inflections(library: Library) -> None:
    found = run(library, Survey("mentions", "termination"))
    texts = [f.quote.text for f in found.found]
    assert any("may terminate" in t for t in texts)
    assert any("After termination" in t for t in texts)
    assert found.total == len(texts)


def test_the_duties_of_one_party_are_listed_and_no_other_ones(library: Library) -> None:
    texts = [f.quote.text for f in run(library, Survey("duties", "supplier")).found]
    assert len(texts) == 3
    assert all("Supplier" in t for t in texts)


def test_the_main_terms_name_their_kinds(library: Library) -> None:
    found = run(library, Survey("terms"))
    assert {"Price and payment", "Termination"} <= {f.heading for f in found.found}
    assert "Warranty" in found.missing
    assert "No clause was found on: " in survey_text.closing(found)
    assert "Warranty" in survey_text.closing(found, chinese=True)
    assert found.pages == 1


def test_the_text_tells_how_much_was_read_and_what_is_left_out(library: Library) -> None:
    found = run(library, Survey("duties"))
    cut = Findings(found.found[:2], found.total, 112)
    lines = survey_text.lines(cut)
    assert len(lines) == 2
    assert lines[1].endswith("[2]")
    assert survey_text.closing(cut) == (
        f"Read 112 of 112 pages. {found.total} places were found; the first 2 are listed."
    )
    assert "112 页" in survey_text.closing(cut, chinese=True)


def test_a_long_sentence_is_shortened_in_the_list(library: Library) -> None:
    found = run(library, Survey("mentions", "the"))
    assert all(len(line) < 420 for line in survey_text.lines(found, several_documents=True))
