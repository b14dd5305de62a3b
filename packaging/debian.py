"""Builds the Debian package from the program's folder.

python packaging/debian.py PROGRAM DOCUMENTS OUT [--compression xz|zstd|none]
"""

from __future__ import annotations

import argparse
import gzip
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import icons
import system_libraries

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from desktop_app import __version__  # noqa: E402

CONTROL = """\
Package: {name}
Version: {version}
Section: text
Priority: optional
Architecture: amd64
Maintainer: The Clausebook authors <clausebook@localhost>
Installed-Size: {kilobytes}
Depends: {depends}
Recommends: fonts-dejavu-core | fonts-liberation, fonts-noto-cjk
Description: ask questions of contracts on your own machine
 Clausebook answers questions about contracts and other long documents
 with a language model that runs on your own machine. Every answer names
 its page, and a click shows the passage.
 .
 {models}
"""
MODELS = {
    True: "This package brings a small language model and works offline at once.",
    False: "This package brings no model; the program offers to download one.",
}


def now() -> time.struct_time:
    return time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", time.time())))


def fill(source: Path, target: Path) -> None:
    """Copies a text with version, date and year put in."""
    text = source.read_text(encoding="utf8")
    text = text.replace("@VERSION@", __version__)
    text = text.replace("@DATE@", time.strftime("%Y-%m-%d", now()))
    text = text.replace("@YEAR@", time.strftime("%Y", now()))
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf8")


def compress(text: str, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def changelog(name: str) -> str:
    date = time.strftime("%a, %d %b %Y %H:%M:%S +0000", now())
    return (
        f"{name} ({__version__}) unstable; urgency=medium\n\n"
        f"  * Version {__version__}.\n\n"
        f" -- The Clausebook authors <clausebook@localhost>  {date}\n"
    )


def lay_out(program: Path, documents: Path, root: Path, name: str) -> None:
    """The package's files below `root`."""
    usr = root / "usr" / "share"
    shutil.copytree(program, root / "opt" / "clausebook", symlinks=True)
    (root / "usr" / "bin").mkdir(parents=True)
    (root / "usr" / "bin" / "clausebook").symlink_to("/opt/clausebook/clausebook")
    applications = usr / "applications" / "clausebook.desktop"
    applications.parent.mkdir(parents=True)
    shutil.copyfile(HERE / "linux" / "clausebook.desktop", applications)
    metainfo = "org.clausebook.Clausebook.metainfo.xml"
    fill(HERE / "linux" / metainfo, usr / "metainfo" / metainfo)
    icons.install(usr / "icons" / "hicolor")
    doc = usr / "doc" / name
    shutil.copytree(documents / "licences", doc / "licences")
    shutil.copyfile(documents / "clausebook.cdx.json", doc / "clausebook.cdx.json")
    fill(HERE / "linux" / "copyright.head", doc / "copyright")
    compress(changelog(name), doc / "changelog.gz")
    page = root / "clausebook.1"
    fill(HERE / "linux" / "clausebook.1", page)
    compress(page.read_text(encoding="utf8"), usr / "man" / "man1" / "clausebook.1.gz")
    page.unlink()


def write_control(root: Path, name: str, models: bool) -> None:
    size = sum(p.lstat().st_size for p in root.rglob("*") if p.is_file() and not p.is_symlink())
    control = CONTROL.format(
        name=name,
        version=__version__,
        kilobytes=size // 1024,
        depends=", ".join(system_libraries.depends()),
        models=MODELS[models],
    )
    (root / "DEBIAN").mkdir()
    (root / "DEBIAN" / "control").write_text(control, encoding="utf8")


def build(program: Path, documents: Path, out: Path, compression: str) -> Path:
    """Writes the .deb; returns its path."""
    models = (program / "_internal" / "models").exists()
    name = "clausebook"
    suffix = "" if models else "-without-models"
    root = out / "deb-root"
    if root.exists():
        shutil.rmtree(root)
    lay_out(program, documents, root, name)
    write_control(root, name, models)
    for path in root.rglob("*"):
        if path.is_dir():
            path.chmod(0o755)
        elif not path.is_symlink() and "opt" not in path.relative_to(root).parts[:1]:
            path.chmod(0o644)
    root.chmod(0o755)
    target = out / f"clausebook_{__version__}_amd64{suffix}.deb"
    command = ["dpkg-deb", "--root-owner-group", f"-Z{compression}", "--build"]
    subprocess.run([*command, str(root), str(target)], check=True, stdout=subprocess.DEVNULL)
    shutil.rmtree(root)
    return target


def main() -> None:
    parser = argparse.ArgumentParser(description="Builds the Debian package.")
    parser.add_argument("program", type=Path)
    parser.add_argument("documents", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--compression", choices=["xz", "zstd", "none"], default="xz")
    options = parser.parse_args()
    path = build(options.program, options.documents, options.out, options.compression)
    print(f"{path} ({path.stat().st_size / 1e6:.1f} MB)")


if __name__ == "__main__":
    main()
