import pytest

from rag.keywords import stem, words


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("assign", "assignment"),
        ("terminate", "termination"),
        ("terminates", "terminated"),
        ("party", "parties"),
        ("indemnify", "indemnified"),
        ("licensing", "licensed"),
        ("payment", "payments"),
        ("supplier's", "suppliers"),
        ("govern", "governing"),
    ],
)
def test_forms_of_a_word_share_a_stem(one: str, two: str) -> None:
    assert stem(one) == stem(two)


@pytest.mark.parametrize(("one", "two"), [("term", "terminate"), ("sale", "salt"), ("gas", "ga")])
def test_other_words_do_not(one: str, two: str) -> None:
    assert stem(one) != stem(two)


def test_numbers_stay_whole_and_lose_their_commas() -> None:
    assert words("Clause 12.3 caps it at $500,000 or 1.5%.") == [
        stem("clause"), "12.3", stem("caps"), "500000", "1.5%",
    ]  # fmt: skip


def test_chinese_becomes_pairs() -> None:
    assert words("第十二条 违约金 甲") == ["第十", "十二", "二条", "违约", "约金", "甲"]


def test_full_width_and_ligatures_are_written_plainly() -> None:
    assert words("ＡＢＣ１２ \ufb01nal") == [stem("abc"), "12", stem("final")]


def test_little_words_are_left_out() -> None:
    assert words("of the and to") == []
