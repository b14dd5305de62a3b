"""The cross-encoder, on a tiny model made on the spot: it scores by the sum of its token ids."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rag.errors import EmbedderError
from rag.reranking import OnnxReranker

onnx = pytest.importorskip("onnx")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    from onnx import TensorProto, helper
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = {"[PAD]": 0, "[UNK]": 1, "law": 2, "rent": 3, "salt": 50}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    ids = helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["B", "T"])
    logits = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["B", 1])
    axes = helper.make_tensor("axes", TensorProto.INT64, [1], [1])
    nodes = [
        helper.make_node("Cast", ["input_ids"], ["numbers"], to=TensorProto.FLOAT),
        helper.make_node("ReduceSum", ["numbers", "axes"], ["logits"], keepdims=1),
    ]
    graph = helper.make_graph(nodes, "sum", [ids], [logits], [axes])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, str(tmp_path / "model.onnx"))
    return tmp_path


def test_question_and_passage_are_read_together(folder: Path) -> None:
    got = OnnxReranker(folder).score("law", ["rent", "salt salt", ""])
    assert got.tolist() == [5.0, 102.0, 2.0]
    assert OnnxReranker(folder).score("law", []).shape == (0,)
    assert got.dtype == np.float32


def test_a_missing_model_is_said(tmp_path: Path) -> None:
    with pytest.raises(EmbedderError, match="missing or damaged"):
        OnnxReranker(tmp_path / "none")
