"""Reading limits from a made-up /proc and /sys, and the real ones of a child."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from engine.memory_probe import Memory, device_memory, main_memory

MB = 1 << 20


def put(root: Path, path: str, text: str) -> None:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def test_without_limits_it_is_the_machine(tmp_path: Path) -> None:
    memory = main_memory(tmp_path)
    assert memory.total == psutil.virtual_memory().total
    assert 0 < memory.free <= memory.total


def test_version_2_groups_and_those_above(tmp_path: Path) -> None:
    put(tmp_path, "proc/self/cgroup", "0::/user/app\n")
    put(tmp_path, "sys/fs/cgroup/user/app/memory.max", "max\n")
    put(tmp_path, "sys/fs/cgroup/user/app/memory.current", "5\n")
    put(tmp_path, "sys/fs/cgroup/user/memory.max", str(100 * MB))
    put(tmp_path, "sys/fs/cgroup/user/memory.current", str(90 * MB))
    put(tmp_path, "sys/fs/cgroup/user/memory.stat", f"anon 1\ninactive_file {30 * MB}\n")
    assert main_memory(tmp_path) == Memory("memory of the container", 40 * MB, 100 * MB)


def test_version_1_groups(tmp_path: Path) -> None:
    put(tmp_path, "proc/self/cgroup", "5:cpu,cpuacct:/x\n4:memory:/x\n0::/\n")
    put(tmp_path, "sys/fs/cgroup/memory/x/memory.limit_in_bytes", str(64 * MB))
    put(tmp_path, "sys/fs/cgroup/memory/x/memory.usage_in_bytes", str(80 * MB))
    put(tmp_path, "sys/fs/cgroup/memory/memory.limit_in_bytes", str(1 << 62))
    put(tmp_path, "sys/fs/cgroup/memory/memory.usage_in_bytes", "7")
    assert main_memory(tmp_path) == Memory("memory of the container", 0, 64 * MB)


def test_nonsense_in_the_files_is_ignored(tmp_path: Path) -> None:
    put(tmp_path, "proc/self/cgroup", "0::/../a\nx\n")
    put(tmp_path, "sys/fs/cgroup/a/memory.max", "many")
    put(tmp_path, "sys/fs/cgroup/a/memory.current", "1")
    assert main_memory(tmp_path).name == "memory"


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX limits")
def test_a_process_limit_counts() -> None:
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (900 << 20, 900 << 20));"
        "from engine.memory_probe import main_memory; m = main_memory();"
        "print(m.name, m.total >> 20, 0 < m.free < m.total)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == "memory limit of the process 900 True".split()


def test_the_device_is_asked_if_there_is_one() -> None:
    assert device_memory(None) is None
    assert device_memory(lambda: (0, 0)) is None
    assert device_memory(lambda: (3, 9)) == Memory("GPU memory", 3, 9)
