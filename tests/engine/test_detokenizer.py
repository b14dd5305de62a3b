from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.detokenizer import Detokenizer
from engine.fake_tokenizer import FakeTokenizer


def byte_by_byte(text: str, stop: tuple[str, ...] = ()) -> tuple[list[str], Detokenizer]:
    detokenizer = Detokenizer(FakeTokenizer(), stop)
    given_out = [detokenizer.push_bytes(bytes([byte])) for byte in text.encode()]
    given_out.append(detokenizer.finish())
    return given_out, detokenizer


def test_a_character_comes_out_whole():
    given_out, _ = byte_by_byte("第十二条 €5")
    assert "".join(given_out) == "第十二条 €5"
    assert given_out[:3] == ["", "", "第"]


def test_half_a_character_at_the_end_is_dropped():
    detokenizer = Detokenizer(FakeTokenizer())
    assert detokenizer.push_bytes("a€".encode()[:-1]) == "a"
    assert detokenizer.finish() == ""
    assert detokenizer.text == "a"


def test_bytes_that_are_no_text_become_the_replacement_character():
    detokenizer = Detokenizer(FakeTokenizer())
    assert detokenizer.push_bytes(b"a\xffb") == "a\ufffdb"


def test_tokens_are_read_through_the_tokenizer():
    tokenizer = FakeTokenizer()
    detokenizer = Detokenizer(tokenizer, prefix="So: ")
    parts = [detokenizer.push(token) for token in tokenizer.encode("thirty days")]
    assert "".join(parts) == "thirty days"
    assert detokenizer.text == "So: thirty days"


def test_a_stop_string_over_several_tokens_is_never_shown():
    given_out, detokenizer = byte_by_byte("The fee.\nQuestion: next", ("\nQuestion:",))
    assert "".join(given_out) == "The fee."
    assert detokenizer.stopped_by == "\nQuestion:"
    assert detokenizer.text == "The fee."


def test_what_only_looked_like_a_stop_string_is_shown():
    given_out, detokenizer = byte_by_byte("a\nQuestions", ("\nQuestion:",))
    assert "".join(given_out) == "a\nQuestions"
    assert detokenizer.stopped_by is None


def test_text_that_could_become_a_stop_string_is_held_until_the_end():
    given_out, _ = byte_by_byte("ab", ("bc",))
    assert given_out == ["a", "", "b"]


def test_the_earliest_stop_string_counts_and_of_two_there_the_longer():
    detokenizer = Detokenizer(FakeTokenizer(), ("two", "one", "one two"))
    assert detokenizer.push_bytes(b"zero one two") == "zero "
    assert detokenizer.stopped_by == "one two"


@pytest.mark.parametrize("stop", [(), ("",)])
def test_an_empty_stop_string_stops_nothing(stop):
    assert "".join(byte_by_byte("abc", stop)[0]) == "abc"


@given(
    st.text(alphabet="ab€第", max_size=20),
    st.lists(st.text(alphabet="ab€第", min_size=1, max_size=4), max_size=3).map(tuple),
    st.lists(st.integers(1, 4), max_size=40),
)
def test_any_cutting_into_pieces_gives_the_same_text(text, stop, sizes):
    # given the bytes in pieces of any size
    data, detokenizer = text.encode(), Detokenizer(FakeTokenizer(), stop)
    pieces = []
    for size in [*sizes, *[3] * len(data)]:
        pieces.append(data[:size])
        data = data[size:]
    # when they are pushed
    shown = "".join([detokenizer.push_bytes(piece) for piece in pieces] + [detokenizer.finish()])
    # then the text up to the stop string that is complete first is shown, and no stop string
    ends = [text.find(word) + len(word) for word in stop if word in text]
    assert not any(word in shown for word in stop)
    assert text.startswith(shown)
    assert shown == detokenizer.text
    assert (detokenizer.stopped_by is not None) == bool(ends)
    if not ends:
        assert shown == text
