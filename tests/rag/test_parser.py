"""The parser process: good files, and entries that hang, crash, lie or eat memory."""

from __future__ import annotations

import json
import os
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from rag.errors import NotReadable, PasswordNeeded
from rag.parser import Opened, Parser, ParserLimits
from rag.parser_process import limit
from rag.raw_page import RawPage
from tests.rag.pdfs import make_pdf

QUICK = ParserLimits(page_seconds=3.0, file_seconds=30.0, restarts=2)
HANGING = ParserLimits(page_seconds=0.5, start_seconds=8.0, file_seconds=30.0, restarts=2)


def send(pipe: Connection, **record: Any) -> None:
    pipe.send_bytes(json.dumps(record).encode())


def pages_except(pipe: Connection, task: dict[str, Any], bad: int, trouble: str) -> None:
    """Sends 4 pages; at page `bad` it has trouble."""
    send(pipe, kind="opened", pages=4)
    for number in range(task["start"], 5):
        if number == bad:
            if trouble == "crash":
                os.abort()
            time.sleep(60)
        send(pipe, kind="page", number=number, text=f"page {number}", label="", pieces=[])
    send(pipe, kind="end")


def crashes_on_2(pipe: Connection, task: dict[str, Any]) -> None:
    pages_except(pipe, task, 2, "crash")


def hangs_on_4(pipe: Connection, task: dict[str, Any]) -> None:
    pages_except(pipe, task, 4, "hang")


def crashes_always(pipe: Connection, task: dict[str, Any]) -> None:
    pages_except(pipe, task, task["start"], "crash")


def hangs_at_once(pipe: Connection, task: dict[str, Any]) -> None:
    time.sleep(60)


def eats_memory(pipe: Connection, task: dict[str, Any]) -> None:
    limit(task["memory"], task["seconds"])
    send(pipe, kind="opened", pages=1)
    hoard = bytearray(8 << 30)
    send(pipe, kind="page", number=1, text=str(len(hoard)), label="", pieces=[])
    send(pipe, kind="end")


def read(path: Path, parser: Parser, password: str = "") -> list[str]:
    opened, *pages = parser.read(path, password)
    assert isinstance(opened, Opened)
    assert [page.number for page in pages if isinstance(page, RawPage)] == list(
        range(1, opened.pages + 1)
    )
    return [page.text for page in pages if isinstance(page, RawPage)]


@pytest.fixture
def pdf(tmp_path: Path) -> Path:
    return make_pdf(tmp_path / "张 三.pdf", [["one"], ["two"]])


def test_a_pdf_is_read_in_its_own_process(pdf: Path) -> None:
    assert read(pdf, Parser()) == ["one", "two"]


def test_text_needs_no_process(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one\ftwo")
    assert read(path, Parser(entry=crashes_always)) == ["one", "two"]


def test_errors_of_the_process_arrive_as_they_were_raised(tmp_path: Path) -> None:
    locked = make_pdf(tmp_path / "locked.pdf", [["one"]], password="secret")
    with pytest.raises(PasswordNeeded, match=r"locked\.pdf is locked"):
        list(Parser().read(locked))
    assert read(locked, Parser(), "secret") == ["one"]
    with pytest.raises(PasswordNeeded):
        Parser().rectangles(locked, 1, "one")
    damaged = tmp_path / "damaged.pdf"
    damaged.write_bytes(b"%PDF-1.4 no more")
    with pytest.raises(NotReadable, match=r"damaged\.pdf is damaged"):
        list(Parser().read(damaged))


def test_a_page_that_crashes_the_reader_costs_only_itself(pdf: Path) -> None:
    assert read(pdf, Parser(QUICK, crashes_on_2)) == ["page 1", "", "page 3", "page 4"]


def test_a_page_that_hangs_the_reader_costs_only_itself(pdf: Path) -> None:
    assert read(pdf, Parser(HANGING, hangs_on_4)) == ["page 1", "page 2", "page 3", ""]


def test_a_file_that_always_crashes_is_given_up(pdf: Path) -> None:
    with pytest.raises(NotReadable, match="crashes the PDF reader"):
        list(Parser(QUICK, crashes_always).read(pdf))


def test_a_file_that_can_not_be_opened_in_time_is_given_up(pdf: Path) -> None:
    limits = ParserLimits(start_seconds=0.7)
    with pytest.raises(NotReadable, match="takes too long"):
        list(Parser(limits, hangs_at_once).read(pdf))
    assert Parser(limits, hangs_at_once).rectangles(pdf, 1, "one") == []


def test_memory_is_limited(pdf: Path) -> None:
    limits = ParserLimits(page_seconds=5.0, memory=1 << 30, restarts=0)
    with pytest.raises(NotReadable, match="too much memory"):
        list(Parser(limits, eats_memory).read(pdf))


def test_rectangles_come_from_the_process(pdf: Path) -> None:
    ((x0, _, x1, _),) = Parser().rectangles(pdf, 2, "two")
    assert x0 == pytest.approx(72, abs=1)
    assert x1 < 100


def test_limits_below_zero_are_refused() -> None:
    with pytest.raises(ValueError, match="above 0"):
        ParserLimits(page_seconds=0)
