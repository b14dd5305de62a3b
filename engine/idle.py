"""When the engine may use idle time, and for what, one small step at a time.

It knows neither backends nor conversations: the work is a list of callables, each of which does
one batch and says whether more is left.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

import psutil

QUIET_SECONDS = 2.0
Step = Callable[[], bool]


def on_battery() -> bool:
    """Whether the machine has a battery and runs on it."""
    probe = getattr(psutil, "sensors_battery", None)
    battery = probe() if probe is not None else None
    return battery is not None and battery.power_plugged is False


class IdleWork:
    """Runs steps while nobody waits.

    Args:
        steps: kinds of work in order of use; each call does one batch and returns False when that
            kind has nothing left.
        allow_on_battery: the user's setting.
        quiet_seconds: how long nothing must have happened before work begins.
    """

    def __init__(
        self,
        steps: Iterable[Step],
        *,
        allow_on_battery: bool = False,
        quiet_seconds: float = QUIET_SECONDS,
        clock: Callable[[], float] = time.monotonic,
        battery: Callable[[], bool] = on_battery,
    ) -> None:
        self._steps = list(steps)
        self._allow_on_battery, self._quiet_seconds = allow_on_battery, quiet_seconds
        self._clock, self._battery = clock, battery
        self._last_use = clock()

    def touch(self) -> None:
        """The user acted; the quiet time begins again."""
        self._last_use = self._clock()

    @property
    def allowed(self) -> bool:
        """Whether idle work may run now."""
        if self._clock() - self._last_use < self._quiet_seconds:
            return False
        return self._allow_on_battery or not self._battery()

    def step(self) -> bool:
        """Does one batch of work if it is allowed; False when nothing was done."""
        if not self.allowed:
            return False
        return any(step() for step in self._steps)
