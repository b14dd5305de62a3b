"""What only the fake does: made-up or scripted answers, slowness, trust in a state's content."""

from __future__ import annotations

import time

import numpy as np
import pytest

from engine.errors import RestoreError
from engine.fake_backend import FakeBackend
from engine.fake_tokenizer import TURN_END, FakeTokenizer


def answer(backend: FakeBackend, question: str, most: int = 400) -> list[int]:
    prompt = f"<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n"
    ids = backend.tokenizer.encode(prompt, special=True)
    sequence = backend.new_sequence()
    logits = backend.forward(sequence, ids, 0)
    written: list[int] = []
    while len(written) < most:
        written.append(int(logits.argmax()))
        if written[-1] == TURN_END:
            break
        logits = backend.forward(sequence, written[-1:], len(ids) + len(written) - 1)
    backend.free_sequence(sequence)
    return written


def test_made_up_answers_end_and_depend_on_the_question() -> None:
    backend = FakeBackend()
    answers = [answer(backend, f"question {n}") for n in range(20)]
    assert all(ids[-1] == TURN_END for ids in answers)
    assert len({tuple(ids) for ids in answers}) == 20
    assert answer(backend, "question 3") == answers[3]


def test_another_salt_is_another_model() -> None:
    assert answer(FakeBackend(salt=1), "q") != answer(FakeBackend(), "q")
    assert FakeBackend(salt=1).info.fingerprint != FakeBackend().info.fingerprint


def test_a_reply_is_followed_to_its_end() -> None:
    backend = FakeBackend(reply="Within 30 days — 三十天.")
    written = answer(backend, "When?")
    text = b"".join(map(backend.tokenizer.piece, written)).decode()
    assert text == "Within 30 days — 三十天."
    assert written[-1] == TURN_END


def test_a_flipped_bit_is_accepted_and_changes_the_logits() -> None:
    backend = FakeBackend()
    sequence, other = backend.new_sequence(), backend.new_sequence()
    backend.forward(sequence, [1, 2, 3], 0)
    state = bytearray(backend.save(sequence, 0, 3))
    state[-1] ^= 1
    backend.load(other, bytes(state))
    left, right = backend.forward(sequence, [4], 3), backend.forward(other, [4], 3)
    assert not np.array_equal(left, right)


@pytest.mark.parametrize("other", [FakeBackend(salt=5), FakeBackend(layout="q8")])
def test_another_models_state_is_refused(other: FakeBackend) -> None:
    backend = FakeBackend()
    sequence, foreign = backend.new_sequence(), other.new_sequence()
    backend.forward(sequence, [1, 2, 3], 0)
    with pytest.raises(RestoreError, match="another"):
        other.load(foreign, backend.save(sequence, 0, 3))


def test_batches_take_the_time_asked_for_and_are_counted() -> None:
    backend = FakeBackend(seconds_per_batch=0.02)
    sequence = backend.new_sequence()
    begin = time.perf_counter()
    backend.forward(sequence, [1, 2, 3], 0)
    backend.forward(sequence, [1], 3)
    assert time.perf_counter() - begin >= 0.04
    assert (backend.forwards, backend.tokens_read) == (2, 4)


def test_closing_frees_everything() -> None:
    backend = FakeBackend(cells=100)
    backend.forward(backend.new_sequence(), [1, 2, 3], 0)
    backend.close()
    assert backend.free_cells == 100


def test_words_merge_across_pieces_of_text() -> None:
    tokenizer = FakeTokenizer()
    assert tokenizer.encode(" the") != tokenizer.encode(" t") + tokenizer.encode("he")
    assert len(tokenizer.encode("é")) == 2
