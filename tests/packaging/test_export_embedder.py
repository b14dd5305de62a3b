"""The exported ONNX graph gives the vectors of sentence-transformers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

pytestmark = [pytest.mark.model, pytest.mark.slow]

ENGLISH = """The {party} shall {deed} within {n} days after {event}.
Neither party is liable for {loss} arising from {event}.
{deed} remains the duty of the {party} until {event}
What happens if the {party} fails to {deed}?
Clause {n}.{m}: {event} entitles the {party} to terminate.""".splitlines()
CHINESE = """{party}应当在{event}后{n}日内{deed}。
因{event}造成的{loss}，{party}不承担责任。
{party}未能{deed}的，应支付合同总价百分之{m}的违约金。
第{n}条 {event}
如果{party}不{deed}会怎样？""".splitlines()
WORDS = {
    "party": ["Supplier", "Customer", "Escrow Agent", "Guarantor", "parties"],
    "deed": ["deliver the goods", "pay the invoice", "cure the breach", "notify", "insure"],
    "event": ["acceptance", "the Effective Date", "a Force Majeure Event", "default", "expiry"],
    "loss": ["loss of profit", "indirect loss", "damage to goodwill", "data loss", "delay"],
}
CHINESE_WORDS = {
    "party": ["供方", "需方", "甲方", "乙方", "保证人"],
    "deed": ["交付货物", "支付货款", "更换不合格品", "书面通知", "投保"],
    "event": ["验收合格", "合同生效", "不可抗力", "逾期交货", "合同期满"],
    "loss": ["利润损失", "间接损失", "商誉损害", "数据丢失", "工期延误"],
}


def texts() -> list[str]:
    """More than 200 texts, from one word to longer than the limit."""
    made = ["Payment", "违约责任", "§ 12(b)(iii)", "1,250,000.00 USD", "naïve café — “quoted”"]
    for patterns, words in ((ENGLISH, WORDS), (CHINESE, CHINESE_WORDS)):
        for number, pattern in enumerate(patterns * 20):
            row = {name: list_[(number + k) % 5] for k, (name, list_) in enumerate(words.items())}
            made.append(pattern.format(n=number + 2, m=number % 9 + 1, **row))
    return [*made, " ".join(made[5:60]), "".join(made[-60:])]


def encode(folder: Path, batch: list[str]) -> dict[str, np.ndarray]:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(256)
    tokenizer.enable_padding()
    rows = tokenizer.encode_batch(batch)
    return {
        "input_ids": np.array([row.ids for row in rows], dtype=np.int64),
        "attention_mask": np.array([row.attention_mask for row in rows], dtype=np.int64),
        "token_type_ids": np.zeros((len(rows), len(rows[0].ids)), dtype=np.int64),
    }


@pytest.fixture(scope="module")
def vectors(embedder_folder: Path) -> np.ndarray:
    import onnxruntime

    session = onnxruntime.InferenceSession(str(embedder_folder / "model.onnx"))
    rows = []
    for start in range(0, len(texts()), 32):
        batch = encode(embedder_folder, texts()[start : start + 32])
        hidden, pooled = session.run(["last_hidden_state", "sentence_embedding"], batch)
        mask = batch["attention_mask"][..., None]
        mean = (hidden * mask).sum(1) / mask.sum(1)
        assert np.allclose(mean / np.linalg.norm(mean, axis=1, keepdims=True), pooled, atol=1e-5)
        rows.append(pooled)
    return np.concatenate(rows)


def test_vectors_equal_those_of_sentence_transformers(
    embedder_folder: Path, vectors: np.ndarray
) -> None:
    sentence_transformers = pytest.importorskip("sentence_transformers")
    reference = sentence_transformers.SentenceTransformer(str(embedder_folder), device="cpu")
    expected = reference.encode(texts(), normalize_embeddings=True)

    cosines = (vectors * expected).sum(axis=1)

    assert len(cosines) > 200
    assert cosines.min() >= 0.9999
    assert np.abs(vectors - expected).max() < 1e-4


def test_padding_changes_nothing(embedder_folder: Path, vectors: np.ndarray) -> None:
    import onnxruntime

    session = onnxruntime.InferenceSession(str(embedder_folder / "model.onnx"))
    alone = session.run(["sentence_embedding"], encode(embedder_folder, [texts()[0]]))[0]

    assert np.allclose(alone[0], vectors[0], atol=1e-5)


def test_the_export_is_reproducible(embedder_folder: Path, tmp_path: Path) -> None:
    from export_embedder import export

    for name in ("model.safetensors", "config.json"):
        (tmp_path / name).symlink_to(embedder_folder / name)
    assert json.loads((tmp_path / "config.json").read_text())["num_hidden_layers"] == 6

    again = export(tmp_path)

    assert sorted(path.name for path in tmp_path.glob("model.onnx*")) == [
        "model.onnx",
        "model.onnx.data",
    ]
    for path in (again, tmp_path / "model.onnx.data"):
        assert path.read_bytes() == (embedder_folder / path.name).read_bytes()
