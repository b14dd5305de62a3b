"""Puts an engine together: backend, store, governor and idle time, as the options say."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from engine.backend import Backend
from engine.disk import Disk
from engine.engine import Engine
from engine.governor import Governor
from engine.idle import IdleTime
from engine.keeper import Keeper
from engine.memory_probe import Memory, device_memory, main_memory
from engine.types import EngineOptions

WHOLE_ONLY = (
    "{} can't drop a part of what it has read: after an edit, and when its window is full, the "
    "conversation is read again from its beginning."
)

Probe = Callable[[], Sequence[Memory]]


def assemble(
    backend: Backend,
    options: EngineOptions,
    *,
    probe: Probe | None = None,
    idle_time: IdleTime | None = None,
    disk: Disk | None = None,
) -> Engine:
    """An engine that keeps its conversations, minds memory and works when idle.

    Args:
        backend: the model; the engine closes it.
        options: window, budgets and folders.
        probe, idle_time, disk: for tests; the machine's own by default.
    """
    notices: deque[str] = deque()
    if not backend.info.can_trim:
        notices.append(WHOLE_ONLY.format(backend.info.name))
    engine: Engine

    def sample() -> Sequence[Memory]:
        found = [main_memory(), device_memory(getattr(backend, "device_memory", None))]
        return [memory for memory in found if memory is not None]

    governor = Governor(options.window, probe or sample, lambda: engine.house.release_idle())
    keeper = Keeper(
        backend,
        options,
        notices.append,
        short=lambda: governor.short,
        out_of_memory=governor.refused,
        disk=disk,
    )
    idle_time = idle_time or IdleTime(allow_on_battery=options.idle_on_battery)
    engine = Engine(
        backend, options, keeper, governor=governor, idle_time=idle_time, notices=notices
    )
    return engine
