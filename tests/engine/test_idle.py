"""Idle work runs when nobody waits, and not on battery unless allowed."""

from __future__ import annotations

from types import SimpleNamespace

import psutil
import pytest

from engine.idle import IdleTime, on_battery


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_it_is_allowed_after_a_quiet_time_that_every_use_begins_anew() -> None:
    clock = Clock()
    idle = IdleTime(quiet_seconds=2, clock=clock, battery=lambda: False)
    seen = []
    for second in range(8):
        clock.now = second
        if second == 4:
            idle.touch()
        seen.append(idle.allowed)
    assert seen == [False, False, True, True, False, False, True, True]


@pytest.mark.parametrize(("allow", "wanted"), [(False, False), (True, True)])
def test_battery(allow: bool, wanted: bool) -> None:
    idle = IdleTime(quiet_seconds=0, allow_on_battery=allow, battery=lambda: True)
    assert idle.allowed is wanted


@pytest.mark.parametrize(
    ("battery", "wanted"),
    [
        (None, False),
        (SimpleNamespace(power_plugged=True), False),
        (SimpleNamespace(power_plugged=None), False),
        (SimpleNamespace(power_plugged=False), True),
    ],
)
def test_reading_the_battery(
    battery: object, wanted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(psutil, "sensors_battery", lambda: battery, raising=False)
    assert on_battery() is wanted


def test_a_system_that_knows_no_battery(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(psutil, "sensors_battery", raising=False)
    assert not on_battery()


def test_a_system_that_tells_nothing_of_its_battery(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent() -> None:
        raise FileNotFoundError("/sys/class/power_supply")

    monkeypatch.setattr(psutil, "sensors_battery", absent, raising=False)
    assert not on_battery()
