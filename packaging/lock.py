"""Writes packaging/locks/*.lock: exact versions and SHA-256 of everything that is shipped.

    python packaging/lock.py

One file for each system, resolved by pip for CPython 3.11. llama-cpp-python has no wheel on the
index: its lock holds the source archive, from which build_llama.py builds.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
PYTHON = "3.11"
BUILDER = ["pyinstaller>=6.22,<7"]
PLATFORMS = {
    "linux": [
        "manylinux_2_34_x86_64",
        "manylinux_2_28_x86_64",
        "manylinux_2_17_x86_64",
        "manylinux2014_x86_64",
        "manylinux_2_12_x86_64",
        "manylinux2010_x86_64",
    ],
    "windows": ["win_amd64"],
    "macos": [
        "macosx_14_0_arm64",
        "macosx_13_0_arm64",
        "macosx_12_0_arm64",
        "macosx_11_0_arm64",
        "macosx_13_0_universal2",
        "macosx_12_0_universal2",
        "macosx_11_0_universal2",
        "macosx_10_9_universal2",
    ],
}
LLAMA = "llama-cpp-python==0.3.36"
LLAMA_NEEDS = ["diskcache>=5.6.1", "typing-extensions>=4.5"]


def requirements() -> list[str]:
    """What the program needs at run time, llama-cpp-python apart."""
    with (HERE.parent / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    return [name for name in project["dependencies"] if not name.startswith("llama-cpp-python")]


def resolve(names: list[str], options: list[str]) -> list[dict]:
    """What pip would install for `names`, as its installation report."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run"]
        command += ["--ignore-installed", "--report", str(report), "--target", folder]
        subprocess.run([*command, *options, *names], check=True)
        return json.loads(report.read_text(encoding="utf8"))["install"]


def line(item: dict) -> str:
    meta = item["metadata"]
    digest = item["download_info"]["archive_info"]["hashes"]["sha256"]
    return f"{meta['name']}=={meta['version']} \\\n    --hash=sha256:{digest}\n"


def write(name: str, items: list[dict]) -> None:
    path = HERE / "locks" / f"{name}.lock"
    lines = sorted((line(item) for item in items), key=str.lower)
    path.write_text("# Written by packaging/lock.py.\n" + "".join(lines), encoding="utf8")
    print(f"{path.name}: {len(lines)} packages")


def main() -> None:
    (HERE / "locks").mkdir(exist_ok=True)
    for system, tags in PLATFORMS.items():
        options = ["--only-binary=:all:", "--python-version", PYTHON, "--implementation", "cp"]
        options += [word for tag in tags for word in ("--platform", tag)]
        extra = {"windows": ["pywin32-ctypes", "pefile"], "macos": ["macholib"]}.get(system, [])
        write(system, resolve([*requirements(), *LLAMA_NEEDS, *BUILDER, *extra], options))
    source = resolve([LLAMA], ["--no-deps", "--no-binary=llama-cpp-python"])
    write("llama-source", source)


if __name__ == "__main__":
    main()
