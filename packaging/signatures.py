"""Unpacks the Python part of Shiboken, so that no start compiles it.

The library carries its modules as texts and compiles them in each process that imports Qt. Where
it finds the folder `files.dir` beside it, it takes them from there (`SBK_EMBED=0` makes it write
that folder). The writer of type stubs, which a program can't use, is emptied: a fifth of the
time that importing Qt takes is spent on its patterns.
"""

from __future__ import annotations

import compileall
import os
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

FOLDER = "files.dir"
STUB_WRITER = Path("shibokensupport", "signature", "lib", "pyi_generator.py")
EMPTIED = '"""Emptied by Clausebook: it writes type stubs, and the program needs none."""\n'


def unpack(internal: Path) -> None:
    """Moves the modules, compiled, into the program's folder `internal`.

    Raises:
        SystemExit: this version of Shiboken writes no such folder.
    """
    target = internal / "shiboken6" / FOLDER
    with tempfile.TemporaryDirectory() as made:
        copy = copy_package(Path(made))
        subprocess.run(
            [sys.executable, "-c", "import PySide6.QtCore"],
            env=os.environ | {"SBK_EMBED": "0", "PYTHONPATH": made},
            check=True,
        )
        if not (copy / FOLDER / STUB_WRITER).is_file():
            raise SystemExit(f"This version of Shiboken writes no {STUB_WRITER}.")
        shutil.copytree(copy / FOLDER, target, dirs_exist_ok=True)
    (target / STUB_WRITER).write_text(EMPTIED, encoding="utf8")
    _compile(target)


def copy_package(folder: Path) -> Path:
    """Copies the installed package shiboken6 into `folder`; returns where it is."""
    spec = find_spec("shiboken6")
    if spec is None or spec.origin is None:
        raise SystemExit("shiboken6 is not installed in the packaging environment.")
    return shutil.copytree(Path(spec.origin).parent, folder / "shiboken6")


def _compile(folder: Path) -> None:
    """Replaces each module by its byte code, under the name that needs no source."""
    if not compileall.compile_dir(folder, quiet=1, legacy=True, force=True, stripdir=folder):
        raise SystemExit(f"The modules of Shiboken in {folder} can't be compiled.")
    for source in folder.rglob("*.py"):
        source.unlink()
    for cache in folder.rglob("__pycache__"):
        shutil.rmtree(cache)
