"""Builds the GPU add-on: PyTorch for the packaged program, as a package of its own.

    python packaging/addon.py PROGRAM OUT [--cuda] [--compression none|zstd|xz]

The add-on lies in the folder `addons/torch` beside the program, which finds it at the next start.
By default it holds the CPU build of torch (the mechanism is the same, and it can be tried without
a GPU); with --cuda the build that the package index offers for Linux, with NVIDIA's libraries.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from desktop_app import __version__  # noqa: E402

PACKAGES = ["torch>=2.6", "gguf>=0.10", "safetensors>=0.4.5"]
# C++ test programs and headers; torch_shm_manager is needed.
DROPPED = ("torch/test", "torch/include", "torch/share", "bin", "share")
CONTROL = """\
Package: clausebook-torch
Version: {version}
Section: text
Priority: optional
Architecture: amd64
Maintainer: The Clausebook authors <clausebook@localhost>
Installed-Size: {kilobytes}
Depends: clausebook (= {version})
Description: PyTorch for Clausebook ({build} build)
 With this package and a suitable GPU Clausebook computes its answers on the
 GPU. Without a GPU it changes nothing.
"""


def shipped() -> set[str]:
    """Names of the packages that the program brings itself."""
    text = (HERE / "locks" / "linux.lock").read_text(encoding="utf8")
    return {name.lower().replace("_", "-") for name in re.findall(r"^([\w.-]+)==", text, re.M)}


def install(target: Path, cuda: bool) -> None:
    """Puts torch and what it needs into `target`, without what the program has already."""
    if target.exists():
        shutil.rmtree(target)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    command += ["--target", str(target), "--no-compile", *PACKAGES]
    if not cuda:
        command += ["--constraint", str(HERE / "constraints-cpu.txt")]
    subprocess.run(command, check=True)
    own = shipped()
    for record in target.glob("*.dist-info/RECORD"):
        name = record.parent.name.split("-")[0].lower().replace("_", "-")
        if name in own:
            remove(target, record)
    for name in DROPPED:
        shutil.rmtree(target / name, ignore_errors=True)
    for path in (target / "torch" / "bin").iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name != "torch_shm_manager":
            path.unlink()


def remove(target: Path, record: Path) -> None:
    """Takes an installed package out again, by its record."""
    tops = {line.split("/")[0].split(",")[0] for line in record.read_text("utf8").splitlines()}
    for top in tops - {"..", "bin"}:
        path = target / top
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def build_of(folder: Path) -> str:
    """Which build of torch was installed, "CPU" or "CUDA", by its own word.

    It may be another than was asked for: an index can offer one of the two alone.
    """
    text = (folder / "torch" / "version.py").read_text(encoding="utf8")
    return "CPU" if re.search(r"^cuda\b.*=\s*None\s*$", text, re.M) else "CUDA"


def package(folder: Path, out: Path, compression: str) -> Path:
    """The add-on as a Debian package, named after the build of torch in it."""
    root = out / "addon-root"
    if root.exists():
        shutil.rmtree(root)
    shutil.copytree(folder, root / "opt" / "clausebook" / "addons" / "torch", symlinks=True)
    size = sum(p.stat().st_size for p in root.rglob("*") if p.is_file())
    build = build_of(folder)
    control = CONTROL.format(version=__version__, kilobytes=size // 1024, build=build)
    (root / "DEBIAN").mkdir()
    (root / "DEBIAN" / "control").write_text(control, encoding="utf8")
    root.chmod(0o755)
    target = out / f"clausebook-torch_{__version__}_amd64-{build.lower()}.deb"
    command = ["dpkg-deb", "--root-owner-group", f"-Z{compression}", "--build"]
    subprocess.run([*command, str(root), str(target)], check=True, stdout=subprocess.DEVNULL)
    shutil.rmtree(root)
    return target


def try_it(program: Path, addon: Path) -> None:
    """The program with the add-on beside it finds torch and computes with it."""
    link = program / "addons" / "torch"
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(addon.absolute(), target_is_directory=True)
    try:
        environment = os.environ | {"QT_QPA_PLATFORM": "offscreen"}
        command = [str(program / "clausebook"), "ask", "How is payment made?", "--json"]
        library = ["--library", str(addon.parent / "addon-library")]
        sample = program / "_internal" / "assets" / "samples" / "supply-agreement.pdf"
        ingest = [str(program / "clausebook"), "ingest", str(sample), *library]
        subprocess.run(ingest, check=True, env=environment, stdout=subprocess.DEVNULL)
        done = subprocess.run(
            [*command, "--backend", "torch", *library],
            check=True, env=environment, capture_output=True, text=True,
        )  # fmt: skip
        if '"backend": "torch' not in done.stdout:
            sys.exit(f"The add-on was not used: {done.stdout}")
    finally:
        shutil.rmtree(link.parent)
        shutil.rmtree(addon.parent / "addon-library", ignore_errors=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Builds the GPU add-on.")
    parser.add_argument("program", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--cuda", action="store_true")
    parser.add_argument("--compression", choices=["xz", "zstd", "none"], default="zstd")
    options = parser.parse_args()
    addon = options.program.parent / "addon"
    install(addon, options.cuda)
    try_it(options.program, addon)
    path = package(addon, options.out, options.compression)
    print(f"{path} ({path.stat().st_size / 1e6:.1f} MB)")
    if not options.cuda and build_of(addon) == "CUDA":
        print("The package index has no CPU build of torch; give pip one with PIP_FIND_LINKS.")


if __name__ == "__main__":
    main()
