"""Writes MiniLM's weights as an ONNX graph, so that embedding on the CPU needs no torch.

The graph is written node by node from the safetensors file: the same weights always give the same
bytes, and the export itself needs no torch either. tests/packaging compares its vectors with
sentence-transformers. The weights go into a file of their own, which onnxruntime maps: of weights
inside the graph it makes copies, which takes twice the memory and three times the time.

Inputs, B texts of T tokens, int64:
    input_ids, attention_mask, token_type_ids  (B, T)
Outputs, float32:
    last_hidden_state   (B, T, D)
    sentence_embedding  (B, D)  mean over the unmasked tokens, norm 1
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto, checker, helper, numpy_helper, save_model
from safetensors.numpy import load_file

OPSET = 17  # the first with LayerNormalization
IR_VERSION = 8
GRAPH, WEIGHTS = "model.onnx", "model.onnx.data"
SMALLEST = 1024  # bytes of a tensor that leaves the graph


class Graph:
    """Collects nodes and weights; every method returns the name of the tensor it makes."""

    def __init__(self) -> None:
        self.nodes: list[object] = []
        self.weights: list[object] = []
        self.known: set[str] = set()

    def weight(self, name: str, value: NDArray[np.generic]) -> str:
        if name not in self.known:
            self.known.add(name)
            self.weights.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def number(self, value: float) -> str:
        return self.weight(f"number {value}", np.array(value, dtype=np.float32))

    def integers(self, *values: int) -> str:
        return self.weight(f"integers {values}", np.array(values, dtype=np.int64))

    def node(self, operator: str, *inputs: str, output: str = "", **attributes: object) -> str:
        name = output or f"{operator}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [name], name=name, **attributes))
        return name


class Bert:
    """A BERT encoder, built from its weights' names."""

    def __init__(self, weights: dict[str, NDArray[np.float32]], config: dict[str, object]) -> None:
        self.graph = Graph()
        self.weights = weights
        self.heads = int(str(config["num_attention_heads"]))
        self.layers = int(str(config["num_hidden_layers"]))
        self.size = int(str(config["hidden_size"]))
        self.epsilon = float(str(config["layer_norm_eps"]))

    def linear(self, x: str, name: str) -> str:
        """Linear layer: x @ W.T + b. The weight is stored transposed, as MatMul wants it."""
        g = self.graph
        weight = g.weight(f"{name}.weight.T", self.weights[f"{name}.weight"].T)
        bias = g.weight(f"{name}.bias", self.weights[f"{name}.bias"])
        return g.node("Add", g.node("MatMul", x, weight), bias)

    def norm(self, x: str, name: str, output: str = "") -> str:
        weights = [
            self.graph.weight(f"{name}.{part}", self.weights[f"{name}.{part}"])
            for part in ("weight", "bias")
        ]
        return self.graph.node(
            "LayerNormalization", x, *weights, output=output, axis=-1, epsilon=self.epsilon
        )

    def gelu(self, x: str) -> str:
        """GELU, x · (1 + erf(x / √2)) / 2, in the order that onnxruntime fuses."""
        g = self.graph
        erf = g.node("Erf", g.node("Div", x, g.number(float(np.sqrt(2.0)))))
        product = g.node("Mul", x, g.node("Add", erf, g.number(1.0)))
        return g.node("Mul", product, g.number(0.5))

    def embeddings(self) -> str:
        g = self.graph
        rows = []
        for table, ids in (("word", "input_ids"), ("token_type", "token_type_ids")):
            name = f"embeddings.{table}_embeddings.weight"
            rows.append(g.node("Gather", g.weight(name, self.weights[name]), ids))
        table = "embeddings.position_embeddings.weight"
        length = g.node("Slice", g.node("Shape", "input_ids"), g.integers(1), g.integers(2))
        positions = g.node(  # (T, D)
            "Slice",
            g.weight(table, self.weights[table]),
            g.integers(0),
            length,
            g.integers(0),
        )
        total = g.node("Add", g.node("Add", *rows), positions)
        return self.norm(total, "embeddings.LayerNorm")

    def attention(self, x: str, bias: str, name: str) -> str:
        g = self.graph
        split = g.integers(0, 0, self.heads, self.size // self.heads)
        parts = {}
        for part, order in (
            ("query", (0, 2, 1, 3)),
            ("key", (0, 2, 3, 1)),
            ("value", (0, 2, 1, 3)),
        ):
            projected = g.node("Reshape", self.linear(x, f"{name}.self.{part}"), split)
            parts[part] = g.node("Transpose", projected, perm=order)
        scores = g.node("MatMul", parts["query"], parts["key"])  # (B, H, T, T)
        scaled = g.node("Div", scores, g.number(float(np.sqrt(self.size // self.heads))))
        shares = g.node("Softmax", g.node("Add", scaled, bias), axis=-1)
        mixed = g.node("Transpose", g.node("MatMul", shares, parts["value"]), perm=(0, 2, 1, 3))
        joined = g.node("Reshape", mixed, g.integers(0, 0, self.size))
        out = self.linear(joined, f"{name}.output.dense")
        return self.norm(g.node("Add", out, x), f"{name}.output.LayerNorm")

    def layer(self, x: str, bias: str, number: int) -> str:
        g, name = self.graph, f"encoder.layer.{number}"
        x = self.attention(x, bias, f"{name}.attention")
        wide = self.gelu(self.linear(x, f"{name}.intermediate.dense"))
        out = self.linear(wide, f"{name}.output.dense")
        last = "last_hidden_state" if number == self.layers - 1 else ""
        return self.norm(g.node("Add", out, x), f"{name}.output.LayerNorm", output=last)

    def pooled(self, hidden: str, mask: str) -> str:
        """Mean over the tokens of the mask (B, T), then norm 1."""
        g = self.graph
        column = g.node("Unsqueeze", mask, g.integers(2))  # (B, T, 1)
        total = g.node("ReduceSum", g.node("Mul", hidden, column), g.integers(1), keepdims=0)
        count = g.node("ReduceSum", column, g.integers(1), keepdims=0)
        mean = g.node("Div", total, g.node("Max", count, g.number(1e-9)))
        length = g.node("ReduceL2", mean, axes=[1], keepdims=1)
        return g.node(
            "Div", mean, g.node("Max", length, g.number(1e-12)), output="sentence_embedding"
        )

    def build(self) -> object:
        """The whole model as an ONNX ModelProto."""
        g = self.graph
        mask = g.node("Cast", "attention_mask", to=TensorProto.FLOAT)
        hole = g.node("Mul", g.node("Sub", g.number(1.0), mask), g.number(-10000.0))
        bias = g.node("Unsqueeze", hole, g.integers(1, 2))  # (B, 1, 1, T)
        x = self.embeddings()
        for number in range(self.layers):
            x = self.layer(x, bias, number)
        self.pooled(x, mask)
        inputs = [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
            for name in ("input_ids", "attention_mask", "token_type_ids")
        ]
        outputs = [
            helper.make_tensor_value_info(
                "last_hidden_state", TensorProto.FLOAT, ["batch", "tokens", self.size]
            ),
            helper.make_tensor_value_info(
                "sentence_embedding", TensorProto.FLOAT, ["batch", self.size]
            ),
        ]
        graph = helper.make_graph(g.nodes, "sentence-encoder", inputs, outputs, g.weights)
        return helper.make_model(
            graph,
            producer_name="clausebook",
            ir_version=IR_VERSION,
            opset_imports=[helper.make_opsetid("", OPSET)],
        )


def export(folder: Path) -> Path:
    """Reads `folder`/model.safetensors and config.json; writes model.onnx and its weights there."""
    config = json.loads((folder / "config.json").read_text(encoding="utf8"))
    model = Bert(load_file(folder / "model.safetensors"), config).build()
    checker.check_model(model, full_check=True)
    with tempfile.TemporaryDirectory(dir=folder) as partial:
        save_model(
            model, Path(partial, GRAPH), save_as_external_data=True, location=WEIGHTS,
            size_threshold=SMALLEST,
        )  # fmt: skip
        for name in (WEIGHTS, GRAPH):
            Path(partial, name).chmod(0o644)
            Path(partial, name).replace(folder / name)
    return folder / GRAPH


def main() -> None:
    parser = argparse.ArgumentParser(description="Writes the embedder's model.onnx.")
    parser.add_argument("folder", type=Path, help="folder with model.safetensors and config.json")
    print(export(parser.parse_args().folder))


if __name__ == "__main__":
    main()
