"""What an engine does besides answering: minds memory, and uses the time when nobody asks.

It decides when; the governor, the tiers and the catching up know how.
"""

from __future__ import annotations

from collections import deque

from engine.catch_up import CatchUp
from engine.device import Device
from engine.governor import Governor
from engine.idle import IdleTime
from engine.tier import Tier


class Housekeeping:
    """Between answers and, for memory, during them.

    Args:
        window: most tokens in view when memory is ample.
        governor: says what window memory allows; None always allows the whole.
        idle_time: says when idle work may run; None never allows it.
        notices: gets lines for the user.
    """

    def __init__(
        self,
        device: Device,
        tier: Tier,
        window: int,
        governor: Governor | None,
        idle_time: IdleTime | None,
        notices: deque[str],
    ) -> None:
        self._device, self._tier, self._whole_window = device, tier, window
        self._governor, self._idle_time, self._notices = governor, idle_time, notices
        self.catch_up: CatchUp | None = None

    @property
    def window(self) -> int:
        """Most tokens of a conversation in view, as memory allows at present."""
        return self._governor.window if self._governor else self._whole_window

    def busy(self) -> None:
        """The user acts: idle work stops and gives back what it uses."""
        self.touch()
        if self.catch_up is not None:
            self.catch_up.pause()

    def touch(self) -> None:
        """Somebody looks at a conversation: the quiet time begins again."""
        if self._idle_time is not None:
            self._idle_time.touch()

    def watch(self) -> None:
        """Looks at memory, and passes on what there is to say about it."""
        if self._governor is not None:
            self._notices += self._governor.check()

    def release_idle(self) -> bool:
        """Memory is short: lets one idle conversation leave; False if there is none."""
        released = self._tier.release_one() or self._device.evict_one()
        trim = getattr(self._device.backend, "trim", None)
        if trim is not None:
            trim()  # a decoder that keeps freed memory for later gives it back
        return released

    def idle_step(self) -> bool:
        """One small step of idle work, a batch at most; False when nothing is left or allowed."""
        self.watch()
        if self._idle_time is None or not self._idle_time.allowed:
            return False
        expired = self._tier.expired()
        for conversation in self._device.resident:
            if conversation.id in expired and not self._device.running(conversation):
                self._device.evict(conversation)
        self._tier.expired()  # those that left the device just now
        return self.catch_up is not None and self.catch_up.step()
