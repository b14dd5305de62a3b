from pathlib import Path

import numpy as np
import pytest

from rag.embedding import (
    OnnxEmbedder,
    SentenceTransformerEmbedder,
    _batches,
    load_embedder,
)
from rag.errors import EmbedderError
from rag.fake_embedder import FakeEmbedder

TEXTS = [
    "This Agreement shall be governed by the laws of England.",
    "第十二条 违约责任：逾期交货的，每日支付合同总价千分之五的违约金。",
    "a",
    "Supplier shall deliver the Goods. " * 80,  # over the limit
    "Café, naïve — “quoted” § 12.3(b)",
]


def test_batches_hold_every_text_once_and_like_lengths_together() -> None:
    lengths = [5, 300, 4, 300, 256, 6] * 40
    batches = list(_batches(lengths))
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) * max(lengths[i] for i in batch) <= 4096
    assert list(_batches([])) == []


@pytest.mark.parametrize("load", [load_embedder, OnnxEmbedder, SentenceTransformerEmbedder])
def test_a_missing_model_is_said(tmp_path: Path, load: type[OnnxEmbedder]) -> None:
    with pytest.raises(EmbedderError, match="missing or damaged; fetch it again"):
        load(tmp_path / "no model")


def test_a_model_cut_short_is_said(tmp_path: Path, embedder_folder: Path) -> None:
    (tmp_path / "tokenizer.json").write_bytes((embedder_folder / "tokenizer.json").read_bytes())
    (tmp_path / "model.onnx").write_bytes(b"\x08\x07 cut short")
    with pytest.raises(EmbedderError, match="missing or damaged"):
        load_embedder(tmp_path)


@pytest.mark.model
@pytest.mark.parametrize("kept", [0, 4096])
def test_weights_that_are_missing_or_cut_short_are_said(
    tmp_path: Path, embedder_folder: Path, kept: int
) -> None:
    for name in ("tokenizer.json", "model.onnx"):
        (tmp_path / name).write_bytes((embedder_folder / name).read_bytes())
    if kept:
        with (embedder_folder / "model.onnx.data").open("rb") as weights:
            (tmp_path / "model.onnx.data").write_bytes(weights.read(kept))
    with pytest.raises(EmbedderError, match="missing or damaged"):
        load_embedder(tmp_path)


@pytest.mark.model
def test_the_two_embedders_give_the_same_vectors(embedder_folder: Path) -> None:
    pytest.importorskip("sentence_transformers")
    fast, reference = load_embedder(embedder_folder), SentenceTransformerEmbedder(embedder_folder)
    one, two = fast.embed(TEXTS), reference.embed(TEXTS)
    assert np.abs(one - two).max() < 2e-5
    assert fast.name == reference.name
    assert fast.dimension == reference.dimension == 384
    assert fast.limit == reference.limit == 256
    for text in TEXTS:
        assert fast.count_tokens(text) == reference.count_tokens(text)


@pytest.mark.model
def test_vectors_have_length_one_and_do_not_depend_on_the_batch(embedder_folder: Path) -> None:
    embedder = OnnxEmbedder(embedder_folder)
    together = embedder.embed(TEXTS)
    assert np.linalg.norm(together, axis=1) == pytest.approx(1, abs=1e-5)
    alone = np.concatenate([embedder.embed([text]) for text in TEXTS])
    assert np.abs(together - alone).max() < 1e-5
    assert embedder.embed([]).shape == (0, 384)


@pytest.mark.model
def test_likeness_of_meaning_is_likeness_of_vectors(embedder_folder: Path) -> None:
    embedder = OnnxEmbedder(embedder_folder)
    law, other, asked = embedder.embed(
        [TEXTS[0], "Invoices are payable within thirty days.", "Which law applies?"]
    )
    assert law @ asked > other @ asked + 0.1


def test_the_fake_is_deterministic_and_puts_shared_words_near() -> None:
    fake = FakeEmbedder()
    law, asked, other = fake.embed(["governing law", "which law governs", "delivery of goods"])
    assert law @ asked > law @ other
    assert (FakeEmbedder().embed(["governing law"])[0] == law).all()
    assert fake.count_tokens("one two, three") == 3
