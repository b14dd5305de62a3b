"""The torch decoder as a `Backend`: sequences of cells on one device, read and extended.

It joins the decoder, the cells and the workspace and keeps the promises of `engine.backend`:
nothing is appended when the device runs out of memory, and no sequence changes another. Files,
devices and types are chosen in `torch_load`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from engine.backend import Logits, SavedState, Tokenizer
from engine.errors import NoFreeSequence, OutOfCells, RestoreError
from engine.kv_blocks import BlockPool, BlockShape
from engine.torch_attention import BlockAttention, BlockwiseAttention, TokenAttention
from engine.torch_bags import BagAttention, BagIndices
from engine.torch_cells import Cells
from engine.torch_device import free_memory
from engine.torch_graphs import GraphDecoder
from engine.torch_model import Decoder
from engine.torch_state import decode_state, encode_state
from engine.torch_static import StaticDecoder
from engine.torch_workspace import Workspace
from engine.types import ModelInfo, SequenceId, TokenId


@dataclass(frozen=True, slots=True)
class CacheOptions:
    """How much the device holds, and in what form.

    Attributes:
        cells: tokens of all sequences together.
        sequences: most sequences at a time.
        batch: most tokens in one forward; rounded up to whole blocks, `together` of them.
        block: tokens of a block, and rows computed at a time when a prompt is read; 0 for what
            suits the decoder.
        together: blocks read at once; 0 for what suits the decoder, 1 where they are packed.
        dtype: how keys and values are kept; None for the decoder's own type.
        packed: keep them in 8 bits, but for the newest and the first block.
        static: decode with fixed shapes; always so on CUDA, where they are captured.
    """

    cells: int = 5120
    sequences: int = 8
    batch: int = 128
    block: int = 0
    together: int = 0
    dtype: torch.dtype | None = None
    packed: bool = False
    static: bool = False


class TorchBackend:
    """Implements `Backend` with a `Decoder`."""

    def __init__(
        self,
        decoder: Decoder,
        tokenizer: Tokenizer,
        options: CacheOptions,
        *,
        fingerprint: str,
        chat_template: str = "",
    ) -> None:
        config, block = decoder.config, options.block or decoder.block
        # An older block is packed before the next is read, not while it is.
        together = 1 if options.packed else options.together or decoder.together
        batch = -(-options.batch // (block * together)) * block * together
        options = replace(options, block=block, together=together, batch=batch)
        self._decoder, self._tokenizer, self._options = decoder, tokenizer, options
        self._chat_template = chat_template
        shape = BlockShape(
            config.layers,
            config.kv_heads,
            options.block,
            config.head_dim,
            options.dtype or decoder.dtype,
            options.packed,
        )
        self._pool = BlockPool(shape, options.cells, decoder.device)
        graphs = decoder.device.type == "cuda"
        static = options.static or graphs
        bags = decoder.sums_rows and not static
        self._workspace = Workspace(self._pool, decoder.dtype, bucketed=static, turned=bags)
        self._bags = BagIndices(config, self._workspace) if bags else None
        self._static: StaticDecoder | None = None
        if static:
            kind = GraphDecoder if graphs else StaticDecoder
            self._static = kind(decoder, self._workspace)
        self._sequences: dict[SequenceId, Cells] = {}
        self._info = ModelInfo(
            name=config.name,
            architecture=config.architecture,
            fingerprint=fingerprint,
            vocabulary=config.vocabulary,
            layers=config.layers,
            trained_context=config.trained_context,
            kv_bytes_per_token=shape.packed_token_nbytes if options.packed else shape.token_nbytes,
            parameters=decoder.parameters,
        )

    @property
    def name(self) -> str:
        return "torch"

    @property
    def info(self) -> ModelInfo:
        return self._info

    @property
    def tokenizer(self) -> Tokenizer:
        return self._tokenizer

    @property
    def chat_template(self) -> str:
        return self._chat_template

    @property
    def layout(self) -> str:
        """Type and shape of the blocks, the type they were computed in and the rotation."""
        shape, config = self._pool.shape, self._decoder.config
        kind = "int8" if shape.packed else str(shape.dtype).removeprefix("torch.")
        computed = str(self._decoder.dtype).removeprefix("torch.")
        stretched = "long" if config.long_context else "plain"
        return (
            f"torch/2/{kind}/{computed}/{stretched}/"
            f"{shape.layers}x{shape.kv_heads}x{shape.tokens}x{shape.head_dim}"
        )

    @property
    def batch(self) -> int:
        return self._options.batch

    @property
    def block(self) -> int:
        return self._options.block

    @property
    def free_cells(self) -> int:
        return self._pool.free_cells

    def new_sequence(self) -> SequenceId:
        """An empty sequence. Raises NoFreeSequence."""
        return self._adopt(Cells(self._pool))

    def free_sequence(self, sequence: SequenceId) -> None:
        """Forgets a sequence and its cells."""
        self._sequences.pop(sequence).clear()

    def forward(
        self, sequence: SequenceId, tokens: Sequence[TokenId], start: int, *, every: bool = False
    ) -> Logits:
        """Reads `tokens` from position `start` on; logits (V,), or (T, V) with `every`.

        One token alone is decoded: computed as one row. With `every`, or with more tokens, whole
        blocks are computed, and the bits don't depend on how a prompt was cut.
        """
        cells = self._sequences[sequence]
        self._check(cells, tokens, start)
        self._pool.need(len(tokens))
        with self._undone_on_failure(cells, start), torch.inference_mode():
            if len(tokens) == 1 and not every:
                return self._decode(cells, tokens[0], start)
            return self._read(cells, tokens, start, every)

    def remove(self, sequence: SequenceId, start: int, stop: int) -> None:
        """Drops the cells at positions start ≤ p < stop; never fails."""
        self._sequences[sequence].trim(start, stop)

    def fork(self, sequence: SequenceId) -> SequenceId:
        """A new sequence with the same cells, shared until they differ. Raises NoFreeSequence."""
        self._need_sequence()
        return self._adopt(self._sequences[sequence].fork())

    def positions(self, sequence: SequenceId) -> list[tuple[int, int]]:
        """Position ranges [start, stop) present, in order."""
        return self._sequences[sequence].ranges()

    def save(self, sequence: SequenceId, start: int, stop: int) -> bytes:
        """Keys and values of the cells at positions start ≤ p < stop, for `load`."""
        with torch.inference_mode():
            pieces = self._sequences[sequence].snapshot(start, stop)
            return encode_state(pieces, self._pool.shape, self.layout)

    def load(self, sequence: SequenceId, state: SavedState) -> None:
        """Appends the cells that `save` gave. Raises RestoreError, OutOfCells."""
        cells = self._sequences[sequence]
        try:
            with torch.inference_mode(), _out_of_memory():
                cells.restore(decode_state(state, self._pool.shape, self.layout))
        except RestoreError:
            cells.clear()
            raise

    def nbytes(self, sequence: SequenceId) -> int:
        """Bytes of the sequence's cells, shared ones included."""
        return self._sequences[sequence].nbytes

    def device_memory(self) -> tuple[int, int]:
        """Free and total bytes of the GPU's memory; 0, 0 on a CPU: that is the machine's."""
        return free_memory(self._decoder.device)

    def trim(self) -> None:
        """Gives blocks that no sequence uses back to the device."""
        self._pool.trim()

    def close(self) -> None:
        """Frees the model and every sequence."""
        for sequence in list(self._sequences):
            self.free_sequence(sequence)
        self._pool.trim()

    def _adopt(self, cells: Cells) -> SequenceId:
        self._need_sequence()
        number = next(n for n in range(self._options.sequences) if n not in self._sequences)
        self._sequences[number] = cells
        return number

    def _need_sequence(self) -> None:
        if len(self._sequences) >= self._options.sequences:
            raise NoFreeSequence(
                f"All {self._options.sequences} sequences are in use; free one first."
            )

    def _check(self, cells: Cells, tokens: Sequence[TokenId], start: int) -> None:
        if not 1 <= len(tokens) <= self._options.batch:
            raise ValueError(
                f"a forward reads 1 to {self._options.batch} tokens, not {len(tokens)}"
            )
        if start != cells.stop and (cells.stop or start < 0):
            raise ValueError(f"position {start} doesn't follow the last, {cells.stop - 1}")
        if not all(0 <= token < self._info.vocabulary for token in tokens):
            raise ValueError("a token isn't in the vocabulary")

    def _read(self, cells: Cells, tokens: Sequence[TokenId], start: int, every: bool) -> Logits:
        """Some blocks at a time; the rows of a block that aren't asked for are padding."""
        size, logits = self._options.block, []
        whole = self._options.together * size
        # A sequence that begins somewhere has a hole, which must be known to the next block.
        most = whole if start == cells.stop else size
        stop = start + len(tokens)
        while start < stop:
            last = min(stop, (start // size) * size + most)
            piece, tokens = tokens[: last - start], tokens[last - start :]
            hidden, rows = self._read_blocks(cells, piece, start)  # (T, E)
            start = last
            if every:
                parts = [self._decoder.logits(part) for part in torch.split(hidden, size)]
                logits.append(torch.cat(parts)[rows])  # (rows, V)
            elif start == stop:
                logits.append(self._decoder.logits(hidden[rows][-1:])[0])  # (V,)
        return _to_numpy(torch.cat(logits))

    def _read_blocks(
        self, cells: Cells, tokens: Sequence[TokenId], start: int
    ) -> tuple[Tensor, slice]:
        """The states of whole blocks (T, E), and which rows are those of `tokens`."""
        size, stop = self._options.block, start + len(tokens)
        indices = range(start // size, -(-stop // size))
        first = indices.start * size
        ranges = [(max(start - i * size, 0), min(stop - i * size, size)) for i in indices]
        for index in indices:
            cells.prepare(index)
        numbers = range(len(cells.entries) - len(indices), len(cells.entries))
        self._workspace.attach(cells)
        parts = []
        for number, own in zip(numbers, ranges, strict=True):
            self._workspace.begin(cells, number, *own)
            parts.append(self._block_attention(cells, number, slice(*own)))
        attend = parts[0] if len(parts) == 1 else BlockwiseAttention(parts)
        padded = np.zeros(len(indices) * size, np.int64)
        padded[start - first : stop - first] = tokens
        rows = torch.from_numpy(padded).to(self._decoder.device)  # (T,)
        hidden = self._decoder.hidden(rows, attend.positions, attend, size)
        for number, own in zip(numbers, ranges, strict=True):
            self._workspace.finish(cells, number, *own)
        return hidden, slice(start - first, stop - first)

    def _block_attention(self, cells: Cells, number: int, rows: slice) -> BlockAttention:
        config, dtype = self._decoder.config, self._decoder.block_dtype
        return BlockAttention(config, self._workspace, cells, number, rows, dtype)

    def _decode(self, cells: Cells, token: TokenId, position: int) -> Logits:
        """One token as one row."""
        index, row = divmod(position, self._options.block)
        cells.prepare(index)
        number = len(cells.entries) - 1
        self._workspace.attach(cells)
        self._workspace.begin(cells, number, row, row + 1)
        if self._static is not None:
            logits = self._static.step(token, position, number * self._options.block + row)
            self._workspace.finish(cells, number, row, row + 1)
            return _to_numpy(logits)
        attend = self._token_attention(cells, row)
        one = torch.tensor([token], device=self._decoder.device)
        hidden = self._decoder.hidden(one, attend.positions, attend)  # (1, E)
        self._workspace.finish(cells, number, row, row + 1, turned=self._bags is not None)
        return _to_numpy(self._decoder.logits(hidden)[0])

    def _token_attention(self, cells: Cells, row: int) -> TokenAttention | BagAttention:
        config = self._decoder.config
        if self._bags is None:
            return TokenAttention(config, self._workspace, cells, row)
        return BagAttention(config, self._workspace, cells, row, self._bags)

    @contextlib.contextmanager
    def _undone_on_failure(self, cells: Cells, start: int) -> Iterator[None]:
        """Whatever goes wrong, nothing was appended; out of memory becomes OutOfCells."""
        try:
            with _out_of_memory():
                yield
        except BaseException:
            cells.trim(start, start + self._options.batch)
            cells.abandon()
            self._workspace.forget()
            raise


@contextlib.contextmanager
def _out_of_memory() -> Iterator[None]:
    try:
        yield
    except torch.OutOfMemoryError as error:
        raise OutOfCells("The device has no memory for more tokens.") from error


def _to_numpy(logits: Tensor) -> Logits:
    array: Logits = logits.cpu().numpy()
    return array
