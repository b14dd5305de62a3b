"""Text on pictures: pieces become lines, lines a page; a scan of a page reads like the page."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

import numpy as np
import pytest

from rag import ocr
from rag.fake_embedder import FakeEmbedder
from rag.library import Library
from rag.parser import Opened, Parser, ParserLimits
from rag.raw_page import Piece, RawPage
from rag.rectangles import on_pieces
from rag.types import IngestResult
from tests.rag.pdfs import make_pdf, make_scan

SAMPLE = Path(__file__).parents[2] / "assets" / "samples" / "supply-agreement.pdf"
QUOTE = "Payment is made by bank transfer in pounds sterling to the account stated on the invoice."


def piece(text: str, x: float, y: float, wide: float = 100, high: float = 10) -> Piece:
    return Piece(text, x, y, x + wide, y + high)


class TestLines:
    def test_pieces_side_by_side_are_one_line(self) -> None:
        rows = ocr.in_rows([piece("Term", 120, 51), piece("1.", 10, 50)])
        assert ocr.page_text(rows) == "1. Term"

    def test_a_wide_gap_parts_two_cells(self) -> None:
        rows = ocr.in_rows([piece("Price", 10, 50), piece("900", 200, 50)])
        assert ocr.page_text(rows) == "Price\t900"

    def test_pieces_below_each_other_are_not(self) -> None:
        rows = ocr.in_rows([piece("two", 10, 64), piece("one", 10, 50)])
        assert ocr.page_text(rows) == "one\ntwo"

    def test_a_wide_step_begins_a_paragraph(self) -> None:
        rows = [[piece("a", 10, y)] for y in (0, 14, 28, 60, 74)]
        assert ocr.page_text(rows) == "a\na\na\n\na\na"

    def test_no_line_is_no_text(self) -> None:
        assert ocr.page_text([]) == ""


@pytest.mark.parametrize(("dark", "blank"), [(255, True), (230, True), (0, False)])
def test_a_picture_that_shows_nothing(dark: int, blank: bool) -> None:
    picture = np.full((40, 40, 3), 255, np.uint8)
    picture[10:12, 5:30] = dark
    assert ocr.is_blank(picture) is blank


class TestOnPieces:
    pieces = (piece("The price is 900", 10, 50, 160), piece("euros a month.", 10, 64, 140))

    def test_a_part_of_a_line_by_its_letters(self) -> None:
        assert on_pieces(self.pieces, "price is") == [(50, 50, 130, 60)]

    def test_over_two_lines(self) -> None:
        assert on_pieces(self.pieces, "900 euros") == [(140, 50, 170, 60), (10, 64, 60, 74)]

    def test_what_is_not_there(self) -> None:
        assert on_pieces(self.pieces, "pounds") == []


def test_without_a_recogniser_a_scan_has_no_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rag.pdf import Pdf

    scan = make_scan(tmp_path / "scan.pdf", SAMPLE)
    monkeypatch.setattr(ocr, "available", lambda: False)
    (page,) = Pdf(scan).read()
    assert (page.text, page.pieces) == ("", ())


def test_a_recogniser_that_fails_costs_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rag import pdf

    def broken() -> None:
        raise RuntimeError("no model")

    monkeypatch.setattr(pdf, "Recogniser", broken)
    (page,) = pdf.Pdf(make_scan(tmp_path / "scan.pdf", SAMPLE)).read()
    assert (page.text, page.pieces) == ("", ())


def test_a_page_of_text_is_not_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from rag.pdf import Pdf

    text = make_pdf(tmp_path / "text.pdf", [["A short page."], []])
    looked: list[int] = []
    pages = list(Pdf(text).read(on_picture=looked.append))
    assert looked == [2]  # the blank one: there is nothing to recognise on it
    assert all(page.pieces == () for page in pages)


def slow_picture(pipe: object, task: dict[str, object]) -> None:
    """A reader that takes longer over a picture than it may over a page."""
    import json
    import time

    def send(**record: object) -> None:
        pipe.send_bytes(json.dumps(record).encode())  # type: ignore[attr-defined]

    send(kind="opened", pages=1)
    send(kind="picture", number=1)
    time.sleep(1.5)
    send(kind="page", number=1, text="seen", label="", pieces=[])
    send(kind="end")


def test_recognition_may_take_longer_than_reading() -> None:
    limits = ParserLimits(page_seconds=0.5, picture_seconds=20)
    records = list(Parser(limits, slow_picture)._read_pdf(Path("scan.pdf"), ""))
    assert records == [Opened(1), RawPage(1, "seen")]


@pytest.mark.model
def test_a_scan_reads_like_the_page_and_is_marked_where_the_page_is(tmp_path: Path) -> None:
    scan = make_scan(tmp_path / "scan.pdf", SAMPLE, pages=[4])
    library = Library(tmp_path / "library", FakeEmbedder())
    results = [e for e in library.ingest([scan, SAMPLE]) if isinstance(e, IngestResult)]
    assert [(r.status, r.pages_ocr) for r in results] == [("ready", 1), ("ready", 0)]
    recognised = library.page("scan.pdf", 1)
    written = library.page(SAMPLE.name, 4)
    assert recognised is not None
    assert written is not None
    assert recognised.status == "ocr"
    wanted = set(written.text.split())
    assert len(wanted & set(recognised.text.split())) > 0.9 * len(wanted)
    marked = library.rectangles("scan.pdf", 1, QUOTE)
    right = library.rectangles(SAMPLE.name, 4, QUOTE)
    assert len(marked) == len(right) > 0
    for one, two in zip(marked, right, strict=True):
        assert np.abs(np.subtract(one, two)).max() < 12  # points
    library.close()


class Recognising(Parser):
    """Recognises every page of a file of four, and counts."""

    def __init__(self) -> None:
        super().__init__()
        self.recognised: list[int] = []

    def read(
        self, path: Path, password: str = "", known: Collection[int] = ()
    ) -> Iterator[Opened | RawPage]:
        yield Opened(4)
        for number in range(1, 5):
            if number in known:
                yield RawPage(number, "")
            else:
                self.recognised.append(number)
                text = f"The rent of month {number} is due."
                yield RawPage(number, text, "", (piece(text, 10, 50),))


def test_an_ingestion_that_was_killed_goes_on_behind_the_pages_recognised(tmp_path: Path) -> None:
    scan = make_pdf(tmp_path / "scan.pdf", [[]] * 4)
    parser = Recognising()
    library = Library(tmp_path / "library", FakeEmbedder(), parser)
    events = library.ingest([scan])
    for _ in range(3):
        next(events)
    events.close()  # type: ignore[attr-defined]
    library.close()
    assert parser.recognised == [1, 2, 3]

    again = Recognising()
    library = Library(tmp_path / "library", FakeEmbedder(), again)
    (result,) = [e for e in library.ingest([scan]) if isinstance(e, IngestResult)]
    assert again.recognised == [4]
    assert (result.status, result.pages_ocr) == ("ready", 4)
    page = library.page("scan.pdf", 2)
    assert page is not None
    assert page.text == "The rent of month 2 is due."
    assert page.pieces[0].text == page.text
    left = library.connection.execute("SELECT count(*) FROM recognised").fetchone()
    assert left == (0,)
    library.close()
