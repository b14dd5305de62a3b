"""The library as its users see it: documents in, searched, changed, removed, killed, damaged."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from rag.errors import InvalidQuestion, StoreFull, StoreReadOnly, UnknownDocument
from rag.fake_embedder import FakeEmbedder
from rag.library import Library
from rag.types import IngestProgress, IngestResult
from rag.vectors import Vectors
from tests.rag.pdfs import make_pdf

SUPPLY = [
    [
        "SUPPLY AGREEMENT",
        "",
        "1. Delivery",
        "The Supplier shall deliver the Goods within ten days.",
    ],
    ["2. Governing Law", "This Agreement is governed by the laws of Iceland."],
    ["3. Liability", "The liability of the Supplier is limited to one million euros."],
]
LEASE = "LEASE\n\n1. Rent. The rent is 900 euros a month.\n\n2. Pets. Cats are allowed.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "张 三 📚"


@pytest.fixture
def library(folder: Path) -> Iterator[Library]:
    opened = Library(folder, FakeEmbedder())
    yield opened
    opened.close()


@pytest.fixture
def supply(tmp_path: Path) -> Path:
    return make_pdf(tmp_path / "supply.pdf", SUPPLY)


@pytest.fixture
def lease(tmp_path: Path) -> Path:
    path = tmp_path / "lease.txt"
    path.write_text(LEASE, encoding="utf-8")
    return path


def ingest(library: Library, *paths: Path, password: str | None = None) -> list[IngestResult]:
    events = list(library.ingest(paths, password))
    return [event for event in events if isinstance(event, IngestResult)]


def rows(folder: Path, table: str) -> int:
    with sqlite3.connect(folder / "library.sqlite3") as db:
        return int(db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


def agree(library: Library, folder: Path) -> int:
    """Rows, vectors and keywords name the same chunks; returns how many."""
    chunks = sum(len(library.chunks(d.name)) for d in library.documents())
    assert rows(folder, "chunks") == rows(folder, "keywords") == chunks
    assert sum(d.chunks for d in library.documents()) == chunks
    assert len(library._index) == chunks
    return chunks


def test_a_document_is_read_and_found_with_its_page(library: Library, supply: Path) -> None:
    (result,) = ingest(library, supply)
    assert (result.status, result.pages, result.document) == ("ready", 3, "supply.pdf")
    assert result.chunks == len(library.chunks("supply.pdf")) > 0
    hit = library.search("Which law governs the agreement?")[0]
    assert "laws of Iceland" in hit.chunk.text
    assert 2 in hit.chunk.pages
    assert library.page_text("supply.pdf", 2) == (
        "2. Governing Law\nThis Agreement is governed by the laws of Iceland."
    )
    assert library.page_text("supply.pdf", 9) == ""
    page = library.page("supply.pdf", 3)
    assert page is not None
    assert (page.number, page.status, page.printed) == (3, "text", "")
    assert library.page("other.pdf", 1) is None


def test_progress_comes_before_the_result(library: Library, supply: Path) -> None:
    *progress, result = library.ingest([supply])
    assert isinstance(result, IngestResult)
    stages = [e.stage for e in progress if isinstance(e, IngestProgress)]
    assert stages == ["reading", "reading", "reading", "embedding", "saving"]


def test_spans_say_where_a_chunk_stands(library: Library, supply: Path, lease: Path) -> None:
    ingest(library, supply, lease)
    for document in library.documents():
        for chunk in library.chunks(document.name):
            parts = [
                library.page_text(document.name, s.page)[s.start : s.stop] for s in chunk.spans
            ]
            assert "\n".join(parts) == chunk.text


def test_the_same_file_again_is_unchanged(library: Library, supply: Path, folder: Path) -> None:
    (first,) = ingest(library, supply)
    before = agree(library, folder)
    (again,) = ingest(library, supply)
    assert again.status == "unchanged"
    assert (again.document, again.pages, again.chunks) == ("supply.pdf", 3, first.chunks)
    assert agree(library, folder) == before


def test_the_same_path_twice_in_one_batch_is_read_once(library: Library, supply: Path) -> None:
    assert len(ingest(library, supply, supply, supply.parent)) == 1


def test_changed_content_replaces_its_chunks(library: Library, lease: Path, folder: Path) -> None:
    ingest(library, lease)
    lease.write_text(LEASE.replace("Cats", "Dogs"), encoding="utf-8")
    (result,) = ingest(library, lease)
    assert (result.status, result.document) == ("ready", "lease.txt")
    texts = " ".join(hit.chunk.text for hit in library.search("Are cats allowed? Pets?"))
    assert "Dogs are allowed" in texts
    assert "Cats" not in texts
    agree(library, folder)


def test_a_removed_document_leaves_nothing(
    library: Library, supply: Path, lease: Path, folder: Path
) -> None:
    ingest(library, supply, lease)
    library.remove("supply.pdf")
    assert [d.name for d in library.documents()] == ["lease.txt"]
    assert all(hit.chunk.document == "lease.txt" for hit in library.search("governing law"))
    agree(library, folder)
    with pytest.raises(UnknownDocument, match=r"no document called 'supply\.pdf'"):
        library.remove("supply.pdf")
    (again,) = ingest(library, supply)
    assert again.status == "ready"
    agree(library, folder)
    library.remove("supply.pdf")
    library.remove("lease.txt")
    assert rows(folder, "words") == rows(folder, "pages") == agree(library, folder) == 0


def test_two_files_of_one_name_get_two_names(library: Library, tmp_path: Path) -> None:
    paths = []
    for part in ("2023", "2024", "x/2024"):
        (tmp_path / part).mkdir(parents=True)
        path = tmp_path / part / "contract.txt"
        path.write_text(f"The year is {part}.")
        paths.append(path)
    names = [result.document for result in ingest(library, *paths)]
    assert names == ["contract.txt", "2024/contract.txt", "x/2024/contract.txt"]
    (hit,) = library.search("year", documents=["2024/contract.txt"])
    assert hit.chunk.text == "The year is 2024."
    assert [r.document for r in ingest(library, *paths)] == names


def test_a_moved_file_is_known_again(library: Library, lease: Path, folder: Path) -> None:
    ingest(library, lease)
    moved = lease.parent / "archive" / lease.name
    moved.parent.mkdir()
    lease.rename(moved)
    (result,) = ingest(library, moved)
    assert (result.status, result.document) == ("unchanged", "lease.txt")
    assert library.documents()[0].path == str(moved)
    agree(library, folder)


def test_trouble_with_one_file_stays_its_own(
    library: Library, supply: Path, lease: Path, tmp_path: Path
) -> None:
    empty = tmp_path / "empty.pdf"
    empty.write_bytes(b"")
    scan = make_pdf(tmp_path / "scan.pdf", [[], []])
    locked = make_pdf(tmp_path / "locked.pdf", [["Secret clause"]], password="opensesame")
    results = ingest(library, empty, scan, locked, tmp_path / "lost.pdf", supply, lease)
    assert [r.status for r in results] == [
        "failed", "failed", "needs_password", "failed", "ready", "ready",
    ]  # fmt: skip
    assert "empty.pdf is empty" in results[0].error
    assert "no text on its 2 page(s)" in results[1].error
    assert "locked.pdf is locked" in results[2].error
    assert "lost.pdf does not exist" in results[3].error
    (unlocked,) = ingest(library, locked, password="opensesame")
    assert unlocked.status == "ready"


def test_a_font_without_a_character_map_is_said(library: Library, tmp_path: Path) -> None:
    path = tmp_path / "odd.txt"
    path.write_text("\ue012\ue013\ue014 \ue015\ue016", encoding="utf-8")
    (result,) = ingest(library, path)
    assert result.status == "failed"
    assert "can't be decoded" in result.error


def test_questions_that_can_not_be_asked(library: Library, lease: Path) -> None:
    with pytest.raises(InvalidQuestion, match="no document"):
        library.search("rent?")
    ingest(library, lease)
    with pytest.raises(InvalidQuestion, match="empty"):
        library.search("  ")
    with pytest.raises(UnknownDocument):
        library.search("rent?", documents=["other.pdf"])


def test_chunks_by_id_and_their_neighbours(library: Library, tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    clauses = [f"{n}. Clause {n}. " + f"Word{n} is said here again. " * 40 for n in range(1, 8)]
    path.write_text("\n\n".join(clauses))
    ingest(library, path)
    chunks = library.chunks("long.txt")
    assert len(chunks) >= 7
    middle = chunks[3]
    assert library.chunk(middle.id) == middle
    assert library.neighbours(middle) == [chunks[2], chunks[4]]
    assert library.neighbours(middle, before=2, after=0) == chunks[1:3]
    assert library.neighbours(chunks[0], before=3, after=1) == [chunks[1]]
    assert library.clause(middle) == [c for c in chunks if c.section == middle.section]
    library.remove("long.txt")
    with pytest.raises(UnknownDocument, match="gone"):
        library.chunk(middle.id)


def test_the_same_text_twice_is_one_hit(library: Library, tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.txt").write_text("The rent is 900 euros a month.")
    (tmp_path / "d.txt").write_text("Rent is paid on the first day.")
    ingest(library, *sorted(tmp_path.glob("*.txt")))
    assert len(library.search("What is the rent?")) == 2


def test_rectangles_of_a_quotation(library: Library, supply: Path, lease: Path) -> None:
    ingest(library, supply, lease)
    assert len(library.rectangles("supply.pdf", 2, "governed by the laws of Iceland")) == 1
    assert library.rectangles("supply.pdf", 2, "no such words on it") == []
    assert library.rectangles("lease.txt", 1, "Cats") == []
    with pytest.raises(UnknownDocument):
        library.rectangles("other.pdf", 1, "x")
    supply.unlink()
    assert library.rectangles("supply.pdf", 2, "Iceland") == []


# the index follows the rows


@pytest.mark.parametrize("damage", ["missing", "empty", "flipped", "stale"])
def test_the_index_is_brought_up_to_the_rows(
    folder: Path, supply: Path, lease: Path, damage: str
) -> None:
    library = Library(folder, FakeEmbedder())
    ingest(library, lease)
    library.close()
    stale = (folder / "vectors.index").read_bytes()
    library = Library(folder, FakeEmbedder())
    ingest(library, supply)
    library.close()
    path = folder / "vectors.index"
    if damage == "missing":
        path.unlink()
    elif damage == "empty":
        path.write_bytes(b"")
    elif damage == "flipped":
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 255
        path.write_bytes(bytes(data))
    else:
        path.write_bytes(stale)
    library = Library(folder, FakeEmbedder())
    agree(library, folder)
    assert "Iceland" in library.search("governing law")[0].chunk.text
    library.close()


def test_another_embedder_embeds_again(folder: Path, supply: Path) -> None:
    library = Library(folder, FakeEmbedder())
    ingest(library, supply)
    library.close()
    library = Library(folder, FakeEmbedder(dimension=32))
    agree(library, folder)
    assert "Iceland" in library.search("governing law")[0].chunk.text
    library.close()


def test_an_index_that_can_not_be_written_costs_only_a_rebuild(
    folder: Path, lease: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: object, path: Path) -> None:
        raise OSError(28, "No space left on device")

    library = Library(folder, FakeEmbedder())
    with monkeypatch.context() as patch:
        patch.setattr("rag.flat_index.FlatIndex.save", full)
        (result,) = ingest(library, lease)
        library.close()
    assert result.status == "ready"
    library = Library(folder, FakeEmbedder())
    agree(library, folder)
    library.close()


# the folder


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root writes everywhere")
def test_a_read_only_folder_is_said(tmp_path: Path) -> None:
    folder = tmp_path / "locked"
    folder.mkdir()
    folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    with pytest.raises(StoreReadOnly, match="choose another"):
        Library(folder, FakeEmbedder())


def test_a_folder_that_can_not_be_made_is_said(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("x")
    with pytest.raises(StoreReadOnly, match="choose another"):
        Library(blocked / "library", FakeEmbedder())


def test_a_full_disk_changes_nothing(library: Library, tmp_path: Path, lease: Path) -> None:
    ingest(library, lease)
    pages = library.connection.execute("PRAGMA page_count").fetchone()[0]
    library.connection.execute(f"PRAGMA max_page_count = {pages}")
    long = tmp_path / "long.txt"
    long.write_text("\n".join(f"Clause {n} is about matter {n}." for n in range(5000)))
    with pytest.raises(StoreFull, match="nothing was changed"):
        ingest(library, long)
    assert [d.name for d in library.documents()] == ["lease.txt"]
    assert library.search("rent")[0].chunk.document == "lease.txt"


# killed


class Killing(FakeEmbedder):
    """Ends the process at the n-th call."""

    def __init__(self, calls: int) -> None:
        super().__init__()
        self._left = calls

    def embed(self, texts: Sequence[str]) -> Vectors:
        self._left -= 1
        if self._left == 0:
            os._exit(9)
        return super().embed(texts)


@pytest.mark.parametrize("calls", [1, 2, 3])
def test_killed_anywhere_it_goes_on_without_duplicates(
    folder: Path, tmp_path: Path, calls: int
) -> None:
    files = []
    for name in "abc":
        path = tmp_path / f"{name}.txt"
        path.write_text(f"Clause of {name}. The rent is due.")
        files.append(path)
    script = textwrap.dedent(f"""
        from pathlib import Path
        from rag.library import Library
        from tests.rag.test_library import Killing
        library = Library(Path({str(folder)!r}), Killing({calls}))
        list(library.ingest([Path({str(tmp_path)!r})]))
    """)
    done = subprocess.run([sys.executable, "-c", script], check=False)
    assert done.returncode == 9
    library = Library(folder, FakeEmbedder())
    assert len(library.documents()) == calls - 1
    statuses = [result.status for result in ingest(library, *files)]
    assert statuses == ["unchanged"] * (calls - 1) + ["ready"] * (4 - calls)
    assert agree(library, folder) == 3
    library.close()


def test_a_long_document_goes_on_where_it_was(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_text(
        "\n\n".join(f"{n}. Clause {n}. " + f"Word{n} again. " * 110 for n in range(700))
    )
    script = textwrap.dedent(f"""
        from pathlib import Path
        from rag.library import Library
        from tests.rag.test_library import Killing
        library = Library(Path({str(folder)!r}), Killing(20))
        list(library.ingest([Path({str(path)!r})]))
    """)
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 9
    counted = Killing(1000)
    library = Library(folder, counted)
    assert library.documents() == []
    (result,) = ingest(library, path)
    assert result.status == "ready"
    made = (1000 - counted._left) * 32
    assert result.chunks - 19 * 32 - 32 <= made <= result.chunks - 2 * 256 + 64
    assert agree(library, folder) == result.chunks
    assert rows(folder, "unfinished") == 0
    library.close()
