import pytest

from rag.quality import is_garbled, quality

GOOD = "The Supplier shall deliver the Goods within thirty days after receipt of the order. " * 3


@pytest.mark.parametrize(
    "text",
    [GOOD, "买方应当在收到发票后三十日内支付价款。", "RC-07919", "12 / 34 / 56", "Präambel, § 5"],
)
def test_writing_is_good(text: str) -> None:
    assert quality(text) > 0.95
    assert not is_garbled(text)


def test_no_text_is_no_quality_and_not_garbled() -> None:
    assert quality(" \n") == 0.0
    assert not is_garbled(" \n")


def test_characters_that_no_writing_has_are_garbled() -> None:
    assert is_garbled("\ue012\ue013\ufffd\ufffd term")


def test_shifted_codes_are_garbled_though_they_are_letters() -> None:
    shifted = "".join(chr((ord(c) - 97 + 13) % 26 + 97) if c.islower() else c for c in GOOD)
    consonants = GOOD.translate(str.maketrans("aeiou", "xqzkv"))
    assert is_garbled(consonants)
    assert quality(shifted) <= quality(GOOD)
