"""How likely given answers are, without writing one. Everything happens on a fork."""

from __future__ import annotations

from collections.abc import Sequence

from engine.backend import Logits
from engine.conversation import Conversation
from engine.reader import Reader
from engine.sampling import log_probability
from engine.types import SequenceId, TokenId, Turn


class Scorer:
    """Scores answers to a turn that is added to a copy of a conversation."""

    def __init__(self, reader: Reader) -> None:
        self._reader, self._device = reader, reader.device

    def score(self, base: Conversation, turn: Turn, answers: Sequence[str]) -> list[float]:
        """Mean log-likelihood per token of each answer.

        Args:
            base: stays as it is; what it holds on the device is shared.
            turn: its `prefix` is read, `choices` and `spans` don't matter.
            answers: texts that may follow the prefix.
        """
        encode = self._device.backend.tokenizer.encode
        ids = [encode(answer) for answer in answers]
        work = self._fork(base)
        try:
            self._reader.begin(work, turn, max((len(one) for one in ids), default=0))
            logits: Logits | None = None
            for read in self._reader.read(work):
                logits = read.logits
            assert logits is not None
            assert work.sequence is not None
            _, position = work.window.at(work.held - 1)
            return [self._mean(work.sequence, position + 1, logits, one) for one in ids]
        finally:
            work.leave_device()

    def _fork(self, base: Conversation) -> Conversation:
        work = Conversation("", self._device.backend)
        work.transcript, work.window = base.transcript.copy(), base.window.copy()
        if base.sequence is not None and base.held:
            work.sequence = self._device.fork(base.sequence)
            work.held = base.held
        return work

    def _mean(
        self, sequence: SequenceId, start: int, logits: Logits, ids: Sequence[TokenId]
    ) -> float:
        """Mean over the answer's tokens; `logits` (V,) are those before the first."""
        total = log_probability(logits, ids[0])
        copy = self._device.fork(sequence)
        try:
            batch = self._device.backend.batch
            for at in range(0, len(ids) - 1, batch):
                part = ids[at : min(at + batch, len(ids) - 1)]
                rows = self._device.forward(copy, part, start + at, every=True)  # (T, V)
                for row, token in zip(rows, ids[at + 1 :], strict=False):
                    total += log_probability(row, token)
        finally:
            self._device.backend.free_sequence(copy)
        return total / len(ids)
