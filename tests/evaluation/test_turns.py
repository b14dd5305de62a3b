"""The measuring of conversations: what counts as right, the figures, the chart."""

from __future__ import annotations

from pathlib import Path

from tests.benchmarks.peers import common_prefix
from tests.evaluation import turns
from tests.evaluation.turns import Outcome


def test_the_samples_have_conversations_with_known_answers() -> None:
    found = [one for one in turns.conversations() if one.document.parent.name == "samples"]
    assert len(found) == 3
    for one in found:
        assert one.document.exists()
        assert len(one.questions) == len(one.answers) == len(one.pages) >= 3
        assert all(one.answers)


def test_an_answer_is_right_if_a_known_one_stands_in_it() -> None:
    assert turns._right("It is **USD 1,500**, payable at once.", ["$9", "usd 1500"])
    assert not turns._right("It is USD 15,000.", ["USD 1500 a month"])


def test_the_figures_leave_the_first_turn_out_of_what_a_follow_up_costs() -> None:
    rows = [
        Outcome(True, True, 900, 4000.0, 50.0, 60.0),
        Outcome(False, None, 100, 500.0, 40.0, 50.0, follow_up=True),
        Outcome(True, False, 200, 700.0, 60.0, 70.0, follow_up=True),
    ]
    figures = turns.summary(rows)
    assert figures["right"] == 2
    assert figures["right page"] == 0.5
    assert figures["tokens read a follow-up"] == 150.0
    assert figures["first word ms"] == 600
    assert figures["evidence ms, median"] == 50.0


def test_the_prompt_grows_with_the_conversation() -> None:
    first = turns._prompt([], [], "What is due?")
    second = turns._prompt([], [("What is due?", "Rent.")], "When?")
    assert common_prefix(list(first.encode()), list(second.encode())) > len("What is due?")
    assert second.endswith("<|im_start|>assistant\n")


def test_the_chart_is_a_picture(tmp_path: Path) -> None:
    rows = [Outcome(True, True, 100, 1.0, follow_up=True)]
    table = {"Clausebook": turns.summary(rows), "another": turns.summary(rows)}
    turns.draw(table, tmp_path / "charts" / "chart.png")
    assert (tmp_path / "charts" / "chart.png").read_bytes().startswith(b"\x89PNG")
