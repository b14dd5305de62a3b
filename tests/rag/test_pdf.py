from pathlib import Path

import pytest

from rag.errors import NotReadable, PasswordNeeded
from rag.pdf import Pdf
from tests.rag.pdfs import make_pdf

LINES = ["7.2 Cap. The total liability of the Supplier shall not", "exceed one million euros."]


def test_pages_come_in_order_with_their_text(tmp_path: Path) -> None:
    path = make_pdf(tmp_path / "合同 📄.pdf", [LINES, ["Second page"], []])
    pages = list(Pdf(path).read())
    assert [page.number for page in pages] == [1, 2, 3]
    assert pages[0].text.split("\n") == LINES
    assert pages[2].text.strip() == ""


def test_reading_can_begin_at_any_page(tmp_path: Path) -> None:
    path = make_pdf(tmp_path / "a.pdf", [["one"], ["two"], ["three"]])
    assert [page.text for page in Pdf(path).read(start=2)] == ["two", "three"]


def test_a_wider_gap_between_lines_is_an_empty_line(tmp_path: Path) -> None:
    path = make_pdf(tmp_path / "a.pdf", [["one", "two", "three", "", "", "four", "five"]])
    assert next(Pdf(path).read()).text == "one\ntwo\nthree\n\nfour\nfive"


def test_a_locked_file_asks_for_its_password(tmp_path: Path) -> None:
    path = make_pdf(tmp_path / "a.pdf", [LINES], password="secret")
    with pytest.raises(PasswordNeeded, match="give its password"):
        Pdf(path)
    with pytest.raises(PasswordNeeded, match="does not open with this password"):
        Pdf(path, "wrong")
    assert "one million" in next(Pdf(path, "secret").read()).text


def test_a_password_that_is_not_ascii_is_tried_in_both_spellings(tmp_path: Path) -> None:
    path = make_pdf(tmp_path / "a.pdf", [LINES], password="pässwört")
    assert "one million" in next(Pdf(path, "pässwört").read()).text


def test_damage_beyond_repair_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(b"%PDF-1.7\nnothing of use\n%%EOF")
    with pytest.raises(NotReadable, match="damaged"):
        Pdf(path)


def test_pypdf_is_asked_where_pdfium_gives_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make_pdf(tmp_path / "a.pdf", [LINES])
    pdf = Pdf(path)
    monkeypatch.setattr(pdf, "_pdfium_text", lambda number: "\ue012\ue013")
    assert "one million" in next(pdf.read()).text


def test_a_file_that_only_pypdf_opens_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make_pdf(tmp_path / "a.pdf", [LINES])
    monkeypatch.setattr("rag.pdf._open_pdfium", lambda path, password: None)
    pdf = Pdf(path)
    assert "one million" in next(pdf.read()).text
    assert pdf.rectangles(1, "one million") == []


def test_pypdf_knows_locked_files_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make_pdf(tmp_path / "a.pdf", [LINES], password="secret")
    monkeypatch.setattr("rag.pdf._open_pdfium", lambda path, password: None)
    with pytest.raises(PasswordNeeded):
        Pdf(path)
    assert "one million" in next(Pdf(path, "secret").read()).text
