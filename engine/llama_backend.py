"""The decoder that runs everywhere: llama.cpp, through its C functions.

One context with a unified cache holds all sequences. One number beyond those given out is a
scratch sequence: a range of positions is saved by sharing it with the scratch sequence and saving
that, and restored the other way round, so that a part of a sequence can be saved at all.

llama.cpp's `Llama` class is not used: it offers neither several sequences nor a unified cache, and
its saved states carry the logits of a whole batch.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.backend import Logits, SavedState
from engine.cell_book import CellBook, ranges_of
from engine.errors import CannotTrim, EngineError, OutOfCells, RestoreError
from engine.llama_context import ROUND, kv_type_of, new_context
from engine.llama_library import build_name, last_errors, load_library
from engine.llama_model import LlamaModel
from engine.llama_state import State, check_positions, form_of, pack_head, unpack
from engine.llama_tokenizer import LlamaTokenizer
from engine.model_file import ModelFile
from engine.threads import Threads
from engine.types import ModelInfo, SequenceId, TokenId


class LlamaBackend:
    """Implements `Backend` with llama.cpp.

    Args:
        model: the checked model file.
        cells: tokens of all sequences together; rounded up to a multiple of 256.
        sequences: most sequences at a time.
        batch: most tokens in one forward.
        kv_type: "f16", "q8_0" or "q4_0".
        threads: 0 chooses from the machine and its load.

    Raises:
        ModelError: llama.cpp can't load the model.
        BackendUnavailable: llama.cpp can't be loaded.
        EngineError: there is no memory for the cells.
    """

    def __init__(
        self,
        model: ModelFile,
        *,
        cells: int,
        sequences: int = 8,
        batch: int = 128,
        kv_type: str = "f16",
        threads: int = 0,
    ) -> None:
        kind = kv_type_of(kv_type)
        self._library: Any = load_library()
        self._threads = Threads(threads)
        self._model = LlamaModel(self._library, model)
        self._batch_size, self._scratch = batch, sequences
        capacity = -(-cells // ROUND) * ROUND
        try:
            self._context = new_context(
                self._library, self._model, kind, capacity, sequences, batch
            )
        except EngineError:
            self._model.close()
            raise
        self._book = CellBook(capacity, sequences)
        self._memory = self._library.llama_get_memory(self._context)
        self._batch = self._library.llama_batch_init(batch, 0, 1)
        self._tokenizer = LlamaTokenizer(self._library, self._model.vocabulary)
        self._layout = f"{build_name(self._library)} {kv_type} {kind.attention} unified"
        self._form = form_of(f"{self._layout} {model.fingerprint}")
        self._info = self._model.info(kind.bytes_per_token(model))
        # Without flash attention a batch is summed up in another order than a single token.
        self.rows_alike = batch if kind.flash else 1

    @property
    def name(self) -> str:
        return "llama.cpp"

    @property
    def info(self) -> ModelInfo:
        return self._info

    @property
    def tokenizer(self) -> LlamaTokenizer:
        return self._tokenizer

    @property
    def chat_template(self) -> str:
        return self._model.chat_template

    @property
    def layout(self) -> str:
        return self._layout

    @property
    def batch(self) -> int:
        return self._batch_size

    @property
    def block(self) -> int:
        return 1

    @property
    def free_cells(self) -> int:
        return self._book.free

    def new_sequence(self) -> SequenceId:
        """An empty sequence. Raises NoFreeSequence."""
        return self._book.open()

    def free_sequence(self, sequence: SequenceId) -> None:
        """Forgets a sequence and its cells."""
        self._book.close(sequence)
        self._clear(sequence)

    def forward(
        self, sequence: SequenceId, tokens: Sequence[TokenId], start: int, *, every: bool = False
    ) -> Logits:
        """Reads `tokens` from position `start` on; logits (V,), or (T, V) with `every`."""
        count = len(tokens)
        if not 1 <= count <= self._batch_size:
            raise ValueError(f"a forward reads 1 to {self._batch_size} tokens, not {count}")
        last = self._book.last(sequence)
        if start <= last or (start > last + 1 and last >= 0):
            raise ValueError(f"position {start} doesn't follow the last, {last}")
        if min(tokens) < 0 or max(tokens) >= self._info.vocabulary:
            raise ValueError("a token isn't in the vocabulary")
        self._book.need(count)
        self._fill(sequence, tokens, start, every=every)
        self._set_threads()
        self._decode()
        self._threads.done()
        self._book.add(sequence, range(start, start + count))
        rows = count if every else 1
        found = self._library.llama_get_logits(self._context)
        logits = np.ctypeslib.as_array(found, (rows, self._info.vocabulary)).copy()
        return logits if every else np.asarray(logits[0])

    def remove(self, sequence: SequenceId, start: int, stop: int) -> None:
        """Drops the cells at positions start ≤ p < stop. Raises CannotTrim."""
        gone = self._book.within(sequence, start, stop)
        if not gone:
            return
        if len(gone) == self._book.count(sequence):
            self._clear(sequence)
        elif not self._info.can_trim:
            raise CannotTrim(f"{self._info.name} can't drop a part of what it has read.")
        elif not self._library.llama_memory_seq_rm(self._memory, sequence, start, stop):
            raise CannotTrim(f"{self._info.name} can't drop positions {start} to {stop}.")
        self._book.drop(sequence, gone)

    def fork(self, sequence: SequenceId) -> SequenceId:
        """A new sequence with the same cells. Raises NoFreeSequence."""
        target = self._book.open()
        self._book.copy(sequence, target)
        self._library.llama_memory_seq_cp(self._memory, sequence, target, -1, -1)
        return target

    def positions(self, sequence: SequenceId) -> list[tuple[int, int]]:
        """Position ranges [start, stop) present, in order."""
        return self._book.ranges(sequence)

    def save(self, sequence: SequenceId, start: int, stop: int) -> SavedState:
        """Keys and values of the cells at positions start ≤ p < stop."""
        held = self._book.within(sequence, start, stop)
        whole = len(held) == self._book.count(sequence)
        if not whole and not self._info.can_trim:
            raise CannotTrim(f"The state of {self._info.name} can only be saved whole.")
        reserve = len(head := pack_head(self._form, ranges_of(held), [0]))
        if not held:
            return head
        data = self._save_part(sequence, *((-1, -1) if whole else (start, stop)), reserve)
        data[:reserve] = pack_head(self._form, ranges_of(held), [len(data) - reserve])
        return data

    def load(self, sequence: SequenceId, state: SavedState) -> None:
        """Appends the cells that `save` gave. Raises RestoreError, OutOfCells."""
        try:
            parsed = self._parse(sequence, state)
            self._book.need(parsed.count)
            for part in parsed.parts:
                if len(part):
                    self._load_part(sequence, part, parsed)
        except RestoreError:
            self._book.drop(sequence, self._book.within(sequence, 0, 1 << 31))
            self._clear(sequence)
            raise
        for start, stop in parsed.ranges:
            self._book.add(sequence, range(start, stop))

    def nbytes(self, sequence: SequenceId) -> int:
        """Bytes of the sequence's cells, shared ones included."""
        return self._book.count(sequence) * self._info.kv_bytes_per_token

    def close(self) -> None:
        """Frees the model and every sequence."""
        if self._context is not None:
            self._library.llama_batch_free(self._batch)
            self._library.llama_free(self._context)
            self._context = None
            self._model.close()

    def _fill(
        self, sequence: SequenceId, tokens: Sequence[TokenId], start: int, *, every: bool
    ) -> None:
        batch, count = self._batch, len(tokens)
        batch.n_tokens = count
        np.ctypeslib.as_array(batch.token, (count,))[:] = tokens
        np.ctypeslib.as_array(batch.pos, (count,))[:] = np.arange(start, start + count)
        np.ctypeslib.as_array(batch.n_seq_id, (count,))[:] = 1
        wanted = np.ctypeslib.as_array(batch.logits, (count,))
        wanted[:] = every
        wanted[-1] = 1
        for row in range(count):
            batch.seq_id[row][0] = sequence

    def _decode(self) -> None:
        code = self._library.llama_decode(self._context, self._batch)
        if code == 1:
            raise OutOfCells("llama.cpp found no free cells.")
        if code:
            raise EngineError(f"llama.cpp failed with code {code} ({last_errors()}); ask again.")

    def _set_threads(self) -> None:
        count = self._threads.count()
        self._library.llama_set_n_threads(self._context, count, count)

    def _clear(self, sequence: SequenceId) -> None:
        self._library.llama_memory_seq_rm(self._memory, sequence, -1, -1)

    def _save_part(self, sequence: SequenceId, start: int, stop: int, reserve: int) -> memoryview:
        self._library.llama_memory_seq_cp(self._memory, sequence, self._scratch, start, stop)
        try:
            size = self._library.llama_state_seq_get_size_ext(self._context, self._scratch, 0)
            data = np.empty(reserve + size, dtype=np.uint8)
            written = self._library.llama_state_seq_get_data_ext(
                self._context, _pointer(data[reserve:]), size, self._scratch, 0
            )
        finally:
            self._clear(self._scratch)
        if written != size:
            raise EngineError(f"llama.cpp saved {written} of {size} bytes ({last_errors()}).")
        return data.data  # the first `reserve` bytes are the caller's

    def _parse(self, sequence: SequenceId, state: SavedState) -> State:
        parsed = unpack(state, self._form)
        if parsed.ranges and parsed.ranges[0][0] <= self._book.last(sequence):
            raise RestoreError("The saved state doesn't follow what the sequence holds.")
        if self._model.plain and not self._model.two_dimensional:
            check_positions(parsed)
        elif not self._model.plain and self._book.count(sequence):
            raise RestoreError("This model's state can only be restored into an empty sequence.")
        return parsed

    def _load_part(self, sequence: SequenceId, part: memoryview, state: State) -> None:
        library, memory = self._library, self._memory
        data = np.frombuffer(part, dtype=np.uint8)
        try:
            read = library.llama_state_seq_set_data_ext(
                self._context, _pointer(data), len(part), self._scratch, 0
            )
            last = library.llama_memory_seq_pos_max(memory, self._scratch)
            if read != len(part) or last != state.ranges[-1][1] - 1:
                raise RestoreError(f"llama.cpp can't restore the saved state ({last_errors()}).")
            library.llama_memory_seq_cp(memory, self._scratch, sequence, -1, -1)
        finally:
            self._clear(self._scratch)


def _pointer(data: np.ndarray) -> Any:
    return data.ctypes.data_as(ctypes.POINTER(ctypes.c_uint8))
