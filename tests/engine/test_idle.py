"""Idle work runs when nobody waits, and not on battery unless allowed."""

from __future__ import annotations

from types import SimpleNamespace

import psutil
import pytest

from engine.idle import IdleWork, on_battery


class Work:
    def __init__(self, *, battery: bool = False, allow: bool = False) -> None:
        self.now = 0.0
        self.left = {"exact": 2, "prefetch": 1}
        self.done: list[str] = []
        steps = [lambda name=name: self.step(name) for name in self.left]
        self.idle = IdleWork(
            steps, allow_on_battery=allow, clock=lambda: self.now, battery=lambda: battery
        )

    def step(self, name: str) -> bool:
        if not self.left[name]:
            return False
        self.left[name] -= 1
        self.done.append(name)
        return True


def test_it_waits_for_quiet_then_works_kind_by_kind() -> None:
    work = Work()
    assert not work.idle.step()
    work.now = 2.0
    assert [work.idle.step() for _ in range(4)] == [True, True, True, False]
    assert work.done == ["exact", "exact", "prefetch"]


def test_the_user_comes_first() -> None:
    work = Work()
    work.now = 2.0
    assert work.idle.step()
    work.idle.touch()
    assert not work.idle.step()
    assert work.done == ["exact"]


def test_battery() -> None:
    work = Work(battery=True)
    work.now = 9.0
    assert not work.idle.step()
    allowed = Work(battery=True, allow=True)
    allowed.now = 9.0
    assert allowed.idle.step()


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
