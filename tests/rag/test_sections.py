import pytest

from rag.sections import CONTENTS, SectionPath, is_contents_entry


def walk(*paragraphs: str) -> list[str]:
    path = SectionPath(paragraphs)
    return [path.enter(paragraph) for paragraph in paragraphs]


def test_clauses_nest_by_their_numbers() -> None:
    assert walk(
        "ARTICLE VII LIABILITY",
        "Section 7.2 Cap. The liability is limited.",
        "7.2.1 It is limited to one million.",
        "(a) in each year",
        "Section 7.3 Insurance. The Supplier is insured.",
        "ARTICLE VIII TERM",
    ) == [
        "ARTICLE VII LIABILITY",
        "ARTICLE VII LIABILITY > Section 7.2 Cap",
        "ARTICLE VII LIABILITY > Section 7.2 Cap > 7.2.1",
        "ARTICLE VII LIABILITY > Section 7.2 Cap > 7.2.1",
        "ARTICLE VII LIABILITY > Section 7.3 Insurance",
        "ARTICLE VIII TERM",
    ]


def test_chinese_clauses_nest() -> None:
    assert walk(
        "第三章 履行", "第二节 付款", "第十二条 买方应当付款。", "附件二：价格", "一、单价"
    ) == [
        "第三章 履行",
        "第三章 履行 > 第二节 付款",
        "第三章 履行 > 第二节 付款 > 第十二条",
        "附件二 价格",
        "附件二 价格 > 一 单价",
    ]


def test_chinese_articles_stand_above_decimal_clauses() -> None:
    assert walk("第二条 价款", "2.1 总价为一百元。", "第三条 付款", "3.1 分期支付。")[1:] == [
        "第二条 价款 > 2.1",
        "第三条 付款",
        "第三条 付款 > 3.1",
    ]


def test_a_number_and_a_title_are_a_heading_where_its_clauses_follow() -> None:
    assert walk(
        "Part B Services and works",
        "5 Inspection and acceptance",
        "5.1 The Customer inspects.",
        "5.2 It accepts.",
        "6 pumps were delivered.",
        "7 Price",
        "7.1 It is high.",
    ) == [
        "Part B Services and works",
        "Part B Services and works > 5 Inspection and acceptance",
        "Part B Services and works > 5 Inspection and acceptance > 5.1",
        "Part B Services and works > 5 Inspection and acceptance > 5.2",
        "Part B Services and works > 5 Inspection and acceptance > 5.2",
        "Part B Services and works > 7 Price",
        "Part B Services and works > 7 Price > 7.1",
    ]


def test_a_heading_without_a_number_lasts_until_the_next_numbered_clause() -> None:
    assert walk(
        "SUPPLY AGREEMENT",
        "RECITALS",
        "The parties wish to trade.",
        "1. DELIVERY",
        "Goods are delivered.",
        "SIGNATURES",
    ) == [
        "SUPPLY AGREEMENT",
        "RECITALS",
        "RECITALS",
        "1 DELIVERY",
        "1 DELIVERY",
        "SIGNATURES",
    ]


def test_contents_change_nothing() -> None:
    assert walk(
        "CONTENTS",
        "1. Delivery \u2026 3",
        "2. Payment 4",
        "The parties wish to trade.",
        "1. DELIVERY",
    ) == [
        CONTENTS,
        CONTENTS,
        CONTENTS,
        "",
        "1 DELIVERY",
    ]


def test_lines_that_repeat_are_no_headings() -> None:
    assert walk("1. TERM", *["ACME CONFIDENTIAL"] * 4)[-1] == "1 TERM"


@pytest.mark.parametrize(
    ("line", "entry"),
    [
        ("Section 4.2 Payment \u2026 17", True),
        ("ARTICLE IX TERMINATION 23", True),
        ("9.1 General 28", True),
        ("9.1 The Supplier delivers 28", False),
        ("The term is five (5) years", False),
        ("(b) Notice 12", False),
    ],
)
def test_entries_of_contents(line: str, entry: bool) -> None:
    assert is_contents_entry(line) is entry
