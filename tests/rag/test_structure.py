"""Raw pages to clean ones: running lines, broken words, reflow, printed numbers."""

from __future__ import annotations

import pytest

from rag.lines import LEFT_OUT, join, paragraphs, squeeze, tidy
from rag.raw_page import RawPage
from rag.running import drop_running, left_out
from rag.structure import clean_pages

BODY = [
    "The Supplier shall deliver the Goods to the place that the Customer",
    "names in the order, within ten days.",
]


def body(page: int) -> list[str]:
    return [f"Clause {chr(64 + page)}{'abcdefgh'[n] * (page + 2)} says more," for n in range(8)]


def raw(*pages: list[str], labels: str = "") -> list[RawPage]:
    return [
        RawPage(number, "\n".join(lines), labels[number - 1 : number])
        for number, lines in enumerate(pages, 1)
    ]


def test_running_headers_footers_and_page_numbers_are_dropped() -> None:
    pages = clean_pages(
        raw(
            *[
                ["ACME / Supply Agreement", *body(n), f"Confidential v{n}", f"- {n + 3} -"]
                for n in range(5)
            ]
        )
    )
    for number, page in enumerate(pages):
        assert page.text == " ".join(body(number))
        assert page.printed == str(number + 3)


def test_a_number_within_a_footer_is_the_printed_page() -> None:
    pages = clean_pages(
        raw(*[[*body(n), f"Credit Agreement   Page {n + 1} of 9"] for n in range(4)])
    )
    assert [page.printed for page in pages] == ["1", "2", "3", "4"]
    assert all("Credit" not in page.text for page in pages)


def test_labels_are_the_printed_numbers_where_none_is_printed() -> None:
    assert [p.printed for p in clean_pages(raw(BODY, BODY, labels="i2"))] == ["i", ""]


def test_numbers_that_do_not_count_pages_keep_a_line() -> None:
    pages = clean_pages(raw(*[[f"Code of page {n} is RC-{n * 7919 % 1000}"] for n in range(1, 9)]))
    assert [page.text for page in pages][:2] == [
        "Code of page 1 is RC-919",
        "Code of page 2 is RC-838",
    ]


def test_a_page_of_nothing_but_running_lines_keeps_them() -> None:
    assert all(
        page.text == "Form 7" for page in clean_pages(raw(*[["Form 7", f"{n}"] for n in "123"]))
    )


def test_a_document_of_nothing_but_page_numbers_keeps_them() -> None:
    assert [page.text for page in clean_pages(raw(["Page1"], ["Page2"]))] == ["Page1", "Page2"]


def test_what_does_not_repeat_stays() -> None:
    first = ["SUPPLY AGREEMENT", *BODY]
    pages = clean_pages(raw(first, ["ANNEX", *BODY], ["SIGNATURES", *BODY]))
    assert [p.text.split("\n")[0] for p in pages] == ["SUPPLY AGREEMENT", "ANNEX", "SIGNATURES"]


def test_running_lines_in_the_middle_are_dropped_where_the_printed_pages_end() -> None:
    lines: list[str] = []
    for number in range(1, 8):
        lines += [f"This is line {n} of printed page {number}, which says more." for n in range(30)]
        lines += [f"{number}", "ACME CONFIDENTIAL"]
    ((kept, _),) = drop_running([lines])
    assert len(kept) == 7 * 30
    assert "ACME CONFIDENTIAL" not in kept


def test_a_page_number_in_the_midst_of_a_sentence_leaves_a_mark() -> None:
    lines: list[str] = []
    for number in range(1, 8):
        lines += [f"{n}. This is sentence {n} of printed page {number}." for n in range(1, 30)]
        name = "abcdefgh"[number]
        lines += [f"30. The buyer {name} makes no offer of", f"{number}", f"employment to {name}."]
    (page,) = clean_pages(raw(lines))
    assert f"30. The buyer b makes no offer of{LEFT_OUT} employment to b." in page.text
    assert page.text.count(LEFT_OUT) == 7


def test_a_word_broken_over_a_page_number_is_whole() -> None:
    rows = ["it is kept confi-", "4", "dential by both."]
    kept = [rows[0], rows[2]]
    assert left_out(rows, kept) == {0}
    assert paragraphs(kept, left_out(rows, kept)) == ["it is kept confidential by both."]
    rows = ["It makes no offer of", "4", "", "5. Employment"]
    kept = [rows[0], *rows[2:]]
    assert paragraphs(kept, left_out(rows, kept)) == [rows[0] + LEFT_OUT, rows[3]]
    rows = ["It makes no offer.", "4", "It ends."]
    assert paragraphs(rows[::2], left_out(rows, rows[::2])) == ["It makes no offer. It ends."]
    assert left_out(["1", *rows[:1], "", "2"], rows[:1]) == {0}
    assert left_out(rows, rows) == set()


def test_rows_of_a_table_that_repeat_stay() -> None:
    lines = ["Delivered on time", "12", "Delivered on time", "7"] * 6
    ((kept, _),) = drop_running([["Table", *lines, "The end of the table"]])
    assert kept.count("Delivered on time") == 12
    assert kept.count("12") == 6


def test_empty_and_garbled_pages_are_marked() -> None:
    pages = clean_pages(raw(["", "  "], BODY, ["\ue012\ue013\ufffd\ue014"], ["- 4 -"]))
    assert [page.status for page in pages] == ["empty", "text", "garbled", "empty"]
    assert pages[0].text == ""


def test_a_word_broken_between_pages_stands_on_the_first() -> None:
    one, two = clean_pages(raw([*BODY[:1], "and keep it confi-"], ["dential. The rest follows."]))
    assert one.text.endswith("keep it confidential.")
    assert two.text == "The rest follows."


@pytest.mark.parametrize(
    ("first", "second", "joined"),
    [
        ("the agree-", "ment ends", "the agreement ends"),
        ("the agree\xad", "ment ends", "the agreement ends"),
        ("the agree\ufffe", "ment ends", "the agreement ends"),
        ("a non-", "exclusive right", "a non-exclusive right"),
        ("Exhibit A-", "1 shows", "Exhibit A-1 shows"),
        ("the Supplier", "shall pay", "the Supplier shall pay"),
        ("买方应当在收到", "发票后付款", "买方应当在收到发票后付款"),
    ],
)
def test_lines_are_joined_as_they_are_read(first: str, second: str, joined: str) -> None:
    assert join(first, second) == joined


@pytest.mark.parametrize(
    ("line", "clean"),
    [
        ("\ufb01nal o\ufb03ce", "final office"),
        ("zero\u200bwidth", "zerowidth"),
        ("bell\x07 here  ", "bell  here"),
        ("\u2f64户", "用户"),
        ("（一）货物，", "（一）货物，"),
    ],
)
def test_letters_are_tidied(line: str, clean: str) -> None:
    assert tidy(line) == clean


def test_leaders_and_spaces_are_squeezed() -> None:
    assert squeeze("1.  Term ........ 4") == "1. Term \u2026 4"
    assert squeeze("Signed: ____________") == "Signed: \u2026"


def test_wrapped_lines_become_paragraphs_at_clauses_and_headings() -> None:
    lines = [
        "7. LIABILITY",
        "7.1 The Supplier is liable for damage that it causes by gross",
        "negligence, in accordance with Section",
        "7.2 of this Agreement and nothing else at all in the world.",
        "7.2 Cap. The liability is limited.",
        "(a) to one million euros; and",
        "(b) to nothing else.",
        "",
        "A new paragraph begins after an empty line",
        "and goes on.",
    ]
    assert paragraphs(lines) == [
        "7. LIABILITY",
        "7.1 The Supplier is liable for damage that it causes by gross negligence, in accordance"
        " with Section 7.2 of this Agreement and nothing else at all in the world.",
        "7.2 Cap. The liability is limited.",
        "(a) to one million euros; and",
        "(b) to nothing else.",
        "A new paragraph begins after an empty line and goes on.",
    ]


def test_rows_of_a_table_stay_apart() -> None:
    lines = [
        "Item        Quantity      Price",
        "Pump        12            900",
        "Valve       3             40",
    ]
    assert paragraphs(lines) == ["Item Quantity Price", "Pump 12 900", "Valve 3 40"]
