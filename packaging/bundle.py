"""Builds the program's folder: freeze, tidy, audit, self-test.

    python packaging/bundle.py build/package/clausebook [--without-models] [--no-test]

Runs with the packaging environment's Python, which has exactly the locked packages.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import elf_audit
import signatures
import stand_ins

HERE = Path(__file__).parent
ROOT = HERE.parent
INTERNAL = "_internal"


def freeze(work: Path) -> Path:
    """Runs PyInstaller; returns the folder it made."""
    environment = os.environ | {
        "CLAUSEBOOK_MODELS_IN": str(ROOT / "build" / "models"),
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [sys.executable, "-m", "PyInstaller", "--noconfirm", "--clean", "--log-level=WARN"]
    command += ["--workpath", str(work / "work"), "--distpath", str(work / "dist")]
    subprocess.run([*command, str(HERE / "clausebook.spec")], env=environment, check=True)
    return work / "dist" / "clausebook"


def link_llama(internal: Path) -> None:
    """Adds the unversioned names of llama.cpp's libraries as links.

    Two files of the same library would be loaded twice, with two registries of backends.
    """
    for path in (internal / "llama_cpp" / "lib").glob("*.so.0"):
        link = path.with_suffix("")
        link.unlink(missing_ok=True)
        link.symlink_to(path.name)


def remove_duplicates(internal: Path) -> None:
    """Drops PyInstaller's links at the top that point to nothing that is shipped."""
    for path in internal.rglob("*"):
        if path.is_symlink() and not path.exists():
            path.unlink()


def strip(internal: Path) -> None:
    """Strips symbols, except in *.libs: those files were patched and stripping breaks them."""
    files = [
        path
        for path in internal.rglob("*.so*")
        if path.is_file()
        and not path.is_symlink()
        and not any(part.endswith(".libs") for part in path.relative_to(internal).parts)
    ]
    for path in files:
        subprocess.run(
            ["strip", "--strip-unneeded", str(path)], check=False, stderr=subprocess.DEVNULL
        )


def forget_build_folders(internal: Path) -> None:
    """Removes run paths that name a folder of the build machine; PyInstaller sets its own."""
    for path in elf_audit.elf_files(internal):
        if any(part.startswith("/") for part in elf_audit.run_path(path)):
            subprocess.run(
                ["chrpath", "--delete", str(path)], check=True, stdout=subprocess.DEVNULL
            )


def set_modes(folder: Path) -> None:
    """Directories and programs 755, other files 644; one time for all, if there is one."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    for path in [folder, *folder.rglob("*")]:
        if path.is_symlink():
            continue
        runs = path.is_dir() or path.parent == folder
        path.chmod(0o755 if runs else 0o644)
    if epoch:
        for path in [*folder.rglob("*"), folder]:
            os.utime(path, (int(epoch), int(epoch)), follow_symlinks=False)


def remove_models(folder: Path) -> None:
    shutil.rmtree(folder / INTERNAL / "models")


def self_test(folder: Path) -> None:
    """Runs the program's own test inside the frozen tree; the build ends if a part fails."""
    program = folder / ("clausebook.exe" if sys.platform == "win32" else "clausebook")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL"))}
    environment["QT_QPA_PLATFORM"] = "offscreen"
    command = [str(program), "doctor", "--self-test", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    try:
        findings = json.loads(done.stdout)
    except ValueError:
        sys.exit(f"The self-test gave no answer (exit {done.returncode}): {done.stderr[-2000:]}")
    for line in findings["sections"].get("self-test", []):
        print(f"  {line['name']:<28} {line['value']}")
    if done.returncode or not findings["sections"].get("self-test"):
        sys.exit(f"The self-test failed: {json.dumps(findings['problems'], indent=1)}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Builds the program's folder.")
    parser.add_argument("target", type=Path)
    parser.add_argument("--without-models", action="store_true")
    parser.add_argument("--no-test", action="store_true")
    options = parser.parse_args()
    work = options.target.parent / "pyinstaller"
    made = freeze(work)
    if options.target.exists():
        shutil.rmtree(options.target)
    made.rename(options.target)
    following = work / "work" / "clausebook" / "clausebook-next"
    if following.exists():
        following.replace(options.target.parent / following.name)
    internal = options.target / INTERNAL
    signatures.unpack(internal)
    if sys.platform.startswith("linux"):
        link_llama(internal)
        stand_ins.apply(internal)
        remove_duplicates(internal)
        strip(internal)
        forget_build_folders(internal)
    if options.without_models:
        remove_models(options.target)
    set_modes(options.target)
    if not options.no_test:
        self_test(options.target)


if __name__ == "__main__":
    main()
