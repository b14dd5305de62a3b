"""Embedders: text to unit vectors, by onnxruntime (the default, no torch) or sentence-transformers.

Both give the vectors of the same model, so an index built with one serves the other: `name` is the
model's. They know no documents.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rag.errors import EmbedderError
from rag.vectors import Vectors

_BATCH_TOKENS = 4096
_BATCH_TEXTS = 64


class OnnxEmbedder:
    """A sentence-transformers model folder with `model.onnx`, run on the CPU.

    Mean pooling over all tokens, then length 1. Texts are batched by length, so that little is
    padding; the result doesn't depend on the batch.
    """

    def __init__(self, folder: Path, threads: int = 0) -> None:
        """Loads the model; `threads` 0 leaves a core free for the rest of the application.

        Raises:
            EmbedderError: a file is missing or damaged.
        """
        import onnxruntime
        import tokenizers

        self.name = folder.name
        self.limit = _limit(folder)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads or max(1, min(8, (os.cpu_count() or 2)))
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 3
        onnxruntime.disable_telemetry_events()
        try:
            self._tokenizer: Any = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
            # A path, not bytes: the session keeps those beside its own copy of the weights, and
            # can't map weights that lie beside the graph.
            self._session: Any = onnxruntime.InferenceSession(
                str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:
            raise _missing(folder) from error
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._inputs = {node.name for node in self._session.get_inputs()}
        self.dimension = int(self._session.get_outputs()[0].shape[-1])

    def count_tokens(self, text: str) -> int:
        """Tokens of `text`, the two special ones included."""
        return len(self._tokenizer.encode(text).ids)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (len(texts), dimension); what is over the limit is cut."""
        encoded = self._tokenizer.encode_batch(list(texts)) if texts else []
        ids = [_cut(encoding.ids, self.limit) for encoding in encoded]
        vectors = np.zeros((len(ids), self.dimension), np.float32)
        for batch in _batches([len(row) for row in ids]):
            vectors[batch] = self._run([ids[i] for i in batch])
        return vectors

    def _run(self, ids: Sequence[Sequence[int]]) -> Vectors:
        longest = max(map(len, ids))
        tokens = np.zeros((len(ids), longest), np.int64)  # (B, T)
        mask = np.zeros_like(tokens)
        for row, values in enumerate(ids):
            tokens[row, : len(values)] = values
            mask[row, : len(values)] = 1
        feed = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": tokens * 0}
        feed = {name: value for name, value in feed.items() if name in self._inputs}
        states = self._session.run(None, feed)[0]  # (B, T, D)
        weights = mask[:, :, None].astype(np.float32)
        mean: Vectors = (states * weights).sum(1) / weights.sum(1)
        mean /= np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), 1e-12)
        return mean


class SentenceTransformerEmbedder:
    """The reference: any sentence-transformers model, on a GPU where there is one."""

    def __init__(self, folder: Path, device: str | None = None) -> None:
        """Loads the model; imports torch.

        Raises:
            EmbedderError: sentence-transformers isn't installed, or a file is missing or damaged.
        """
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise EmbedderError(
                "sentence-transformers is not installed; install clausebook[reference]."
            ) from error
        if not folder.is_dir():
            raise _missing(folder)
        try:
            self._model: Any = SentenceTransformer(str(folder), device=device)
        except Exception as error:
            raise _missing(folder) from error
        self.name = folder.name
        self.limit = _limit(folder)
        self._model.max_seq_length = self.limit
        self.dimension = len(self.embed(["a"])[0])

    def count_tokens(self, text: str) -> int:
        """Tokens of `text`, the special ones included."""
        return len(self._model.tokenizer(text, truncation=False, verbose=False)["input_ids"])

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (len(texts), dimension)."""
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        vectors: Vectors = self._model.encode(
            list(texts), normalize_embeddings=True, show_progress_bar=False
        )
        return np.asarray(vectors, np.float32)


def load_embedder(folder: Path, threads: int = 0) -> OnnxEmbedder | SentenceTransformerEmbedder:
    """The fast embedder if the folder has `model.onnx`, else the reference.

    Raises:
        EmbedderError: the model is missing or damaged, or neither can run it.
    """
    if (folder / "model.onnx").exists():
        return OnnxEmbedder(folder, threads)
    if not (folder / "model.safetensors").exists():
        raise _missing(folder)
    return SentenceTransformerEmbedder(folder)


def _missing(folder: Path) -> EmbedderError:
    return EmbedderError(
        f"The embedding model in {folder} is missing or damaged; fetch it again (make models)."
    )


def _limit(folder: Path) -> int:
    try:
        settings = json.loads((folder / "sentence_bert_config.json").read_text("utf-8"))
        return int(settings["max_seq_length"])
    except (OSError, ValueError, KeyError):
        return 256


def _cut(ids: Sequence[int], limit: int) -> Sequence[int]:
    return ids if len(ids) <= limit else [*ids[: limit - 1], ids[-1]]


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Indexes in batches of like length, longest first, so that memory is asked for once."""
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        longest = lengths[batch[0]] if batch else 0
        if batch and (len(batch) >= _BATCH_TEXTS or (len(batch) + 1) * longest > _BATCH_TOKENS):
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch
