"""When the engine may use idle time: nobody waits, and the machine isn't on battery.

It knows no work.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import psutil

QUIET_SECONDS = 2.0


def on_battery() -> bool:
    """Whether the machine has a battery and runs on it."""
    probe = getattr(psutil, "sensors_battery", None)
    try:
        battery = probe() if probe is not None else None
    except OSError:  # a system that doesn't tell, such as a container
        return False
    return battery is not None and battery.power_plugged is False


class IdleTime:
    """Says when nobody waits.

    Args:
        allow_on_battery: the user's setting.
        quiet_seconds: how long nothing must have happened before work begins.
    """

    def __init__(
        self,
        *,
        allow_on_battery: bool = False,
        quiet_seconds: float = QUIET_SECONDS,
        clock: Callable[[], float] = time.monotonic,
        battery: Callable[[], bool] = on_battery,
    ) -> None:
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
