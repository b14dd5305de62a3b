"""Stepping down and up, from injected samples."""

from __future__ import annotations

import logging

import pytest

from engine.governor import Governor, reserve
from engine.memory_probe import Memory

GB = 1 << 30


class World:
    """Memory, a clock and idle conversations under the test's control."""

    def __init__(self, idle: int = 0, window: int = 8192) -> None:
        self.now = 0.0
        self.free = 8 * GB
        self.gpu: int | None = None
        self.idle = idle
        self.governor = Governor(window, self.sample, self.release, clock=lambda: self.now)

    def sample(self) -> list[Memory]:
        memories = [Memory("memory", self.free, 16 * GB)]
        if self.gpu is not None:
            memories.append(Memory("GPU memory", self.gpu, 8 * GB))
        return memories

    def release(self) -> bool:
        self.idle -= 1
        return self.idle >= 0

    def check(self, seconds: float = 1.0) -> list[str]:
        self.now += seconds
        return self.governor.check()


def test_ample_memory_changes_nothing() -> None:
    world = World()
    assert [world.check() for _ in range(50)] == [[]] * 50
    assert world.governor.window == 8192
    assert not world.governor.short


def test_idle_conversations_go_before_the_window_shrinks(
    caplog: pytest.LogCaptureFixture,
) -> None:
    world = World(idle=2)
    world.free = GB // 2
    with caplog.at_level(logging.WARNING, "engine.governor"):
        lines = [line for _ in range(7) for line in world.check()]
    assert ["idle conversation" in line for line in lines[:2]] == [True, True]
    assert [line.split("keep ")[1].split()[0] for line in lines[2:5]] == ["4,096", "2,048", "1,024"]
    assert "close other programs" in lines[5]
    assert len(lines) == 6  # the last one is said once
    assert world.governor.window == 1024
    assert world.governor.short
    assert [record.message.removeprefix("governor: ") for record in caplog.records] == lines


def test_it_steps_back_up_only_after_calm_and_one_step_at_a_time() -> None:
    world = World()
    world.free = GB // 2
    world.check()
    world.check()
    assert world.governor.window == 2048
    world.free = int(1.5 * reserve(16 * GB))  # enough, but not ample
    assert [world.check() for _ in range(100)] == [[]] * 100
    world.free = 8 * GB
    lines = [line for _ in range(30) for line in world.check()]
    assert lines == ["Memory is free again; conversations may keep 4,096 tokens in view."]
    world.free = int(1.5 * reserve(16 * GB))
    world.check()  # calm is over, the count begins again
    world.free = 8 * GB
    assert [line for _ in range(20) for line in world.check()] == []
    assert [line for _ in range(2) for line in world.check()] != []
    assert world.governor.window == 8192


def test_flapping_memory_does_not_make_the_window_flap() -> None:
    world = World()
    changes = 0
    for second in range(300):
        world.free = GB // 2 if second % 10 == 0 else 8 * GB
        changes += len(world.check())
    assert changes == 4  # 4096, 2048, 1024, and one line that nothing is left


def test_gpu_memory_counts_too() -> None:
    world = World()
    world.gpu = 10 << 20
    assert world.check() == [
        "GPU memory is low (10 MB free); conversations now keep 4,096 tokens in view."
    ]


def test_samples_are_taken_once_a_second() -> None:
    world = World()
    world.free = 0
    assert world.check()
    assert world.check(0.5) == []
    assert world.check(0.5)


def test_a_failed_allocation_steps_down_at_the_next_look() -> None:
    world = World(idle=1)
    world.check()
    world.governor.refused()
    assert world.governor.short
    assert "idle conversation" in world.check(0)[0]
    world.governor.refused()
    assert "4,096" in world.check(0)[0]
    assert world.governor.window == 4096


def test_a_small_window_has_the_steps_below_it() -> None:
    world = World(window=1500)
    world.free = 0
    world.check()
    assert world.governor.window == 1024
    small = World(window=512)
    small.free = 0
    assert "close other programs" in small.check()[0]
    assert small.governor.window == 512


def test_reserve_grows_with_the_machine_within_bounds() -> None:
    assert reserve(256 << 20) == 64 << 20
    assert reserve(GB) == 96 << 20
    assert reserve(4 * GB) == int(0.08 * 4 * GB)
    assert reserve(64 * GB) == GB
