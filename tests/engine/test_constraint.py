from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.constraint import Both, Choices, constraint_for
from engine.errors import InvalidRequest
from engine.fake_tokenizer import TURN_END, FakeTokenizer
from engine.quotations import Spans, quotations
from engine.sampling import Sampler
from engine.types import SamplingOptions, Turn
from engine.vocabulary import Vocabulary
from tests.engine.odd_tokenizer import OddTokenizer

ODD = OddTokenizer().vocabulary()
FAKE = Vocabulary(FakeTokenizer(), FakeTokenizer().vocabulary)
TEXTS = st.lists(
    st.text(alphabet='the aT."“”’x第十条款1', min_size=1, max_size=30), min_size=1, max_size=3
)


def written(constraint, vocabulary, seed: int, most: int = 60, favoured: bytes = b"") -> bytes:
    """What a model with random logits writes; it likes the bytes of `favoured`."""
    random = np.random.default_rng(seed)
    sampler = Sampler(SamplingOptions(temperature=1.0, seed=seed))
    liked = [bool(piece) and piece in favoured for piece in vocabulary.pieces]
    answer = b""
    for _ in range(most):
        if constraint.finished:
            break
        logits = random.normal(0, 3, len(vocabulary)).astype(np.float32) + 6 * np.array(liked)
        token = sampler.sample(logits, constraint.allowed())
        if token in vocabulary.end_tokens:
            break
        constraint.advance(token)
        answer += vocabulary.pieces[token]
    return answer


def can_say(constraint, vocabulary, text: str) -> bool:
    """Whether `text`, byte for byte, is allowed."""
    for byte in text.encode():
        allowed = constraint.allowed()
        if allowed is not None:
            ids = np.flatnonzero(allowed) if allowed.dtype == np.bool_ else allowed
            if byte not in ids:
                return False
        constraint.advance(byte)
    return True


def is_span(quote: str, texts: list[str]) -> bool:
    return any(quote in text for text in texts)


# ------------------------------------------------------------------ choices


@given(
    st.lists(st.text(alphabet="ab ,第条", min_size=1, max_size=6), min_size=1), st.integers(0, 99)
)
def test_with_stop_the_answer_is_exactly_one_of_the_choices(choices, seed):
    choices_constraint = Choices(choices, ODD, stop=True)
    assert written(choices_constraint, ODD, seed).decode() in choices


@given(st.lists(st.text(alphabet="ab 第", min_size=1, max_size=6), min_size=1), st.integers(0, 99))
def test_without_stop_the_answer_begins_with_one_of_them_and_is_free_then(choices, seed):
    constraint = Choices(choices, ODD, stop=False)
    answer = written(constraint, ODD, seed)
    assert any(answer.startswith(choice.encode()) for choice in choices)
    assert constraint.passed
    assert constraint.allowed() is None
    assert not constraint.finished


def test_a_choice_that_begins_another_can_be_chosen_by_ending():
    constraint = Choices(["Yes", "Yes, but"], ODD, stop=True)
    for byte in b"Yes":
        constraint.advance(byte)
    assert set(constraint.allowed()) == {ord(","), 256}
    assert not constraint.finished


def test_tokens_longer_than_a_choice_are_not_allowed():
    constraint = Choices(["the"], ODD, stop=False)
    assert b"the " in ODD.pieces
    assert {ODD.pieces[token] for token in constraint.allowed()} == {b"t"}


def test_what_all_choices_share_is_forced():
    constraint = Choices(["within 30 days", "within 60 days"], ODD, stop=True)
    assert constraint.forced() == "within "
    for byte in b"within 3":
        constraint.advance(byte)
    assert constraint.forced() == "0 days"
    for byte in b"0 days":
        constraint.advance(byte)
    assert constraint.finished
    assert constraint.forced() == ""


