"""How much memory this process may still take: the machine's, its control group's, its limits'.

It only reads numbers. What to do about them is the governor's business.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

NO_LIMIT = 1 << 60
DeviceProbe = Callable[[], tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Memory:
    """Free and total bytes of one kind of memory; `name` is for people."""

    name: str
    free: int
    total: int


def main_memory(root: Path = Path("/")) -> Memory:
    """The tightest of free memory, control group limits and process limits.

    Args:
        root: where /proc and /sys are, for tests.
    """
    machine = psutil.virtual_memory()
    found = [Memory("memory", machine.available, machine.total)]
    found += _cgroup_limits(root)
    found += _process_limits()
    return min(found, key=lambda memory: memory.free)


def device_memory(probe: DeviceProbe | None) -> Memory | None:
    """The accelerator's memory, if `probe` (free and total bytes) is given and answers."""
    if probe is None:
        return None
    free, total = probe()
    return Memory("GPU memory", free, total) if total > 0 else None


def _cgroup_limits(root: Path) -> list[Memory]:
    found: list[Memory] = []
    for folder, limit_name, usage_name, cache_name in _cgroup_folders(root):
        limit = _read_number(folder / limit_name)
        usage = _read_number(folder / usage_name)
        if limit is None or usage is None or limit >= NO_LIMIT:
            continue
        reclaimable = _read_stat(folder / "memory.stat", cache_name)
        free = max(0, limit - max(0, usage - reclaimable))
        found.append(Memory("memory of the container", free, limit))
    return found


def _cgroup_folders(root: Path) -> Iterator[tuple[Path, str, str, str]]:
    """Folders of this process's groups and all above them, with their files' names."""
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    base = root / "sys/fs/cgroup"
    for line in lines:
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if number == "0" and not controllers:
            names = ("memory.max", "memory.current", "inactive_file")
            yield from ((folder, *names) for folder in _upwards(base, path))
        elif "memory" in controllers.split(","):
            names = (
                "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file",
            )  # fmt: skip
            yield from ((folder, *names) for folder in _upwards(base / "memory", path))


def _upwards(base: Path, path: str) -> list[Path]:
    parts = [part for part in path.split("/") if part not in ("", ".", "..")]
    return [base.joinpath(*parts[:count]) for count in range(len(parts), -1, -1)]


def _read_number(path: Path) -> int | None:
    try:
        text = path.read_text().strip()
    except OSError:
        return None
    if text == "max":
        return NO_LIMIT
    return int(text) if text.isdigit() else None


def _read_stat(path: Path, name: str) -> int:
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return 0
    for line in lines:
        key, _, value = line.partition(" ")
        if key == name and value.strip().isdigit():
            return int(value)
    return 0


def _process_limits() -> list[Memory]:
    """What `ulimit -v` and `ulimit -d` leave; nothing on Windows."""
    if sys.platform == "win32":
        return []
    import resource

    found: list[Memory] = []
    used = psutil.Process().memory_info()
    kinds = [(resource.RLIMIT_AS, used.vms), (resource.RLIMIT_DATA, getattr(used, "data", 0))]
    for kind, taken in kinds:
        limit = resource.getrlimit(kind)[0]
        if limit != resource.RLIM_INFINITY:
            found.append(Memory("memory limit of the process", max(0, limit - taken), limit))
    return found
