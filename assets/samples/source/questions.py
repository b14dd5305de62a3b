"""Questions about the sample documents, with the physical pages of their answers.

Pages are found in the built PDFs by the evidence text, letters and digits compared. An evidence
text that stands nowhere is an error.
"""

from __future__ import annotations

import json
import tomllib
import unicodedata
from pathlib import Path

import pypdfium2

HERE = Path(__file__).parent


def letters(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKC", text).lower() if c.isalnum())


class Pages:
    """The pages of the built documents as letters and digits."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.texts: dict[str, list[str]] = {}

    def of(self, document: str) -> list[str]:
        if document not in self.texts:
            with pypdfium2.PdfDocument(self.folder / document) as pdf:
                self.texts[document] = [
                    letters(pdf[number].get_textpage().get_text_bounded())
                    for number in range(len(pdf))
                ]
        return self.texts[document]

    def holding(self, document: str, evidence: str, answers: list[str]) -> list[int]:
        """Physical pages with the evidence and at least one of the answers."""
        pages = [
            number
            for number, text in enumerate(self.of(document), start=1)
            if letters(evidence) in text and any(letters(answer) in text for answer in answers)
        ]
        if not pages:
            raise ValueError(f"{document} doesn't hold: {evidence}")
        return pages


def common(document: str) -> dict[str, object]:
    return {
        "doc": document,
        "doc_path": document,
        "lang": "zh" if document.endswith("-zh.pdf") else "en",
        "source": "written for Clausebook's sample documents",
        "licence": "Apache-2.0",
    }


def located(row: dict, document: str, pages: Pages) -> dict[str, object]:
    """Evidence and pages. `also` names places that say the same, as a table of main terms does."""
    evidence = [row["evidence"], *row.get("also", [])]
    found = [page for text in evidence for page in pages.holding(document, text, row["answers"])]
    return {"evidence": evidence, "pages": list(dict.fromkeys(found)), "also_on_pages": []}


NOWHERE: dict[str, object] = {"evidence": [], "pages": [], "also_on_pages": []}


def single(number: int, row: dict, document: str, pages: Pages) -> dict[str, object]:
    """One question in the format of the evaluation."""
    answerable = "evidence" in row
    answers = row.get("answers", [])
    return {
        "id": f"sample-{number:03}",
        "set": "samples",
        "type": "single",
        "question": row["question"],
        "answerable": answerable,
        "answer_type": "short" if answerable else "not_in_document",
        "answers": answers,
        **(located(row, document, pages) if answerable else NOWHERE),
        **common(document),
    }


def conversation(number: int, row: dict, document: str, pages: Pages) -> dict[str, object]:
    turns = []
    for turn in row["turns"]:
        turns.append(
            {
                "question": turn["question"],
                "standalone": turn["standalone"],
                "answers": turn["answers"],
                **located(turn, document, pages),
            }
        )
    return {
        "id": f"sample-conversation-{number}",
        "set": "samples_multiturn",
        "type": "multiturn",
        "turns": turns,
        **common(document),
    }


def questions(folder: Path) -> list[dict[str, object]]:
    """All questions about the documents in `folder`."""
    with (HERE / "questions.toml").open("rb") as file:
        source = tomllib.load(file)
    names, pages = source["documents"], Pages(folder)
    rows = [
        single(number, row, names[row["document"]], pages)
        for number, row in enumerate(source["single"], start=1)
    ]
    rows += [
        conversation(number, row, names[row["document"]], pages)
        for number, row in enumerate(source["conversation"], start=1)
    ]
    return rows


def write(folder: Path) -> Path:
    path = folder / "questions.jsonl"
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in questions(folder)]
    path.write_text("".join(lines), encoding="utf8")
    return path
