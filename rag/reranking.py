"""A second look at the best passages by a cross-encoder, where the user has such a model.

A cross-encoder reads question and passage together: better than comparing vectors, and too slow
for more than a few passages. None ships with the program; a sequence classification model exported
to ONNX with one output (e.g. an MS MARCO MiniLM) is used when it is given to the `Library`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rag.errors import EmbedderError

_LIMIT = 512  # tokens of question and passage together


class Reranker(Protocol):
    """Says how well passages fit a question."""

    def score(self, question: str, passages: Sequence[str]) -> NDArray[np.float32]:
        """One value a passage, shape (len(passages),); higher is better, the scale is free."""


class OnnxReranker:
    """A folder with `model.onnx` and `tokenizer.json`, run on the CPU."""

    def __init__(self, folder: Path, threads: int = 1) -> None:
        """Loads the model.

        Raises:
            EmbedderError: a file is missing or damaged.
        """
        import onnxruntime
        import tokenizers

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 3
        try:
            self._tokenizer: Any = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
            model = (folder / "model.onnx").read_bytes()
            self._session: Any = onnxruntime.InferenceSession(
                model, options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:
            raise EmbedderError(
                f"The reranking model in {folder} is missing or damaged; add it again."
            ) from error
        self._tokenizer.enable_truncation(_LIMIT, strategy="only_second")
        self._tokenizer.enable_padding()
        self._inputs = {node.name for node in self._session.get_inputs()}

    def score(self, question: str, passages: Sequence[str]) -> NDArray[np.float32]:
        """One value a passage, shape (len(passages),)."""
        if not passages:
            return np.zeros(0, np.float32)
        encoded = self._tokenizer.encode_batch([(question, passage) for passage in passages])
        feed = {
            "input_ids": np.array([e.ids for e in encoded], np.int64),  # (B, T)
            "attention_mask": np.array([e.attention_mask for e in encoded], np.int64),
            "token_type_ids": np.array([e.type_ids for e in encoded], np.int64),
        }
        output = self._session.run(None, {k: v for k, v in feed.items() if k in self._inputs})[0]
        return np.asarray(output, np.float32).reshape(len(passages), -1)[:, 0]
