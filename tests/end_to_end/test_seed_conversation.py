"""The main job with the real models: documents in, three questions, checked answers out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pypdfium2
import pytest

from tests.end_to_end.command import Program

pytestmark = [pytest.mark.model, pytest.mark.slow, pytest.mark.timeout(900)]

DOCUMENTS = ("supply-agreement.pdf", "master-agreement.pdf")


def letters(text: str) -> str:
    return "".join(c for c in text.lower() if c.isalnum())


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory, samples: Path) -> Program:
    """The program with both English samples in its library."""
    made = Program(tmp_path_factory.mktemp("张 三"))
    results = made.json("ingest", *(str(samples / name) for name in DOCUMENTS))
    assert [row["status"] for row in results] == ["ready", "ready"]
    assert results[1]["pages"] > 100
    return made


def expected(samples: Path, document: str) -> list[dict[str, Any]]:
    """The turns of the conversation about `document`, with their pages."""
    for line in (samples / "questions.jsonl").read_text(encoding="utf8").splitlines():
        row = json.loads(line)
        if row["type"] == "multiturn" and row["doc"] == document:
            return list(row["turns"])
    raise LookupError(document)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_three_questions_in_a_row(
    program: Program, samples: Path, tmp_path: Path, document: str
) -> None:
    turns = expected(samples, document)[:3]
    rows = [
        {"id": str(n), "question": turn["question"], "document": document, "conversation": document}
        for n, turn in enumerate(turns)
    ]

    answers = program.batch("ask", rows, tmp_path)

    with pypdfium2.PdfDocument(samples / document) as pdf:
        pages = [letters(pdf[n].get_textpage().get_text_bounded()) for n in range(len(pdf))]
    for answer, turn in zip(answers, turns, strict=True):
        assert answer["found"]
        cited = {citation["page"] for citation in answer["citations"]}
        assert cited & set(turn["pages"]), turn["question"]
        for citation in answer["citations"]:
            page = citation["page"]
            assert citation["document"] == document
            near = "".join(pages[max(0, page - 2) : page + 1])
            assert letters(citation["quote"]) in near
    stats = [answer["stats"] for answer in answers]
    for before, after in zip(stats, stats[2:], strict=False):
        assert after["reused_tokens"] >= before["prompt_tokens"] + before["generated_tokens"]
    for stat in stats:
        assert stat["prompt_tokens"] == stat["reused_tokens"] + stat["prefilled_tokens"]


def test_a_follow_up_after_a_restart_reads_only_the_new_turn(program: Program) -> None:
    words = ["--document", DOCUMENTS[0], "--conversation", "restart"]
    first = program.json("ask", "How long is the warranty?", *words)["stats"]

    second = program.json("ask", "And when does it end at the latest?", *words)["stats"]

    assert second["restored_from"] == "disk"
    # The very last token written is read again, to have its successor.
    assert second["reused_tokens"] >= first["prompt_tokens"] + first["generated_tokens"] - 2


def test_a_question_that_the_documents_do_not_answer(program: Program) -> None:
    answer = program.json("ask", "Which airline transports the goods?", "--document", DOCUMENTS[0])

    assert not answer["found"]
    assert answer["citations"] == []


def test_the_terminal_conversation(program: Program, samples: Path) -> None:
    done = program.run("chat", str(samples / DOCUMENTS[0]), text="How is payment made?\n")

    assert done.returncode == 0, done.stderr
    assert "bank transfer" in done.stdout
    assert "Traceback" not in done.stderr


def test_the_self_test_finds_every_part_in_order(program: Program) -> None:
    findings = program.json("doctor", "--self-test")

    assert len(findings["sections"]["self-test"]) == 8
    assert findings["problems"] == []
