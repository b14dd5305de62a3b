import pytest

from rag.headings import caption, is_heading, mark, starts_clause


@pytest.mark.parametrize(
    ("text", "kind", "identity", "level"),
    [
        ("ARTICLE IX TERMINATION", "title", "ARTICLE IX", 10),
        ("Section 4.2 Payment. The", "title", "Section 4.2", 30),
        ("Schedule 2 Prices", "title", "Schedule 2", 10),
        ("EXHIBIT A-1", "title", "EXHIBIT A-1", 10),
        ("12.3(b) The Supplier", "decimal", "12.3(b)", 30),
        ("12.3 Cap.", "decimal", "12.3", 30),
        ("7. LIABILITY", "number", "7", 20),
        ("(a) by notice", "paren", "(a)", 70),
        ("(iv)(2) and", "paren", "(iv)(2)", 70),
        ("第十二条 违约责任", "zh_article", "第十二条", 15),
        ("第三章 合同的履行", "zh_part", "第三章", 3),
        ("附件二：技术规格", "zh_annex", "附件二", 3),
        ("一、货物名称", "zh_number", "一", 18),
        ("（三）交货日期", "zh_paren", "（三）", 70),
        ("• first point", "bullet", "•", 90),
    ],
)
def test_marks_are_recognised(text: str, kind: str, identity: str, level: int) -> None:
    found = mark(text)
    assert found is not None
    assert (found.kind, found.id, found.level) == (kind, identity, level)


@pytest.mark.parametrize(
    "text", ["The Supplier", "section 4.2 above shall", "2019 was", "1,000 units", "甲方应当"]
)
def test_other_paragraphs_have_no_mark(text: str) -> None:
    assert mark(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "GOVERNING LAW",
        "7. LIABILITY",
        "7.2 Limitation of Liability",
        "ARTICLE IX",
        "Termination for Convenience",
        "Schedule 1: Goods and prices",
        "Part B Services and works",
        "第十二条 违约责任",
        "第三章 合同的履行",
    ],
)
def test_headings_are_recognised(text: str) -> None:
    assert is_heading(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The Supplier shall deliver the Goods.",
        "7.2 The Supplier shall deliver the Goods within thirty days.",
        "(a) Notice",
        "Section 7.2 The supplier delivers",
        "part of the goods",
        "$1,000,000",
        "by and between the parties hereto",
        "第十二条 买方逾期付款的，应当支付违约金。",
    ],
)
def test_sentences_are_no_headings(text: str) -> None:
    assert not is_heading(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12.3 Governing Law. This Agreement is governed by", "Governing Law"),
        (
            "Section 7.02 Conditions to the Obligations of Parent and Merger Sub. The",
            "Conditions to the Obligations of Parent and Merger Sub",
        ),
        ("GOVERNING LAW", "GOVERNING LAW"),
        ("5. Insurance: The Contractor shall", "Insurance"),
        ("12.3 The Supplier shall deliver the Goods. It", ""),
    ],
)
def test_captions_are_taken_from_the_beginning(text: str, expected: str) -> None:
    assert caption(text) == expected


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("12.3 Governing Law", True),
        ("(b) the other", True),
        ("Section 4.2 Payment", True),
        ("Section 4.2 of this Agreement", False),
        ("2. the rest of a sentence", False),
        ("and so on", False),
    ],
)
def test_a_line_that_begins_a_clause(text: str, begins: bool) -> None:
    assert starts_clause(text) is begins
