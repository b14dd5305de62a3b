"""Columns and paragraphs told from positions on a PDF page."""

from __future__ import annotations

from pathlib import Path

from reportlab.pdfgen.canvas import Canvas

from rag.pdf import Pdf
from rag.structure import clean_pages

Placed = tuple[float, float, str]  # x, lines from the top, text


def page_of(path: Path, *placed: Placed) -> str:
    canvas = Canvas(str(path), pagesize=(612, 792))
    canvas.setFont("Helvetica", 10)
    for x, line, text in placed:
        canvas.drawString(x, 720 - 13 * line, text)
    canvas.save()
    (page,) = clean_pages(list(Pdf(path).read()))
    return page.text


def test_cells_of_a_table_are_parted_and_rows_stay_rows(tmp_path: Path) -> None:
    text = page_of(
        tmp_path / "a.pdf",
        (72, 0, "Item"), (200, 0, "Quantity"), (300, 0, "Price"),
        (72, 1, "Pump"), (200, 1, "12"), (300, 1, "900"),
        (72, 2, "Valve with a name"), (200, 2, "3"), (300, 2, "40"),
    )  # fmt: skip
    assert text == "Item | Quantity | Price\nPump | 12 | 900\nValve with a name | 3 | 40"


def test_a_cell_of_two_lines_is_one(tmp_path: Path) -> None:
    text = page_of(
        tmp_path / "a.pdf",
        (72, 0, "Goods"), (200, 0, "Seals listed in"),
        (200, 1, "Schedule One"),
        (72, 2, "Payment"), (200, 2, "Thirty days"),
        (72, 4, "The next paragraph is no row."),
    )  # fmt: skip
    assert text == (
        "Goods | Seals listed in Schedule One\nPayment | Thirty days\nThe next paragraph is no row."
    )


def test_a_wide_space_in_running_text_is_a_space(tmp_path: Path) -> None:
    text = page_of(
        tmp_path / "a.pdf",
        (72, 0, "The parties agree that the goods are delivered"), (330, 0, "to the place named"),
        (72, 1, "in the order of the customer, and that the price is paid within thirty days."),
    )  # fmt: skip
    assert text == (
        "The parties agree that the goods are delivered to the place named in the order of the"
        " customer, and that the price is paid within thirty days."
    )


def test_marks_of_clauses_are_no_cells(tmp_path: Path) -> None:
    text = page_of(
        tmp_path / "a.pdf",
        (72, 0, "1.1"), (120, 0, "The Supplier shall deliver the Goods in the state in which"),
        (120, 1, "they are and nowhere else."),
        (72, 2, "1.2"), (120, 2, "The Customer pays:"),
        (120, 3, "(a)"), (150, 3, "the price; and"),
        (120, 4, "(b)"), (150, 4, "the tax."),
    )  # fmt: skip
    assert text.split("\n") == [
        "1.1 The Supplier shall deliver the Goods in the state in which they are and nowhere else.",
        "1.2 The Customer pays:",
        "(a) the price; and",
        "(b) the tax.",
    ]


def test_contents_are_told_by_their_page_numbers(tmp_path: Path) -> None:
    rows = [("1", "Delivery", "3"), ("2", "Payment", "3"), ("3", "Law", "9")]
    placed: list[Placed] = []
    for line, (number, title, page) in enumerate(rows):
        placed += [(72, line, f"{number} {title}"), (500, line, page)]
    assert page_of(tmp_path / "a.pdf", *placed) == (
        "1 Delivery \u2026 3\n2 Payment \u2026 3\n3 Law \u2026 9"
    )


def test_short_lines_were_not_wrapped(tmp_path: Path) -> None:
    text = page_of(
        tmp_path / "a.pdf",
        (72, 0, "Address: 6 Tannery Lane"),
        (72, 1, "Represented by A. Thorley"),
        (72, 2, "This agreement is made between the parties that are named above, and it binds"),
        (72, 3, "them."),
    )  # fmt: skip
    assert text.split("\n") == [
        "Address: 6 Tannery Lane",
        "Represented by A. Thorley",
        "This agreement is made between the parties that are named above, and it binds them.",
    ]
