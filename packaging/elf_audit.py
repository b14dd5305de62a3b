"""Audits the program's folder: every library it needs is in it or in the system's packages.

    python packaging/elf_audit.py build/package/clausebook

Also: no GLIBC newer than 2.35, no link to nothing, no run path outside the folder, and no library
of the build machine that the table of system libraries doesn't know.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import system_libraries

GLIBC = (2, 35)
RUN_PATH = re.compile(r"\((?:RPATH|RUNPATH)\).*\[([^]]*)\]")


def elf_files(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            with path.open("rb") as file:
                if file.read(4) == b"\x7fELF":
                    yield path


def read(path: Path, *options: str) -> str:
    done = subprocess.run(
        ["readelf", "-W", *options, str(path)], capture_output=True, text=True, check=False
    )
    return done.stdout


def needed(dynamic: str) -> set[str]:
    return set(re.findall(r"\(NEEDED\).*\[([^]]+)\]", dynamic))


def run_path(path: Path) -> list[str]:
    """Folders in which the file looks for its libraries."""
    found = RUN_PATH.findall(read(path, "--dynamic"))
    return [part for text in found for part in text.split(":") if part]


def glibc(versions: str) -> tuple[int, int]:
    """The newest GLIBC that the file asks for."""
    found = [tuple(map(int, pair)) for pair in re.findall(r"GLIBC_(\d+)\.(\d+)", versions)]
    return max(found, default=(0, 0))


def problems(folder: Path) -> Iterator[str]:
    """One sentence for each thing that is wrong."""
    files = list(elf_files(folder))
    present = {path.name for path in folder.rglob("*.so*")} | {path.name for path in files}
    for path in files:
        name = path.relative_to(folder)
        dynamic = read(path, "--dynamic")
        for library in sorted(needed(dynamic)):
            if library not in present and library not in system_libraries.PACKAGES:
                yield f"{name} needs {library}, which is neither in the folder nor in Depends."
        outside = [part for part in run_path(path) if not part.startswith("$")]
        if outside:
            yield f"{name} looks for libraries in {outside}."
        newest = glibc(read(path, "--version-info"))
        if newest > GLIBC:
            yield f"{name} needs GLIBC {newest[0]}.{newest[1]}."
        if system_libraries.left_out(path.name):
            yield f"{name} is a library of the system."
    for path in folder.rglob("*"):
        if path.is_symlink() and not path.exists():
            yield f"{path.relative_to(folder)} is a link to nothing."


def main() -> None:
    found = list(problems(Path(sys.argv[1])))
    for line in found:
        print(line)
    if found:
        sys.exit(f"{len(found)} problems.")
    print(f"{len(list(elf_files(Path(sys.argv[1]))))} programs and libraries, no problem.")


if __name__ == "__main__":
    main()
