"""Idle work on conversations: reads what is pending, makes answers exact, renumbers windows.

An answer's keys and values were written token by token and can differ in the last bits from what
reading it at once gives. So it is read again, on a fork, a batch a step; when all is read, the
fork takes the conversation's place. In the same way a trimmed conversation whose positions come
near the model's trained limit is read anew from position 0. Whatever the user does in between,
nothing is lost but the fork. It knows the device and the reader, and decides neither when it may
work nor what is kept.
"""

from __future__ import annotations

from collections.abc import Callable

from engine.conversation import Conversation
from engine.device import Device
from engine.errors import EngineError, NoFreeSequence, OutOfCells
from engine.reader import Reader

_TOKENS = 32  # a step's: whoever asks in the middle of one waits about a tenth of a second


class CatchUp:
    """One small step at a time.

    Args:
        reader: reads. bring_back: puts a conversation on the device.
        sync: is told that the device holds more of a conversation, or more exactly.
    """

    def __init__(
        self,
        reader: Reader,
        bring_back: Callable[[Conversation], object],
        sync: Callable[[Conversation], None],
    ) -> None:
        self._reader, self._bring_back, self._sync = reader, bring_back, sync
        self._device: Device = reader.device
        self._wanted: list[Conversation] = []
        self._skip: set[tuple[str, int]] = set()
        self._trying: Conversation | None = None
        self._target: Conversation | None = None
        self._work: Conversation | None = None

    def want(self, conversation: Conversation) -> None:
        """The user opened a conversation: it should be up to date."""
        self.forget(conversation)
        self._wanted.append(conversation)

    def forget(self, conversation: Conversation) -> None:
        """It is deleted or replaced."""
        self._wanted = [one for one in self._wanted if one is not conversation]

    def pause(self) -> None:
        """The user acts: gives up what is half done, so that nothing is in the way."""
        if self._work is not None:
            self._work.leave_device()
        self._work = self._target = None

    def step(self) -> bool:
        """Reads at most one batch; False when nothing is left."""
        try:
            return self._continue() or self._read_pending() or self._begin()
        except (OutOfCells, NoFreeSequence):
            self._give_up()
            return False
        except EngineError:
            self._give_up()
            raise

    def _read_pending(self) -> bool:
        """Reads a batch of a conversation that was opened or whose last words are unread."""
        for conversation in [*reversed(self._wanted), *reversed(self._device.resident)]:
            if self._device.running(conversation) or not conversation.pending:
                continue
            if self._skipped(conversation):
                continue
            self._trying = conversation
            with self._device.pinned(conversation):
                self._bring_back(conversation)
                self._one_batch(conversation)
            if not conversation.pending:
                self._sync(conversation)
            return True
        return False

    def _begin(self) -> bool:
        """Forks the conversation used last among those that need it, as far as it is good."""
        backend = self._device.backend
        if not backend.info.can_trim:
            return False
        for target in reversed(self._device.resident):
            if target.pending or self._device.running(target) or self._skipped(target):
                continue
            good = 0 if self._near_limit(target) else self._exact(target)
            if good == target.held:
                continue
            if backend.free_cells < target.held - good:
                self._skip.add(_state(target))
                continue
            self._trying = target
            self._target, self._work = target, self._fork(target, good)
            return True
        return False

    def _exact(self, target: Conversation) -> int:
        """Visible tokens from the first that needn't be read again."""
        window = target.window
        visible = [place for place in target.decoded if window.visible(place, place + 1)]
        return min((window.index_of(place) for place in visible), default=target.held)

    def _near_limit(self, target: Conversation) -> bool:
        """Whether the positions left by trims soon end, and numbering anew would help."""
        trained, window = self._device.backend.info.trained_context, target.window
        spent = window.next_position - len(window)
        return bool(trained and spent and window.next_position > trained - self._reader.limit // 4)

    def _fork(self, target: Conversation, good: int) -> Conversation:
        backend = self._device.backend
        work = Conversation("", backend)
        work.transcript, work.window = target.transcript, target.window.copy()
        if good and target.sequence is not None:
            work.sequence = backend.fork(target.sequence)
            work.held, work.decoded = target.held, set(target.decoded)
            work.keep(good)
        else:
            work.sequence = backend.new_sequence()
            work.window.close_gap(0)
        return work

    def _continue(self) -> bool:
        """Reads the fork's next batch; exchanges the sequences when it is complete."""
        work, target = self._work, self._target
        if work is None or target is None:
            return False
        if target.sequence is None or target.window.end != work.window.end:
            self._give_up()
            return True
        if work.pending:
            self._one_batch(work)
        if not work.pending:
            old, target.sequence = target.sequence, work.sequence
            target.held, target.decoded, target.window = work.held, work.decoded, work.window
            self._device.backend.free_sequence(old)
            self._work = self._target = None
            self._sync(target)
        return True

    def _one_batch(self, conversation: Conversation) -> None:
        steps = self._reader.read(conversation, _TOKENS)
        next(steps, None)
        steps.close()  # type: ignore[attr-defined]

    def _skipped(self, conversation: Conversation) -> bool:
        """Whether it failed already in the state that it is in."""
        return _state(conversation) in self._skip

    def _give_up(self) -> None:
        """What failed isn't tried again before something changed."""
        if self._trying is not None:
            self._skip.add(_state(self._trying))
        self.pause()


def _state(conversation: Conversation) -> tuple[str, int]:
    return conversation.id, len(conversation.transcript.ids)
