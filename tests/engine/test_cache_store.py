"""The tiers: what is kept where, for how long, and what happens when there is no room."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from engine.cache_disk import CacheDisk
from engine.cache_file import Block
from engine.cache_identity import CacheIdentity
from engine.cache_plan import Span
from engine.cache_store import CacheStore
from engine.disk import Disk
from engine.folders import SHARED

BYTES = 64
GB = 1 << 30


def identity(key: str) -> CacheIdentity:
    return CacheIdentity(key, key.encode().ljust(16), "f", "p", "l", BYTES)


def span(position: int, length: int, *, exact: bool = True) -> Span:
    return Span(position, position, tuple(range(position, position + length)), exact)


class FullDisk(Disk):
    full = False

    def write_at(self, file, offset, parts):  # type: ignore[no-untyped-def]
        if self.full:
            raise OSError(28, "No space left on device")
        return super().write_at(file, offset, parts)


class World:
    """A store with a made-up device, a clock, and a record of what was saved."""

    def __init__(self, root: Path, *, memory: int = GB, quota: int = GB) -> None:
        self.root, self.memory, self.quota = root, memory, quota
        self.now = 0.0
        self.lines: list[str] = []
        self.saved: list[tuple[int, int]] = []
        self.disk = FullDisk()
        self.store = self.start()

    def start(self, *keys: str) -> CacheStore:
        self.cold = CacheDisk(self.root, self.quota, self.disk)
        self.store = CacheStore(
            self.cold,
            memory_budget=self.memory,
            idle_seconds=1800,
            bytes_per_token=BYTES,
            notify=self.lines.append,
            clock=lambda: self.now,
        )
        for key in keys:
            self.register(key)
        return self.store

    def restart(self, *keys: str) -> CacheStore:
        self.store.close()
        return self.start(*keys)

    def folder(self, key: str) -> Path:
        return self.root / key

    def register(self, key: str) -> None:
        self.store.register(key, self.folder(key), identity(key), None)

    def save(self, key: str) -> Callable[[int, int], bytes]:
        def save(start: int, stop: int) -> bytes:
            self.saved.append((start, stop))
            return self.state(key, start, stop)

        return save

    @staticmethod
    def state(key: str, start: int, stop: int) -> bytes:
        return np.random.default_rng((start, stop, len(key))).bytes((stop - start) * BYTES)

    def sync(self, key: str, *spans: Span, shared: str = "", whole: bool = False) -> int:
        count = self.store.sync(key, spans, range(2000), self.save(key), shared=shared, whole=whole)
        self.store.flush()
        return count

    def blocks(self, key: str, *spans: Span) -> list[Block]:
        return [
            Block(s.position, s.place, s.ids, s.exact, self.state(key, s.position, s.stop))
            for s in spans
        ]

    def take(self, key: str) -> tuple[list[tuple[int, int]], str]:
        blocks, source = self.store.take(key, lambda block: True)
        for block in blocks:
            assert bytes(block.state) == self.state(key, block.position, block.stop)
        return [(block.position, block.stop) for block in blocks], source


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    world = World(tmp_path / "cache")
    yield world
    world.store.close()


def test_only_what_is_new_is_saved_and_all_of_it_comes_back(world: World) -> None:
    world.register("a")
    assert world.sync("a", span(0, 10)) == 10
    assert world.sync("a", span(0, 10), span(10, 5)) == 5
    assert world.sync("a", span(0, 10), span(10, 5)) == 0
    assert world.saved == [(0, 10), (10, 15)]
    world.restart("a")
    assert world.take("a") == ([(0, 10), (10, 15)], "disk")
    assert world.sync("a", span(0, 15), span(15, 1)) == 1


def test_an_answer_made_exact_is_written_again(world: World) -> None:
    world.register("a")
    world.sync("a", span(0, 10), span(10, 5, exact=False))
    world.sync("a", span(0, 10), span(10, 5))
    world.restart("a")
    blocks, _ = world.store.take("a", lambda block: True)
    assert [(block.position, block.exact) for block in blocks] == [(0, True), (10, True)]


def test_a_trim_reaches_the_file(world: World) -> None:
    world.register("a")
    world.sync("a", span(0, 10), span(10, 500), span(510, 10))
    world.sync("a", span(0, 10), span(510, 10))
    world.restart("a")
    assert world.take("a") == ([(0, 10), (510, 520)], "disk")
    assert (world.folder("a") / "cache").stat().st_size < 10_000


def test_memory_comes_before_disk_and_only_once(world: World) -> None:
    world.register("a")
    world.sync("a", span(0, 10))
    world.store.memory.put("a", world.blocks("a", span(0, 10)))
    assert world.store.memory.nbytes() == world.store.memory.nbytes("a") == 10 * BYTES
    assert world.take("a") == ([(0, 10)], "memory")
    assert world.store.memory.nbytes() == 0
    assert world.take("a") == ([(0, 10)], "disk")


def test_unwanted_blocks_are_left_out(world: World) -> None:
    world.register("a")
    world.sync("a", span(0, 10), span(10, 10))
    blocks, _ = world.store.take("a", lambda block: block.position == 10)
    assert [block.position for block in blocks] == [10]
    assert world.store.take("a", lambda block: False) == ([], "")


def test_prefetch_reads_from_disk_before_the_question(world: World) -> None:
    world.register("a")
    world.sync("a", span(0, 10))
    world.restart("a")
    world.store.prefetch("a")
    assert world.take("a") == ([(0, 10)], "memory")
    world.store.prefetch("a")
    world.store.flush()
    world.store.prefetch("a")
    assert world.store.memory.nbytes("a") == 10 * BYTES


def test_the_memory_budget_lets_the_least_useful_go(tmp_path: Path) -> None:
    world = World(tmp_path, memory=25 * BYTES)
    for key in ("old", "new", "running"):
        world.now += 100
        world.register(key)
        world.store.pin(key, key == "running")
        world.store.memory.put(key, world.blocks(key, span(0, 10)))
    assert world.store.memory.nbytes() == 20 * BYTES
    assert world.store.memory.nbytes("old") == 0
    assert world.store.memory.release_one()
    assert not world.store.memory.release_one()  # the running one stays
    assert world.take("running")[1] == "memory"
    world.store.close()


def test_idle_conversations_leave_memory_but_not_the_disk(world: World) -> None:
    for key in ("a", "b"):
        world.register(key)
        world.sync(key, span(0, 10))
        world.store.memory.put(key, world.blocks(key, span(0, 10)))
    world.now = 1000
    world.store.pin("b", False)
    world.now = 1900
    assert world.store.memory.sweep() == {"a"}
    assert world.take("a") == ([(0, 10)], "disk")
    assert world.take("b") == ([(0, 10)], "memory")


def test_without_a_disk_memory_is_all(tmp_path: Path) -> None:
    store = CacheStore(None, memory_budget=GB, idle_seconds=9, bytes_per_token=BYTES)
    store.register("a", None, identity("a"), None)
    assert store.known("a")
    assert not store.known("b")
    assert store.sync("a", [span(0, 3)], [], lambda start, stop: b"") == 0
    assert store.take("a", lambda block: True) == ([], "")
    store.prefetch("a")
    store.memory.put("a", World(tmp_path).blocks("a", span(0, 3)))
    store.pin("a", True)
    store.fork("a", "b", None, identity("b"))
    assert store.take("b", lambda block: True)[1] == "memory"
    assert store.shared("a") == ""
    store.forget("b")
    store.delete("a")
    assert not store.known("a")
    store.close()


def test_a_full_disk_is_told_once_and_made_up_for(world: World) -> None:
    # given a conversation that is on disk
    world.register("a")
    world.sync("a", span(0, 10))
    before = (world.folder("a") / "cache").read_bytes()
    # when the disk is full for two turns
    world.disk.full = True
    world.sync("a", span(0, 10), span(10, 5))
    world.sync("a", span(0, 10), span(10, 5), span(15, 5))
    # then the user is told once, and what was there is still there
    assert len(world.lines) == 1
    assert "No space left" in world.lines[0]
    assert (world.folder("a") / "cache").read_bytes() == before
    # and when there is space again, the next turn brings everything
    world.disk.full = False
    world.sync("a", span(0, 10), span(10, 5), span(15, 5), span(20, 1))
    world.restart("a")
    assert world.take("a") == ([(0, 10), (10, 15), (15, 20), (20, 21)], "disk")
    world.disk.full = True
    world.sync("a", span(0, 10))
    assert len(world.lines) == 2


def test_a_damaged_file_is_set_aside_told_and_written_anew(world: World) -> None:
    world.register("a")
    world.sync("a", span(0, 10))
    path = world.folder("a") / "cache"
    for left in (50, 0):
        path.write_bytes(path.read_bytes()[:left])
        world.restart("a")
        assert world.take("a") == ([], "")
        assert not path.exists()
        world.sync("a", span(0, 10))
    assert len(world.lines) == 2
    raw = path.read_bytes()
    path.write_bytes(raw[:4200] + bytes([raw[4200] ^ 1]) + raw[4201:])
    world.restart("a")
    world.store.prefetch("a")
    world.store.flush()
    assert world.take("a") == ([], "")
    assert len(world.lines) == 3
    assert len(list(world.folder("a").glob("cache.*.bad"))) == 2


def test_damage_found_while_writing(world: World) -> None:
    world.register("a")
    world.sync("a", span(0, 100), span(100, 400))
    path = world.folder("a") / "cache"
    raw = path.read_bytes()
    path.write_bytes(raw[:4200] + bytes([raw[4200] ^ 1]) + raw[4201:])
    world.sync("a", span(0, 100), span(500, 10))  # the trim compacts, and so reads
    assert not path.exists()
    world.sync("a", span(0, 100), span(500, 10))
    assert world.take("a") == ([(0, 100), (500, 510)], "disk")


def test_the_quota_takes_the_oldest_and_never_the_running_one(tmp_path: Path) -> None:
    world = World(tmp_path, quota=25_000)
    for number, key in enumerate(("a", "b", "c")):
        world.register(key)
        world.store.pin(key, key == "a")
        world.sync(key, span(0, 100))
        file = world.folder(key) / "cache"
        if file.exists():
            os.utime(file, (number, number))
    names = sorted(path.parent.name for path in world.cold.files())
    assert names == ["a", "c"]
    # and what was lost is written again in the next turn
    world.store.pin("a", False)
    world.sync("b", span(0, 100), span(100, 1))
    assert world.take("b") == ([(0, 100), (100, 101)], "disk")
    world.store.close()


def test_damaged_files_go_first(tmp_path: Path) -> None:
    world = World(tmp_path, quota=25_000)
    world.register("a")
    world.sync("a", span(0, 100))
    bad = world.folder("a") / "cache.1.bad"
    bad.write_bytes(bytes(9000))
    world.register("b")
    world.sync("b", span(0, 100))
    assert not bad.exists()
    assert (world.folder("a") / "cache").exists()
    world.store.close()


def test_a_conversation_larger_than_the_quota_is_told_once(tmp_path: Path) -> None:
    world = World(tmp_path, quota=5000)
    world.register("a")
    assert world.sync("a", span(0, 100)) == 0
    assert world.sync("a", span(0, 101)) == 0
    assert len(world.lines) == 1
    assert not (world.folder("a") / "cache").exists()
    world.store.close()


def test_a_fork_shares_until_it_differs(world: World) -> None:
    world.register("a")
    world.sync("a", span(0, 100))
    world.store.fork("a", "b", world.folder("b"), identity("b"))
    one, two = world.folder("a") / "cache", world.folder("b") / "cache"
    assert one.samefile(two)
    assert world.cold.origin("b") == identity("a")
    assert world.take("b") == ([(0, 100)], "disk")
    world.sync("b", span(0, 100), span(100, 5))
    world.sync("a", span(0, 100), span(100, 9))
    assert not one.samefile(two)
    assert world.cold.origin("b") is None
    world.restart("a", "b")
    assert world.take("a")[0] == [(0, 100), (100, 109)]
    assert world.take("b")[0] == [(0, 100), (100, 105)]


def test_a_fork_of_a_fork_and_of_nothing(world: World) -> None:
    world.register("a")
    world.store.fork("a", "empty", world.folder("empty"), identity("empty"))
    assert world.take("empty") == ([], "")
    world.sync("a", span(0, 10))
    world.store.fork("a", "b", world.folder("b"), identity("b"))
    world.store.fork("b", "c", world.folder("c"), identity("c"))
    world.store.delete("a")
    assert not (world.folder("a") / "cache").exists()
    assert world.take("c")[0] == [(0, 10)]
    # after a restart the transcript tells whose key the file has
    world.restart()
    world.store.register("c", world.folder("c"), identity("c"), identity("a"))
    assert world.take("c")[0] == [(0, 10)]


def test_a_damaged_fork_costs_only_time(world: World) -> None:
    world.register("a")
    world.sync("a", span(0, 100))
    world.store.fork("a", "b", world.folder("b"), identity("b"))
    path = world.folder("b") / "cache"
    raw = path.read_bytes()
    path.unlink()
    path.write_bytes(raw[:4200] + bytes([raw[4200] ^ 1]) + raw[4201:])
    world.sync("b", span(0, 100), span(100, 5))
    assert not path.exists()
    world.sync("b", span(0, 100), span(100, 5))
    assert world.take("b")[0] == [(0, 100), (100, 105)]
    assert world.take("a")[0] == [(0, 100)]


def test_deleting_leaves_nothing(world: World) -> None:
    world.register("a")
    world.sync("a", span(0, 10))
    (world.folder("a") / "cache.1.bad").write_bytes(b"x")
    world.store.memory.put("a", world.blocks("a", span(0, 10)))
    world.store.delete("a")
    assert world.store.memory.nbytes() == 0
    assert list(world.folder("a").iterdir()) == []


def test_nobody_reads_anothers_file(world: World) -> None:
    for key in ("a", "b"):
        world.register(key)
        world.sync(key, span(0, 10))
    (world.folder("a") / "cache").replace(world.folder("b") / "cache")
    world.restart("a", "b")
    assert world.take("b") == ([], "")
    assert world.take("a") == ([], "")


def test_a_state_saved_whole_replaces_the_one_before(world: World) -> None:
    world.register("a")
    world.sync("a", span(0, 10), whole=True)
    world.sync("a", span(0, 10), span(10, 600, exact=False), whole=True)
    assert world.saved == [(0, 10), (0, 610)]
    assert world.take("a") == ([(0, 610)], "disk")


def test_shared_prefixes_stay_while_somebody_builds_on_them(world: World) -> None:
    shared = f"{SHARED}/key"
    world.register(shared)
    world.sync(shared, span(0, 50))
    for key in ("a", "b"):
        world.register(key)
        world.cold.mark_use(shared, world.folder(key))
        world.sync(key, span(50, 5), shared="key")
    world.restart("a", "b", shared)
    assert world.store.shared("a") == "key"
    assert world.take(shared)[0] == [(0, 50)]
    for key, left in (("a", True), ("b", False)):
        world.store.delete(key)
        world.disk.remove(world.folder(key))
        assert world.cold.release_unused() == (set() if left else {shared})
        assert (world.root / SHARED / "key").exists() == left
    assert world.take(shared)[0] == []


def test_another_shared_prefix_means_other_keys_and_values(world: World) -> None:
    world.register("a")
    world.sync("a", span(50, 5), shared="one")
    assert world.sync("a", span(50, 5), shared="two") == 5
    assert world.store.shared("a") == "two"


def test_verifying_reads_without_touching(world: World) -> None:
    world.register("a")
    assert world.cold.check("a") == ""
    world.sync("a", span(0, 10))
    assert world.cold.check("a") == ""
    assert world.cold.nbytes("a") == (world.folder("a") / "cache").stat().st_size
    path = world.folder("a") / "cache"
    raw = path.read_bytes()
    path.write_bytes(raw[:4200] + bytes([raw[4200] ^ 1]) + raw[4201:])
    assert "damaged" in world.cold.check("a")
    assert path.exists()


def test_taking_waits_for_what_is_being_written(world: World) -> None:
    world.register("a")
    gate = threading.Event()
    original = world.disk.sync

    def slow(file):  # type: ignore[no-untyped-def]
        gate.wait()
        original(file)

    world.disk.sync = slow  # type: ignore[method-assign]
    world.store.sync("a", [span(0, 10)], range(99), world.save("a"))
    threading.Timer(0.05, gate.set).start()
    assert world.take("a") == ([(0, 10)], "disk")
    world.disk.sync = original  # type: ignore[method-assign]
    world.store.forget("a")
    assert not world.store.known("a")
    assert (world.folder("a") / "cache").exists()
