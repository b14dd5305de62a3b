"""Builds the archive that runs in place: unpack, start `clausebook/clausebook`.

python packaging/tarball.py PROGRAM DOCUMENTS OUT [--level 0-9]
"""

from __future__ import annotations

import argparse
import lzma
import os
import shutil
import sys
import tarfile
import tempfile
import time
from pathlib import Path

import system_libraries

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from desktop_app import __version__  # noqa: E402


def lay_out(program: Path, documents: Path, root: Path) -> None:
    """The archive's files below `root`."""
    shutil.copytree(program, root / "program", symlinks=True)
    shutil.copytree(documents / "licences", root / "licences")
    shutil.copyfile(documents / "clausebook.cdx.json", root / "clausebook.cdx.json")
    shutil.copyfile(HERE.parent / "LICENSE", root / "LICENSE")
    shutil.copyfile(HERE / "linux" / "check-needs.sh", root / "clausebook")
    (root / "clausebook").chmod(0o755)
    # A desktop on X11 works without Wayland's libraries.
    needs = [n for n in system_libraries.PACKAGES if not n.startswith(("ld-", "libwayland-"))]
    (root / "needs.txt").write_text("\n".join(needs) + "\n", encoding="utf8")
    packages = sorted({text.split()[0] for text in system_libraries.depends()})
    (root / "packages.txt").write_text(" ".join(packages) + "\n", encoding="utf8")


def anonymous(info: tarfile.TarInfo) -> tarfile.TarInfo:
    """Owner and time that don't depend on the build machine."""
    info.uid = info.gid = 0
    info.uname = info.gname = "root"
    info.mtime = int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))
    return info


def build(program: Path, documents: Path, out: Path, level: int) -> Path:
    """Writes the archive; returns its path."""
    target = out / f"clausebook-{__version__}-linux-x86_64.tar.xz"
    with tempfile.TemporaryDirectory(dir=out) as made:
        root = Path(made) / "clausebook"
        lay_out(program, documents, root)
        with (
            lzma.open(target, "wb", preset=level) as compressed,
            tarfile.open(fileobj=compressed, mode="w") as archive,
        ):
            for path in [root, *sorted(root.rglob("*"))]:
                name = str(path.relative_to(made))
                archive.add(path, name, recursive=False, filter=anonymous)
    return target


def main() -> None:
    parser = argparse.ArgumentParser(description="Builds the archive that runs in place.")
    parser.add_argument("program", type=Path)
    parser.add_argument("documents", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--level", type=int, default=6)
    options = parser.parse_args()
    path = build(options.program, options.documents, options.out, options.level)
    print(f"{path} ({path.stat().st_size / 1e6:.1f} MB)")


if __name__ == "__main__":
    main()
