"""The self-test finds what works and names what doesn't; here with fakes for the models."""

from __future__ import annotations

from pathlib import Path

import pypdfium2
import pytest

from desktop_app import self_test
from desktop_app.composition import FAKE, Composition
from desktop_app.errors import AppError
from desktop_app.settings import Settings


@pytest.fixture
def composition(tmp_path: Path) -> Composition:
    return Composition(tmp_path / "library", Settings(embedder=FAKE), backend=FAKE)


def results(composition: Composition) -> dict[str, tuple[str, bool, str]]:
    return {name: rest for name, *rest in self_test.run(composition)}  # type: ignore[misc]


def test_every_part_is_tried_and_the_user_s_library_is_not_touched(
    composition: Composition,
) -> None:
    found = results(composition)

    wrong = {name: rest for name, rest in found.items() if rest[1]}
    assert wrong == {}
    assert len(found) == 8
    assert "words of a picture" in found["Page recognised"][0]
    assert not composition.library_folder.exists()


def test_a_part_that_fails_is_named_and_the_others_go_on(
    composition: Composition, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(self_test, "_sample", lambda: Path("nowhere.pdf"))
    monkeypatch.setattr(self_test, "_worker", lambda: "not tried")

    found = results(composition)

    value, problem, todo = found["PDF read"]
    assert problem
    assert value
    assert todo
    assert not found["Vector"][1]
    assert not found["Cache restored"][1]


def test_the_picture_of_a_page_holds_no_text_of_its_own(tmp_path: Path) -> None:
    path, words = self_test.scan(tmp_path)

    with pypdfium2.PdfDocument(path) as document:
        assert len(document) == 1
        assert not document[0].get_textpage().get_text_bounded().strip()
    assert {"Supply", "Agreement"} <= words


def test_a_page_whose_words_are_not_recognised_is_a_problem(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path, words = self_test.scan(tmp_path)
    monkeypatch.setattr(self_test, "scan", lambda folder: (path, {f"{word}?" for word in words}))

    with pytest.raises(AppError, match=f"0 of {len(words)} words"):
        self_test._recognised(tmp_path)
