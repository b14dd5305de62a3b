from __future__ import annotations

import json
from pathlib import Path

import pytest

from desktop_app import settings


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config" / "settings.json"


def test_no_file_gives_defaults(file: Path) -> None:
    assert settings.load(file) == (settings.Settings(), [])


def test_what_is_saved_is_loaded_and_unknown_keys_stay(file: Path) -> None:
    # given a file of a newer version
    file.parent.mkdir()
    file.write_text(json.dumps({"window": 2048, "colour of tomorrow": [1]}), encoding="utf8")
    # when it is changed and saved here
    loaded, notices = settings.load(file)
    settings.save(settings.change(loaded, {"model": "模型", "theme": "dark"}), file)
    # then the newer version finds its own again
    assert notices == []
    assert json.loads(file.read_text(encoding="utf8"))["colour of tomorrow"] == [1]
    again, _ = settings.load(file)
    assert (again.window, again.model, again.theme) == (2048, "模型", "dark")


@pytest.mark.parametrize(
    ("key", "value"),
    [("window", 10), ("window", "big"), ("window", True), ("backend", "x"), ("idle_minutes", -1)],
)
def test_a_value_that_cannot_be_falls_back_with_a_line(file: Path, key: str, value: object) -> None:
    file.parent.mkdir()
    file.write_text(json.dumps({key: value, "threads": 2}), encoding="utf8")
    loaded, notices = settings.load(file)
    assert loaded == settings.Settings(threads=2)
    assert len(notices) == 1
    assert key in notices[0]
    with pytest.raises(ValueError, match=key):
        settings.change(loaded, {key: value})


@pytest.mark.parametrize("content", [b"{", b"[1]", b"\xff\xfe", b""])
def test_a_damaged_file_is_set_aside(file: Path, content: bytes) -> None:
    file.parent.mkdir()
    file.write_bytes(content)
    loaded, notices = settings.load(file)
    assert loaded == settings.Settings()
    assert "set aside" in notices[0]
    aside = list(file.parent.glob("settings.json.damaged-*"))
    assert [a.read_bytes() for a in aside] == [content]
    assert settings.load(file) == (settings.Settings(), [])


def test_a_failed_write_leaves_the_old_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.save(settings.Settings(threads=1), file)

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        settings.save(settings.Settings(threads=2), file)
    assert settings.load(file)[0].threads == 1
    assert [p.name for p in file.parent.iterdir()] == ["settings.json"]


def test_an_integer_does_for_a_float(file: Path) -> None:
    assert settings.from_values({"idle_minutes": 5})[0].idle_minutes == 5
