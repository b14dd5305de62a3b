from __future__ import annotations

import os
import types
from pathlib import Path
from typing import Any

import pytest

from desktop_app import catalogue, model_check, model_download, models, paths
from desktop_app.catalogue import KnownModel
from desktop_app.errors import AppError, ModelMissing

GGUF = b"GGUF\x03\x00\x00\x00" + bytes(4096)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only models folder besides the user's own."""
    folder = tmp_path / "models"
    folder.mkdir()
    monkeypatch.setenv("CLAUSEBOOK_MODELS", str(folder))
    monkeypatch.setattr(paths, "checkout", lambda: None)
    return folder


@pytest.fixture
def small(folder: Path, monkeypatch: pytest.MonkeyPatch) -> KnownModel:
    """A catalogue of one language model and one embedder, both whole and present."""
    (folder / "small.gguf").write_bytes(GGUF)
    embedder = folder / "mini"
    embedder.mkdir()
    (embedder / "model.safetensors").write_bytes(b"weights")
    digest = model_check.sha256(folder / "small.gguf")
    model = KnownModel("Small", "language", "small.gguf", "", len(GGUF), digest)
    mini = KnownModel(
        "mini",
        "embedder",
        "mini",
        "",
        7,
        model_check.sha256(embedder / "model.safetensors"),
        "model.safetensors",
    )
    offered = KnownModel("Offered", "language", "o.gguf", "", repo="who/what", file="o.gguf")
    monkeypatch.setattr(catalogue, "DEFAULT_LANGUAGE", model)
    monkeypatch.setattr(catalogue, "DEFAULT_EMBEDDER", mini)
    monkeypatch.setattr(catalogue, "KNOWN", (model, mini, offered))
    return model


def test_a_model_is_found_by_nothing_name_stem_and_path(folder: Path, small: KnownModel) -> None:
    other = folder / "Other-Q4.gguf"
    other.write_bytes(GGUF)
    for name in ("", "small", "SMALL", "small.gguf", str(folder / "small.gguf")):
        assert models.find_language_model(name) == folder / "small.gguf"
    assert models.find_language_model("other-q4") == other
    assert models.find_embedder() == folder / "mini"
    assert models.find_embedder("MINI") == folder / "mini"


def test_the_users_own_folder_comes_last(folder: Path, small: KnownModel) -> None:
    own = paths.user_models()
    own.mkdir(parents=True)
    (own / "small.gguf").write_bytes(GGUF)
    assert models.find_language_model() == folder / "small.gguf"
    # a damaged first copy doesn't hide a whole second one
    (folder / "small.gguf").write_bytes(GGUF[:-1])
    assert models.find_language_model() == own / "small.gguf"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "is missing"),
        (b"", "cut short"),
        (GGUF[:2000], "cut short"),
        (GGUF[:-1] + b"x", "another SHA-256"),
    ],
)
def test_a_default_model_that_is_not_whole_is_refused(
    folder: Path, small: KnownModel, content: bytes | None, message: str
) -> None:
    (folder / "small.gguf").unlink()
    if content is not None:
        (folder / "small.gguf").write_bytes(content)
    with pytest.raises(ModelMissing, match=message) as caught:
        models.find_language_model()
    assert caught.value.hint
    listed = next(m for m in models.list_models() if m.name == "Small")
    assert listed.path == "" or message in listed.problem


def test_unknown_names_and_things_that_are_no_models(folder: Path, small: KnownModel) -> None:
    (folder / "not.gguf").write_bytes(b"%PDF" + bytes(5000))
    (folder / "hub").mkdir()
    for name, message in [
        ("nothing", "no model 'nothing'"),
        (str(folder / "not.gguf"), "not a GGUF model"),
        (str(folder / "hub"), "no config.json"),
    ]:
        with pytest.raises(ModelMissing, match=message):
            models.find_language_model(name)
    with pytest.raises(ModelMissing, match="no embedding model"):
        models.find_embedder("nothing")
    (folder / "hub" / "config.json").write_text("{}")
    assert models.find_language_model(str(folder / "hub")) == folder / "hub"
    assert "not a GGUF" in next(m for m in models.list_models() if m.name == "not").problem


def test_an_offered_model_that_is_missing_says_how_to_get_it(small: KnownModel) -> None:
    with pytest.raises(ModelMissing) as caught:
        models.find_language_model("Offered")
    assert "download Offered" in caught.value.hint


def test_an_embedder_without_weights_is_incomplete_but_onnx_will_do(
    folder: Path, small: KnownModel
) -> None:
    (folder / "mini" / "model.safetensors").unlink()
    with pytest.raises(ModelMissing, match="incomplete"):
        models.find_embedder()
    (folder / "mini" / "model.onnx").write_bytes(b"graph")
    assert models.find_embedder() == folder / "mini"


def test_a_hash_is_computed_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = folder / "m.gguf"
    file.write_bytes(GGUF)
    computed: list[Path] = []
    real = model_check.sha256
    monkeypatch.setattr(model_check, "sha256", lambda p: computed.append(p) or real(p))
    first = model_check.remembered_sha256(file)
    assert model_check.remembered_sha256(file) == first
    assert len(computed) == 1
    os.utime(file, ns=(1, 1))
    model_check.remembered_sha256(file)
    assert len(computed) == 2
    (paths.user_models() / "verified.json").write_text("[", encoding="utf8")
    assert model_check.remembered_sha256(file) == first


