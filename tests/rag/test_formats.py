from pathlib import Path

import pytest

from rag.errors import NotReadable
from rag.formats import decode, read_text, sniff, walk


def write(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("a.pdf", b"%PDF-1.7 ...", "pdf"),
        ("junk before.pdf", b"x" * 700 + b"%PDF-1.4", "pdf"),
        ("pdf named.txt", b"%PDF-1.7", "pdf"),
        ("a.txt", b"Clause 1", "text"),
        ("合同.md", "第一条".encode(), "text"),
        ("no suffix", b"Clause 1", "text"),
        ("wide.txt", "Clause 1".encode("utf-16"), "text"),
    ],
)
def test_content_decides_what_a_file_is(tmp_path: Path, name: str, data: bytes, kind: str) -> None:
    assert sniff(write(tmp_path, name, data)) == kind


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.pdf", b"", "is empty"),
        ("a.txt", b" \r\n\x00", "is empty"),
        ("a.pdf", b"Just text", "not a PDF: it looks like plain text"),
        ("a.pdf", b"\x89PNG\r\n\x1a\n", "a PNG picture"),
        ("a.docx", b"PK\x03\x04....", "save it as PDF"),
        ("a.bin", b"\x01\x02\x03\x04", "a binary file"),
    ],
)
def test_other_files_are_refused_with_what_to_do(
    tmp_path: Path, name: str, data: bytes, said: str
) -> None:
    with pytest.raises(NotReadable, match=said):
        sniff(write(tmp_path, name, data))


def test_missing_files_and_folders_are_named(tmp_path: Path) -> None:
    with pytest.raises(NotReadable, match=r"lost\.pdf does not exist"):
        sniff(tmp_path / "lost.pdf")
    with pytest.raises(NotReadable, match="is not a file"):
        sniff(tmp_path)


@pytest.mark.parametrize(
    "data",
    [
        "第一条 价款".encode(),
        "第一条 价款".encode("gb18030"),
        "第一条 价款".encode("utf-16"),
        b"\xef\xbb\xbf" + "第一条 价款".encode(),
    ],
)
def test_chinese_encodings_are_recognised(data: bytes) -> None:
    assert decode(data) == "第一条 价款"


def test_western_text_is_not_taken_for_chinese() -> None:
    assert decode("caf\u00e9 \u2014 \u201cterm\u201d".encode("cp1252")) == "café — “term”"


def test_text_is_split_into_pages_at_form_feeds(tmp_path: Path) -> None:
    path = write(tmp_path, "a.txt", b"one\r\ntwo\x0cthree\x0c")
    assert read_text(path) == ["one\ntwo", "three"]


def test_text_that_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag.formats._MOST_TEXT", 3)
    with pytest.raises(NotReadable, match="split it"):
        read_text(write(tmp_path, "a.txt", b"long"))


def test_folders_are_walked_and_named_files_are_kept(tmp_path: Path) -> None:
    inner = tmp_path / "in ner"
    inner.mkdir()
    hidden = tmp_path / ".trash"
    hidden.mkdir()
    write(hidden, "gone.pdf", b"%PDF-")
    wanted = [write(inner, "b.PDF", b"%PDF-"), write(tmp_path, "a.txt", b"x")]
    odd = write(tmp_path, "picture.png", b"\x89PNG")
    assert sorted(walk([tmp_path])) == sorted(wanted)
    assert list(walk([odd, tmp_path / "lost.pdf"])) == [odd, tmp_path / "lost.pdf"]
