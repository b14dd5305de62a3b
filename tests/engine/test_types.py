"""Options are checked where they are made, with the bad value in the message."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import ContextTooLong, EngineError
from engine.types import EngineOptions, SamplingOptions, Turn


@pytest.mark.parametrize(
    ("options", "value"),
    [({"window": 255}, 255), ({"batch": 0}, 0), ({"batch": 5000}, 5000), ({"sequences": 1}, 1)],
)
def test_engine_options_are_checked(options: dict[str, int], value: int) -> None:
    with pytest.raises(ValueError, match=f"not {value}$"):
        EngineOptions(Path("m"), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "value"),
    [
        ({"temperature": -0.5}, "-0.5"),
        ({"top_p": 0}, "0"),
        ({"top_p": 1.5}, "1.5"),
        ({"min_p": 2}, "2"),
        ({"top_k": -3}, "-3"),
        ({"repetition_penalty": 0}, "0"),
        ({"max_tokens": 0}, "0"),
    ],
)
def test_sampling_options_are_checked(options: dict[str, float], value: str) -> None:
    with pytest.raises(ValueError, match=f"it is {value}$"):
        SamplingOptions(**options)  # type: ignore[arg-type]


def test_good_options_pass() -> None:
    assert EngineOptions(Path("m"), window=256, batch=1, sequences=2).kv_type == "f16"
    assert SamplingOptions(temperature=1.5, top_p=0.5, top_k=3, min_p=0.1).max_tokens == 512
    assert Turn("q").record == {}
    assert Turn("q").record is not Turn("q").record


def test_an_error_carries_its_figures() -> None:
    error = ContextTooLong(500, 256)
    assert isinstance(error, EngineError)
    assert (error.tokens, error.window) == (500, 256)
    assert "500 tokens" in str(error)
