"""The ranking and what it is made of, on shelves of fake vectors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from rag.fake_embedder import FakeEmbedder
from rag.keywords import words
from rag.questions import understand
from rag.ranking import DEFAULT, Weights, bm25, query_vector, query_words, rarity_in, score
from rag.sections import CONTENTS
from rag.shelf import Row, Shelf

TEXTS = [
    "SUPPLY AGREEMENT made between Acme and Globex.",
    "1. Delivery. The Supplier shall deliver the Goods within ten days.",
    "2. Payment. Invoices are paid within thirty days. Section 2.4 applies.",
    '3. Terms. "Lead Time" means the time from order to delivery.',
    "4. Lead Time. The Lead Time is observed.",
    "5. Law. This Agreement is governed by and construed in accordance with the laws of Iceland.",
    "Price list: 900 euros.",
]
EMBEDDER = FakeEmbedder(256)


def shelf(texts: Sequence[str] = TEXTS, sections: dict[int, str] | None = None) -> Shelf:
    rows = [
        Row(number + 1, number, text, (sections or {}).get(number, ""), words(text))
        for number, text in enumerate(texts)
    ]
    return Shelf(rows, EMBEDDER.embed(texts))


def best(question: str, weights: Weights = DEFAULT, on: Shelf | None = None) -> int:
    asked = understand(question)
    query = EMBEDDER.embed([asked.text])[0]
    return int(np.argmax(score([on or shelf()], asked, query, weights=weights)))


def test_a_shelf_knows_where_each_word_stands() -> None:
    rows, counts = shelf().holding(words("delivery")[0])
    assert dict(zip(rows.tolist(), counts.tolist(), strict=True)) == {1: 2, 3: 1}
    assert len(shelf().holding("nowhere")[0]) == 0
    assert len(Shelf([], np.zeros((0, 4), np.float32))) == 0


def test_bm25_is_the_formula() -> None:
    on = shelf()
    word = words("delivery")[0]
    total, holding, k1, b = len(TEXTS), 2, DEFAULT.saturation, DEFAULT.length
    rarity = np.log(1 + (total - holding + 0.5) / (holding + 0.5))
    mean = float(on.lengths.mean())
    got = bm25(on, {word: 2.0}, rarity_in([on]), mean, DEFAULT)
    for row, count in ((1, 2), (3, 1)):
        damping = k1 * (1 - b + b * on.lengths[row] / mean)
        assert got[row] == pytest.approx(2 * rarity * count * (k1 + 1) / (count + damping))
    assert got[[0, 2, 4, 5, 6]].tolist() == [0] * 5


def test_the_words_of_the_question_count_more_than_those_of_the_concept() -> None:
    wanted = query_words(understand("Which law governs the agreement?"))
    assert wanted[words("law")[0]] == 1.0
    assert wanted[words("construed")[0]] == DEFAULT.term
    assert wanted[words("agreement")[0]] == DEFAULT.generic


def test_the_query_is_drawn_towards_the_wording_and_stays_a_unit() -> None:
    one, two = EMBEDDER.embed(["law", "governed by the laws of"])
    drawn = query_vector(one, np.array([two]))
    assert np.linalg.norm(drawn) == pytest.approx(1, abs=1e-5)
    assert drawn @ two > one @ two
    assert (query_vector(one, np.zeros((0, 256), np.float32)) == one).all()


@pytest.mark.parametrize(
    ("question", "place"),
    [
        ("Which law governs the contract?", 5),
        ("What does Section 2.4 say?", 2),
        ("Who are the parties?", 0),
        ('What is the meaning of "Lead Time"?', 3),
        ("What is the price?", 6),
    ],
)
def test_the_right_chunk_is_best(question: str, place: int) -> None:
    assert best(question) == place


@pytest.mark.parametrize(
    ("question", "place"),
    [
        ("What is the lead time?", 0),
        ("When is the Closing Date?", 1),
        ("What does “Affiliate” mean?", 2),
        ("“保密信息”是指什么？", 3),
    ],
)
def test_the_clause_that_defines_a_term_is_best(question: str, place: int) -> None:
    texts = [
        '"Lead Time" means the days from order to delivery.',
        "It closes in May (the “Closing Date”).",
        "“Affiliate”, in relation to a person, has the meaning given by law.",
        "“保密信息”是指一方向另一方披露的信息。",
        "The lead time and the closing date are observed. The lead time is short.",
        "An affiliate is an affiliate of an affiliate. 保密信息应当保密。",
    ]
    assert best(question, on=shelf(texts)) == place


def test_contents_stand_back() -> None:
    texts = ["Payment of payment … 7", "2. Payment. Invoices are paid in May.", "Other things."]
    on = shelf(texts, {0: CONTENTS})
    asked, query = understand("matter"), EMBEDDER.embed(["matter"])[0]
    kept, dropped = (
        score([on], asked, query, weights=Weights(contents=weight)) for weight in (0.0, -1.5)
    )
    assert (kept - dropped).tolist() == pytest.approx([1.5, 0, 0])


def test_shelves_are_ranked_together() -> None:
    asked = understand("Which law governs?")
    query = EMBEDDER.embed([asked.text])[0]
    one, two = shelf(TEXTS[:3]), shelf(TEXTS[3:])
    together = score([one, two], asked, query)
    assert together.shape == (7,)
    assert np.argmax(together) == 5


def test_a_question_without_a_known_word_still_ranks() -> None:
    assert np.isfinite(score([shelf()], understand("zzz"), EMBEDDER.embed(["zzz"])[0])).all()
