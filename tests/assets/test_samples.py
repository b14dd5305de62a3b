"""The sample documents: they match their sources, and their questions have the pages they name."""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from pathlib import Path

import pypdfium2
import pytest

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "assets" / "samples"
SOURCE = SAMPLES / "source"
DOCUMENTS = ("supply-agreement.pdf", "master-agreement.pdf", "purchase-contract-zh.pdf")


def letters(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKC", text).lower() if c.isalnum())


def pages(path: Path) -> list[str]:
    with pypdfium2.PdfDocument(path) as pdf:
        return [pdf[n].get_textpage().get_text_bounded() for n in range(len(pdf))]


@pytest.fixture(scope="module")
def texts() -> dict[str, list[str]]:
    return {name: pages(SAMPLES / name) for name in DOCUMENTS}


def rows() -> list[dict]:
    lines = (SAMPLES / "questions.jsonl").read_text(encoding="utf8").splitlines()
    return [json.loads(line) for line in lines]


def asked() -> list[dict]:
    """Every question, those inside conversations included."""
    out = []
    for row in rows():
        for turn in row.get("turns", [row]):
            out.append({"doc": row["doc"], "answerable": True, **turn})
    return out


@pytest.mark.parametrize("row", asked(), ids=lambda row: row["question"][:40])
def test_the_pages_of_a_question_hold_its_answer(row: dict, texts: dict[str, list[str]]) -> None:
    if not row["answerable"]:
        assert row["pages"] == row["evidence"] == []
        return
    assert row["pages"]
    for page in row["pages"]:
        text = letters(texts[row["doc"]][page - 1])
        assert any(letters(evidence) in text for evidence in row["evidence"])
        assert any(letters(answer) in text for answer in row["answers"])


def test_the_first_evidence_stands_on_one_page_only(texts: dict[str, list[str]]) -> None:
    for row in asked():
        if row["answerable"]:
            wanted = letters(row["evidence"][0])
            found = [wanted in letters(page) for page in texts[row["doc"]]]
            several = sum(found) > 1
            assert not several or len(wanted) < 25, row["question"]


def test_there_are_enough_questions_of_each_kind() -> None:
    singles = [row for row in rows() if row["type"] == "single"]
    conversations = [row for row in rows() if row["type"] == "multiturn"]

    assert len(singles) >= 40
    assert len([row for row in singles if not row["answerable"]]) >= 4
    assert len([row for row in singles if row["lang"] == "zh"]) >= 8
    assert {row["doc"] for row in conversations} == set(DOCUMENTS)


def test_lengths(texts: dict[str, list[str]]) -> None:
    assert 8 <= len(texts["supply-agreement.pdf"]) <= 12
    assert len(texts["master-agreement.pdf"]) > 100
    assert 4 <= len(texts["purchase-contract-zh.pdf"]) <= 8


def test_printed_page_numbers(texts: dict[str, list[str]]) -> None:
    supply = texts["supply-agreement.pdf"]
    assert f"Page 3 of {len(supply)}" in supply[2]
    assert "第 2 页" in texts["purchase-contract-zh.pdf"][1]

    master = texts["master-agreement.pdf"]
    footers = [page.strip().splitlines()[-1].strip() for page in master]
    assert footers[1:4] == ["i", "ii", "iii"]
    first = footers.index("1")
    assert footers[first:] == [str(n) for n in range(1, len(master) - first + 1)]


def test_page_labels_agree_with_the_printed_numbers() -> None:
    with pypdfium2.PdfDocument(SAMPLES / "master-agreement.pdf") as pdf:
        labels = [pdf.get_page_label(n) for n in range(len(pdf))]

    assert labels[1:4] == ["i", "ii", "iii"]
    assert labels[labels.index("1") :][:3] == ["1", "2", "3"]
    assert labels.index("1") == 7


@pytest.mark.parametrize("name", ["supply-agreement.pdf", "master-agreement.pdf"])
def test_every_clause_that_is_referred_to_exists(name: str, texts: dict[str, list[str]]) -> None:
    text = "\n".join(texts[name])
    numbers = set(re.findall(r"^(\d+\.\d+)\s", text, re.MULTILINE))
    referred = set(re.findall(r"clauses? (\d+\.\d+)", text))
    referred |= {n for pair in re.findall(r"clauses (\d+\.\d+) and (\d+\.\d+)", text) for n in pair}
    schedules = {int(n) for n in re.findall(r"Schedule (\d+)", text)}

    assert len(referred) >= 8
    assert referred <= numbers
    assert all(f"Schedule {n}:" in text for n in schedules)


def test_article_numbers_have_no_gap() -> None:
    text = "".join(
        (SOURCE / "master_agreement" / f"articles_{n}.txt").read_text(encoding="utf8")
        for n in (1, 2)
    )
    articles = [int(n) for n in re.findall(r"^# (\d+) ", text, re.MULTILINE)]
    assert articles == list(range(1, 51))
    for article in articles:
        clauses = [int(n) for n in re.findall(rf"^{article}\.(\d+) ", text, re.MULTILINE)]
        assert clauses == list(range(1, len(clauses) + 1)), article


@pytest.mark.slow
def test_the_documents_are_what_their_sources_make(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, texts: dict[str, list[str]]
) -> None:
    monkeypatch.setattr(sys, "path", [str(SOURCE), *sys.path])
    import build

    made = {path.name: path for path in build.build(tmp_path)}
    once = {name: path.read_bytes() for name, path in made.items()}
    build.build(tmp_path)

    assert {name: path.read_bytes() for name, path in made.items()} == once
    for name in DOCUMENTS:
        assert pages(made[name]) == texts[name]
    questions = (SAMPLES / "questions.jsonl").read_text(encoding="utf8")
    assert made["questions.jsonl"].read_text(encoding="utf8") == questions