def test_what_is_forced_never_cuts_a_character():
    constraint = Choices(["第十", "第千"], ODD, stop=True)
    assert constraint.forced() == "第"
    constraint.advance("第".encode()[0])
    assert constraint.forced() == ""


def test_empty_choices_are_refused():
    with pytest.raises(InvalidRequest, match="choices"):
        Choices(["", ""], ODD, stop=True)


# -------------------------------------------------------------------- spans


@given(TEXTS, st.integers(0, 10_000))
def test_no_model_can_write_a_quotation_that_is_not_a_span(texts, seed):
    # given a model that likes quotation marks and the texts' own tokens
    favoured = "".join(texts).encode() + '" “ ” ." ",'.encode()
    answer = written(Spans(texts, ODD), ODD, seed, favoured=favoured)
    # then whatever it quotes is there, word for word
    for quote in quotations(answer.decode("utf-8", errors="ignore")):
        assert is_span(quote, texts)


@given(TEXTS, st.integers(0, 300))
def test_the_same_with_the_fake_tokenizer(texts, seed):
    answer = written(Spans(texts, FAKE), FAKE, seed, favoured="".join(texts).encode() + b'"')
    assert all(is_span(q, texts) for q in quotations(answer.decode("utf-8", errors="ignore")))


def test_quotations_do_occur_in_such_tests():
    text, liked = "the term is ten years", b'the term is ten years"'
    found = [
        quotations(written(Spans([text], ODD), ODD, seed, favoured=liked).decode("utf-8", "ignore"))
        for seed in range(20)
    ]
    assert sum(map(len, found)) > 20
    assert max(len(quote) for quotes in found for quote in quotes) > 3


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        ('It says "thirty days" and "days".', True),
        ("It says “thirty days”.", True),
        ("No quotation: ’ and – are free.", True),
        ('"thirty day"', False),  # ends within a word
        ('"hirty days"', False),  # begins within a word
        ('"thirty years"', False),
        ('"days within"', False),
        ('""', False),
        ("“”", False),
        ('"within"', True),
        ('“Supplier” and “the "Supplier" shall”', True),
        ('"the "', True),  # for a mark comes next that can't be quoted
        ('"thirty "', False),
        ('"第十二"', True),
        ('"二条"', True),
        ('"第二"', False),
        ("“’s fee”", True),
    ],
)
def test_what_may_be_said(text, allowed):
    texts = ["thirty days", "within", 'the "Supplier" shall', "第十二条", " x’s fee "]
    assert can_say(Spans(texts, ODD), ODD, text) is allowed


def test_the_answer_cannot_end_within_a_quotation():
    constraint = Spans(["thirty days"], ODD)
    assert constraint.allowed()[256]
    for byte in b'"thirty':
        constraint.advance(byte)
    assert 256 not in constraint.allowed()
    pieces = {ODD.pieces[token] for token in constraint.allowed()}
    assert pieces == {b" ", b'"', b'",', b'","', b'""', b'"the', b'"x'}


def test_tokens_that_close_with_more_behind():
    constraint = Spans(["the"], ODD)
    for byte in b'"the':
        constraint.advance(byte)
    pieces = {ODD.pieces[token] for token in constraint.allowed()}
    # Behind the mark the answer is free again, and may open the next quotation.
    assert pieces == {b'"', b'",', b'","', b'""', b'"the', b'"x'}


def test_a_token_may_open_and_quote_at_once():
    constraint = Spans(["the fee"], ODD)
    mask = constraint.allowed()
    token = ODD.pieces.index
    assert mask[token(b'"the')]
    assert mask[token(b' "')]
    assert not mask[token(b'"x')]
    assert not mask[token(" “T".encode())]