def test_adding_and_removing(tmp_path: Path, small: KnownModel) -> None:
    source = tmp_path / "大 model.gguf"
    source.write_bytes(GGUF)
    added = models.add(source)
    assert added.read_bytes() == GGUF
    assert models.add(source) == added  # the same again changes nothing
    assert models.find_language_model("大 model") == added
    entry = next(m for m in models.list_models() if m.name == "大 model")
    assert entry.removable
    source.write_bytes(GGUF + b"other")
    with pytest.raises(AppError, match="is there already"):
        models.add(source)
    assert models.remove("大 model") == added
    assert not added.exists()
    with pytest.raises(ModelMissing, match="no model"):
        models.remove("大 model")
    with pytest.raises(ModelMissing, match="came with the program"):
        models.remove("small")


def test_adding_what_is_no_model_or_does_not_fit(
    tmp_path: Path, small: KnownModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ModelMissing, match="no file"):
        models.add(tmp_path / "nothing.gguf")
    source = tmp_path / "a.gguf"
    source.write_bytes(b"PK" + bytes(3000))
    with pytest.raises(ModelMissing, match="not a GGUF"):
        models.add(source)
    source.write_bytes(GGUF)
    monkeypatch.setattr("shutil.disk_usage", lambda p: types.SimpleNamespace(free=1000))
    with pytest.raises(AppError, match="free"):
        models.add(source)
    assert list(paths.user_models().glob("*.gguf*")) == []


def test_a_copy_that_fails_leaves_nothing(
    tmp_path: Path, small: KnownModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "a.gguf"
    source.write_bytes(GGUF)

    def short(source: Path, target: Path) -> str:
        target.write_bytes(GGUF[:10])
        return "digest"

    monkeypatch.setattr(models, "_copy", short)
    with pytest.raises(AppError, match="differs"):
        models.add(source)
    assert list(paths.user_models().glob("a.gguf*")) == []


class FakeHub:
    """Stands for huggingface_hub: one file, or an error."""

    class errors:  # noqa: N801
        class HTTPError(Exception):
            pass

        class HfHubHTTPError(HTTPError, OSError):
            pass

        class HFValidationError(ValueError):
            pass

    def __init__(self, content: bytes, digest: str, error: Exception | None = None) -> None:
        self.content, self.digest, self.error = content, digest, error
        self.fetched = 0

    def hf_hub_url(self, repo: str, file: str) -> str:
        return f"{repo}/{file}"

    def get_hf_file_metadata(self, url: str) -> Any:
        if self.error:
            raise self.error
        return types.SimpleNamespace(size=len(GGUF), etag=f'"{self.digest}"')

    def hf_hub_download(self, repo: str, file: str, local_dir: str) -> str:
        self.fetched += 1
        target = Path(local_dir) / file
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(self.content)
        return str(target)


def test_a_download_is_checked_and_not_repeated(tmp_path: Path, small: KnownModel) -> None:
    hub = FakeHub(GGUF, small.sha256)
    path = model_download.download("offered", hub)
    assert path == paths.user_models() / "o.gguf"
    assert path.read_bytes() == GGUF
    assert model_download.download("Offered", hub) == path
    assert hub.fetched == 1
    assert model_download.download("who/what/deep/p.gguf", hub).name == "p.gguf"


@pytest.mark.parametrize("content", [GGUF[:-1], GGUF[:-1] + b"x"])
def test_a_damaged_download_is_not_offered(small: KnownModel, content: bytes) -> None:
    with pytest.raises(ModelMissing, match="damaged"):
        model_download.download("Offered", FakeHub(content, small.sha256))
    assert list(paths.user_models().rglob("*.gguf")) == []


@pytest.mark.parametrize(
    ("error", "message", "hint"),
    [
        (FakeHub.errors.HTTPError("refused"), "can't be reached", "network"),
        (ConnectionError("offline"), "can't be reached", "network"),
        (FakeHub.errors.HfHubHTTPError("404"), "has no file", "name"),
        (FakeHub.errors.HFValidationError("bad"), "not a repository", "name"),
    ],
)
def test_a_hub_that_does_not_answer(
    small: KnownModel, error: Exception, message: str, hint: str
) -> None:
    with pytest.raises(AppError, match=message) as caught:
        model_download.download("a/b/c.gguf", FakeHub(GGUF, "", error))
    assert hint in caught.value.hint


def test_only_named_models_are_downloaded(small: KnownModel) -> None:
    for name, message in [
        ("small", "comes with the program"),
        ("x", "No model named"),
        ("a/../c.gguf", "No"),
    ]:
        with pytest.raises(ModelMissing, match=message):
            model_download.download(name, FakeHub(GGUF, ""))


def test_the_real_hub_offline_gives_one_line(home: Path) -> None:
    pytest.importorskip("huggingface_hub")
    with pytest.raises(AppError, match="can't be reached"):
        model_download.download("Qwen3-4B")


@pytest.mark.model
def test_the_real_defaults_are_whole(model_path: Path, embedder_folder: Path) -> None:
    assert models.find_language_model() == model_path
    assert models.find_embedder() == embedder_folder
