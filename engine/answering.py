"""One turn, from the question to the committed answer, as a stream of events.

However it ends (by itself, at a limit, by a stop, because the caller closed the iterator), what
was written is committed with an end of turn, so that the next turn continues a whole conversation.
Only an error takes the turn back. It knows the reader and the samplers, and no tiers.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from engine.backend import Logits
from engine.constraint import Constraint, forced_tokens
from engine.conversation import Conversation
from engine.detokenizer import Detokenizer
from engine.errors import ContextTooLong, OutOfCells
from engine.reader import Reader
from engine.sampling import Sampler
from engine.speculation import Lookahead, Stepper
from engine.types import (
    Event,
    Finished,
    Prefilling,
    RestoredFrom,
    SamplingOptions,
    StopReason,
    TextDelta,
    TokenId,
    Turn,
    TurnStats,
)


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked.

    Attributes:
        target: the conversation that the turn is added to.
        work: where it is read: the same one, or a copy that shares the transcript.
        constraint: what the answer may say; None leaves the model free.
        stop: when set, the answer ends within one batch.
    """

    target: Conversation
    work: Conversation
    turn: Turn
    sampling: SamplingOptions
    constraint: Constraint | None
    stop: threading.Event


class Answering:
    """Runs one request. `events` may be iterated once.

    Args:
        restore: brings back what is kept of the conversation's keys and values, and says from
            where; called after the turn was appended.
        commit: is told when the turn is part of the conversation.
        lookahead: how far answers are read ahead; by default not at all.
    """

    def __init__(
        self,
        reader: Reader,
        request: Request,
        restore: Callable[[Conversation], RestoredFrom],
        commit: Callable[[Conversation], None],
        lookahead: Lookahead | None = None,
    ) -> None:
        self._reader, self._request = reader, request
        self._restore, self._told = restore, commit
        backend = reader.device.backend
        self._backend, self._tokenizer = backend, backend.tokenizer
        self._lookahead = lookahead or Lookahead(backend, "off")
        self._stepper: Stepper | None = None
        self._sampler = Sampler(request.sampling)
        turn, sampling = request.turn, request.sampling
        self._detokenizer = Detokenizer(self._tokenizer, sampling.stop, turn.prefix)
        self._written: list[TokenId] = []
        self._chosen = 0  # tokens that the model chose; others were forced
        self._logits: Logits | None = None
        self._reason: StopReason = "stopped"
        self._started = time.perf_counter()
        self._first = self._last = 0.0
        self._trimmed = self._reused = self._prefilled = 0
        self._restored_from: RestoredFrom = ""

    def events(self) -> Iterator[Event]:
        """The turn's events, `Finished` last.

        Raises:
            ContextTooLong: the turn doesn't fit into the window.
            OutOfCells: it doesn't fit into the device's memory.
        """
        target, work = self._request.target, self._request.work
        self._trimmed = self._reader.begin(target, self._request.turn, self._most)
        try:
            if work is not target:
                work.window = target.window.copy()
            self._restored_from = self._restore(work)
            yield from self._prefill()
            if self._request.turn.prefix:
                yield TextDelta(self._request.turn.prefix)
            if self._logits is not None:
                yield from self._write(self._logits)
        except GeneratorExit:
            self._commit()
            raise
        except BaseException:
            self._take_back()
            raise
        self._commit()
        yield Finished(self._detokenizer.text, self._reason, self.stats())

    def stats(self) -> TurnStats:
        """What the turn has cost so far."""
        seconds = self._last - self._first
        rate = max(0, self._chosen - 1) / seconds if seconds > 0 else 0.0
        return TurnStats(
            backend=self._backend.name,
            model=self._backend.info.name,
            prompt_tokens=self._reused + self._prefilled,
            reused_tokens=self._reused,
            prefilled_tokens=self._prefilled,
            generated_tokens=len(self._written),
            ttft_ms=1000 * (self._first - self._started) if self._written else 0.0,
            tokens_per_second=rate,
            trimmed_tokens=self._trimmed,
            restored_from=self._restored_from,
        )

    @property
    def _most(self) -> int:
        return self._request.sampling.max_tokens

    @property
    def _stopped(self) -> bool:
        return self._request.stop.is_set()

    def _prefill(self) -> Iterator[Event]:
        """Reads the new words; leaves the last logits in `_logits` unless it is stopped."""
        work = self._request.work
        self._reused = work.held
        total = work.pending
        if self._stopped:
            return
        for read in self._reader.read(work):
            self._prefilled += read.tokens
            yield Prefilling(self._prefilled, total)
            if not work.pending:
                self._logits = read.logits
            elif self._stopped:
                return

    def _write(self, logits: Logits) -> Iterator[Event]:
        """Chooses tokens until something ends the answer."""
        visible = self._request.work.visible_ids
        self._stepper = self._lookahead.stepper(self._reader.device.forward, visible)
        following: Logits | None = logits
        while following is not None and not self._stopped:
            left = self._most - len(self._written)
            ids = forced_tokens(self._request.constraint, self._tokenizer, left)
            ids = ids or [self._choose(following)]
            for token in ids:
                if delta := self._take(token):
                    yield TextDelta(delta)
                if self._ended(token):
                    break
            following = None if self._reason != "stopped" else self._read_on(ids)
        if self._detokenizer.stopped_by is None and (rest := self._detokenizer.finish()):
            yield TextDelta(rest)

    def _choose(self, logits: Logits) -> TokenId:
        self._chosen += 1
        constraint = self._request.constraint
        return self._sampler.sample(
            logits, constraint.allowed() if constraint is not None else None
        )

    def _take(self, token: TokenId) -> str:
        """Makes a token part of the answer; the text that it makes certain."""
        self._sampler.accept(token)
        self._request.target.transcript.append(token)
        self._request.work.catch_up()
        self._last = time.perf_counter()
        if not self._written:
            self._first = self._last
        self._written.append(token)
        if token in self._tokenizer.end_tokens:
            return ""
        if self._request.constraint is not None:
            self._request.constraint.advance(token)
        return self._detokenizer.push(token)

    def _ended(self, token: TokenId) -> bool:
        """Whether the answer ends with `token`; `_reason` says why."""
        constraint = self._request.constraint
        if token in self._tokenizer.end_tokens:
            self._reason = "end"
        elif self._detokenizer.stopped_by is not None:
            self._reason = "stop_string"
        elif constraint is not None and constraint.finished:
            self._reason = "end"
        elif len(self._written) >= self._most:
            self._reason = "length"
        return self._reason != "stopped"

    def _read_on(self, ids: Sequence[TokenId]) -> Logits | None:
        """Reads what was written; None if there is no room for more, or it was stopped."""
        try:
            if self._room():
                return self._step(ids[0]) if len(ids) == 1 else self._read_at_once()
        except OutOfCells:
            pass
        self._reason = "length"
        return None

    def _step(self, token: TokenId) -> Logits:
        """Reads a token that was written. Raises OutOfCells."""
        work = self._request.work
        work.window.close_gap(work.held)
        position = work.window.at(work.held)[1]
        sequence = self._reader.device.place(work)
        assert self._stepper is not None
        logits = self._stepper.step(sequence, token, position)
        work.mark_decoded()
        return logits

    def _read_at_once(self) -> Logits | None:
        """Reads tokens that nobody had to choose. Raises OutOfCells."""
        self._settle()
        work = self._request.work
        for read in self._reader.read(work):
            if not work.pending:
                return read.logits
            if self._stopped:
                break
        return None

    def _settle(self) -> None:
        """Removes what was read ahead, before anything else is done to the conversation."""
        if self._stepper is not None:
            self._stepper.settle()

    def _room(self) -> bool:
        """Whether one more token fits, after a trim if need be."""
        work, target = self._request.work, self._request.target
        trained = self._backend.info.trained_context
        if trained and work.window.next_position >= trained:
            return False
        if len(work.window) < self._reader.limit:
            return True
        if not self._backend.info.can_trim:
            return False  # reading everything again in the middle of an answer would be worse
        self._settle()
        try:
            self._trimmed += work.make_room(1, self._reader.limit)
        except ContextTooLong:
            return False
        if target is not work:
            target.catch_up()
            target.make_room(1, self._reader.limit)
        return True

    def _commit(self) -> None:
        target, work = self._request.target, self._request.work
        self._settle()
        self._cut_stop_string()
        closing = self._reader.closing(target.transcript.ids[-1])
        record = dict(self._request.turn.record)
        target.transcript.commit(self._detokenizer.text, closing, record)
        target.catch_up()
        if work is not target:
            work.leave_device()
        self._told(target)

    def _take_back(self) -> None:
        target, work = self._request.target, self._request.work
        self._settle()
        if work is not target:
            work.leave_device()
        target.transcript.abandon()
        target.truncate(target.transcript.committed)

    def _cut_stop_string(self) -> None:
        """Takes the tokens back that wrote nothing but the stop string."""
        if self._detokenizer.stopped_by is None or not self._backend.info.can_trim:
            return
        kept = len(self._detokenizer.text.encode()) - len(self._request.turn.prefix.encode())
        count = 0
        while kept > 0:
            kept -= len(self._tokenizer.piece(self._written[count]))
            count += 1
        places = len(self._request.target.transcript.ids) - (len(self._written) - count)
        self._request.work.truncate(places)
