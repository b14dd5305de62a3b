"""Builds llama-cpp-python once for this machine, or finds the wheel that was built before.

The package index has no wheel of it, and a build takes minutes, so finished wheels are kept in
$CLAUSEBOOK_WHEELS (default: the user's cache folder). Two flavours:

    native    for this processor and C library only; the folder's name says which
    portable  every x86-64-v2 processor, one CPU library for each kind, for the packages

Run by the Makefile with the virtual environment's Python; prints the wheel's path.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PACKAGE = "llama-cpp-python"
SOURCE = Path(__file__).parent / "locks" / "llama-source.lock"  # version and SHA-256
VERSION = re.findall(r"==([\w.]+)", SOURCE.read_text(encoding="utf8"))[0]
# Instruction sets that -march=native may make use of; a wheel runs only where all of them exist.
INSTRUCTION_SETS = re.compile(
    r"(sse|ssse|avx|amx|fma|f16c|bmi|xop|abm|popcnt|movbe|adx|gfni|vaes|vpclmul|sha_ni|asimd|sve|sme(?!p))"
)
NO_EXTRAS = (
    "-DLLAMA_BUILD_TESTS=OFF",
    "-DLLAMA_BUILD_EXAMPLES=OFF",
    "-DLLAMA_BUILD_TOOLS=OFF",
    "-DLLAMA_BUILD_SERVER=OFF",
    "-DLLAVA_BUILD=OFF",
)
# No AMX: GCC 12's _tile_loadconfig tells the compiler of 8 of the 64 bytes that it reads (GCC's
# amxtileintrin.h), the others are never written, and llama.cpp's first product of two rows dies of
# an illegal instruction. The macro is what ggml's AMX code is compiled under.
COMPILER_FLAGS = "-U__AMX_INT8__"
FLAGS = {
    "native": NO_EXTRAS,
    "portable": (
        "-DGGML_NATIVE=OFF",
        "-DGGML_BACKEND_DL=ON",
        "-DGGML_CPU_ALL_VARIANTS=ON",
        # llama-cpp-python installs only the target named ggml-cpu where it belongs.
        "-DCMAKE_INSTALL_BINDIR=llama_cpp/lib",
        "-DCMAKE_INSTALL_LIBDIR=llama_cpp/lib",
        "-DCMAKE_INSTALL_INCLUDEDIR=llama_cpp/include",
        "-DCMAKE_INSTALL_RPATH=$ORIGIN",
        *NO_EXTRAS,
    ),
}


def instruction_sets() -> list[str]:
    """Names of the processor's instruction sets, sorted; empty where they can't be read."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf8")
    except OSError:
        return []
    found = re.search(r"^(?:flags|Features)\s*:\s*(.*)$", text, re.MULTILINE)
    names = found.group(1).split() if found else []
    return sorted({name for name in names if INSTRUCTION_SETS.match(name)})


def folder(flavour: str) -> Path:
    """Where wheels of this flavour that fit this machine are kept."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    root = Path(os.environ.get("CLAUSEBOOK_WHEELS") or cache / "clausebook" / "wheels")
    libc = "".join(platform.libc_ver()) or platform.system().lower()
    built_for = [*FLAGS[flavour], COMPILER_FLAGS]
    if flavour == "native":
        built_for += instruction_sets() or [platform.processor() or platform.node()]
    digest = hashlib.sha256(" ".join(built_for).encode()).hexdigest()[:8]
    return root / f"{flavour}-{platform.machine()}-{libc}-{digest}"


def find(flavour: str) -> Path | None:
    """A finished wheel that fits, or None; one built with an older C library fits too."""
    own = folder(flavour)
    libc = re.compile(r"glibc(\d+)\.(\d+)")
    for other in sorted(own.parent.glob(f"{flavour}-*"), reverse=True):
        same = libc.sub("", other.name) == libc.sub("", own.name)
        if same and _versions(libc, other.name) <= _versions(libc, own.name):
            for wheel in sorted(other.glob(f"llama_cpp_python-{VERSION}-*.whl")):
                return wheel
    return None


def _versions(libc: re.Pattern[str], name: str) -> list[tuple[int, ...]]:
    return [tuple(map(int, pair)) for pair in libc.findall(name)]


def build(flavour: str) -> Path:
    """Compiles the wheel; it appears in its folder only when it is whole."""
    flags = " ".join((*FLAGS[flavour], os.environ.get("CLAUSEBOOK_CMAKE_ARGS", ""))).strip()
    environment = os.environ | {"CMAKE_ARGS": flags}
    for name in ("CFLAGS", "CXXFLAGS"):
        environment[name] = f"{os.environ.get(name, '')} {COMPILER_FLAGS}".strip()
    minutes = "8" if flavour == "native" else "20"
    print(
        f"Building {PACKAGE} {VERSION} ({flavour}); once on this machine, "
        f"about {minutes} minutes on two cores …",
        file=sys.stderr,
        flush=True,
    )
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-cache-dir"]
    command += ["--no-binary", PACKAGE, "--requirement", str(SOURCE), "--wheel-dir"]
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="clausebook-") as made:
        with subprocess.Popen([*command, made], env=environment, stdout=sys.stderr) as process:
            while process.poll() is None:
                try:
                    process.wait(60)
                except subprocess.TimeoutExpired:
                    past = round((time.monotonic() - started) / 60)
                    print(f"  … {past} min", file=sys.stderr, flush=True)
        wheels = list(Path(made).glob("*.whl"))
        if process.returncode or not wheels:
            sys.exit(
                f"{PACKAGE} could not be built; the compiler's message stands above. "
                "It needs a C++ compiler and cmake, and the package index must be reachable."
            )
        target = folder(flavour) / wheels[0].name
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_suffix(".partial")
        shutil.copyfile(wheels[0], partial)
        partial.replace(target)
    return target


def main() -> None:
    parser = argparse.ArgumentParser(description="Builds or finds the llama-cpp-python wheel.")
    parser.add_argument("flavour", choices=sorted(FLAGS), nargs="?", default="native")
    parser.add_argument("--find", action="store_true", help="only look; exit 1 if there is none")
    options = parser.parse_args()
    wheel = find(options.flavour)
    if wheel is None and options.find:
        sys.exit(1)
    print(wheel or build(options.flavour))


if __name__ == "__main__":
    main()
