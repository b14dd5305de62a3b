from pathlib import Path

import pytest

from rag.pdf import Pdf
from rag.rectangles import letters, locate
from tests.rag.pdfs import make_pdf

LINES = ["The total liability of the Supplier shall not exceed", "one mil-", "lion euros a year."]


def test_a_quotation_over_three_lines_gives_three_rectangles(tmp_path: Path) -> None:
    pdf = Pdf(make_pdf(tmp_path / "a.pdf", [LINES]))
    found = pdf.rectangles(1, "the Supplier shall not exceed one million euros")
    assert len(found) == 3
    for row, (x0, y0, x1, y1) in enumerate(found):
        baseline = 792 - 720 + 14 * row
        assert y0 < baseline < y1 + 1
        assert 72 - 1 <= x0 < x1 < 400
    assert found[0][0] > 150  # it begins in the middle of the first line


@pytest.mark.parametrize("rotation", [90, 180, 270])
def test_rectangles_are_where_the_rotated_page_shows_them(tmp_path: Path, rotation: int) -> None:
    upright = Pdf(make_pdf(tmp_path / "a.pdf", [["Clause seven"]])).rectangles(1, "Clause seven")
    turned = Pdf(make_pdf(tmp_path / "b.pdf", [["Clause seven"]], rotation=rotation))
    ((x0, y0, x1, y1),) = upright
    expected = {
        90: (792 - y1, x0, 792 - y0, x1),
        180: (612 - x1, 792 - y1, 612 - x0, 792 - y0),
        270: (y0, 612 - x1, y1, 612 - x0),
    }[rotation]
    ((got),) = turned.rectangles(1, "Clause seven")
    assert got == pytest.approx(expected, abs=0.5)


def test_what_is_not_there_has_no_rectangle(tmp_path: Path) -> None:
    pdf = Pdf(make_pdf(tmp_path / "a.pdf", [LINES]))
    assert pdf.rectangles(1, "two million pounds") == []
    assert pdf.rectangles(1, " ") == []
    assert pdf.rectangles(9, "one million") == []


def test_letters_keep_their_places() -> None:
    assert letters("A \ufb01-b") == ("afib", [0, 2, 2, 4])


def test_the_part_of_a_quotation_that_ends_or_begins_the_page_is_located() -> None:
    page = "x" * 300 + " payment is due within thirty days"
    quote = "payment is due within thirty days after receipt of the invoice"
    assert locate(page, quote) == (301, len(page))
    following = "after receipt of the invoice by the customer. " + "y" * 300
    assert locate(following, quote) == (0, 28)
    assert locate("no such thing here", quote) is None


def test_a_page_number_in_the_midst_of_a_quotation_is_passed_over() -> None:
    page = "One. It makes no offer of\n11\nemployment to any employee. Another sentence."
    start, stop = locate(page, "It makes no offer of employment to any employee.") or (0, 0)
    assert page[start:stop] == "It makes no offer of\n11\nemployment to any employee"
    page = "The fee is\nfee schedule, page 3\nfee and tax."  # what comes between begins as the rest
    start, stop = locate(page, "The fee is fee and tax") or (0, 0)
    assert page[start:stop] == page[:-1]
    far = "It makes no offer of " + "something else " * 12 + "employment to any employee."
    assert locate(far, "It makes no offer of employment to any employee.") is None