def test_a_curly_mark_cut_into_bytes():
    constraint = Spans(["the fee"], ODD)
    constraint.advance(ODD.pieces.index(b" \xe2\x80"))
    assert constraint.allowed()[ODD.pieces.index(b"\x9cthe")]
    constraint.advance(ODD.pieces.index(b"\x9cthe"))
    assert {ODD.pieces[t] for t in constraint.allowed()} >= {
        b" ",
        b"\xe2\x80",
        b"\xe2",
        "”".encode(),
    }
    constraint.advance(ODD.pieces.index(b"\xe2\x80"))
    assert {ODD.pieces[t] for t in constraint.allowed()} == {b"\x9d", b"\x9d.", b"\x9d\xe2\x80"}
    constraint.advance(ODD.pieces.index(b"\x9d."))
    assert constraint.allowed().dtype == np.bool_


def test_the_prefix_may_leave_a_quotation_open():
    constraint = constraint_for(Turn(user="?", prefix='It says: "', spans=("the fee",)), ODD)
    assert isinstance(constraint, Spans)
    assert {ODD.pieces[t][:1] for t in constraint.allowed()} == {b"t", b"f"}


def test_texts_of_nothing_allow_no_quotation_at_all():
    constraint = Spans([" "], ODD)
    assert not constraint.allowed()[ord('"')]
    assert constraint.allowed()[ord("a")]
    assert not constraint.finished
    assert constraint.forced() == ""


def test_where_no_token_can_go_on_the_answer_ends():
    pieces = [b'"', b"t", b""]
    tokenizer = OddTokenizer(pieces)
    tokenizer.end_tokens = frozenset({2})
    constraint = Spans(["to"], tokenizer.vocabulary())
    constraint.advance(0)
    constraint.advance(1)
    assert list(constraint.allowed()) == [2]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('a "b" c “d” e', ["b", "d"]),
        ('“a "b" c”', ['a "b" c']),
        ('"a “b” c"', ["a “b” c"]),
        ('x "open', ["open"]),
        ("it’s ” none", []),
    ],
)
def test_quotations_are_read_from_left_to_right(text, found):
    assert quotations(text) == found


# --------------------------------------------------------------- both, none


def test_a_free_turn_has_no_constraint():
    assert constraint_for(Turn(user="?"), FAKE) is None


def test_a_choice_and_then_quotations():
    turn = Turn(user="?", choices=("Yes: ", "No: "), spans=("the fee",))
    constraint = constraint_for(turn, ODD)
    assert isinstance(constraint, Both)
    assert constraint.forced() == ""
    assert {ODD.pieces[t] for t in constraint.allowed()} == {b"Y", b"N"}
    assert can_say(constraint, ODD, 'Yes: "fee"')
    assert not constraint.finished
    assert not can_say(constraint, ODD, '"xxx')


@pytest.mark.parametrize(("choice", "open_quotation"), [('"the', True), ('"zzz" ', False)])
def test_a_choice_with_quotation_marks(choice, open_quotation):
    constraint = constraint_for(Turn(user="?", choices=(choice,), spans=("the fee",)), ODD)
    for byte in choice.encode():
        constraint.advance(byte)
    assert (constraint.allowed().dtype != np.bool_) is open_quotation


def test_a_choice_that_ends_the_answer():
    turn = Turn(user="?", choices=("Yes", "No"), stop_after_choice=True)
    constraint = constraint_for(turn, FAKE)
    assert isinstance(constraint, Choices)
    assert written(constraint, FAKE, 1).decode() in ("Yes", "No")
    assert constraint.finished


def test_the_vocabulary_knows_its_tokens():
    assert len(FAKE) == FakeTokenizer().vocabulary
    assert FAKE.pieces[TURN_END] == b""
    assert FAKE.spelled_by(b"") == []
    words = {FAKE.pieces[t] for t in FAKE.beginnings(b"x the sale", 1, 10)}
    assert words == {b" ", b" the"}
    assert {FAKE.pieces[t] for t in FAKE.beginnings(b"x the sale", 1, 3)} == {b" "}
    assert [FAKE.pieces[t] for t in FAKE.beginning_with(b"liab")] == []
    assert FAKE.ending_with(b"ability") == FAKE.containing(b"liab")
