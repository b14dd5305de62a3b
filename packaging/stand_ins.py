"""Leaves out libraries of OpenCV and Pillow that the program never calls. Linux only.

Their modules are linked with libraries for videos, AVIF pictures and pictures of the screen
(FFmpeg, libavif, libxcb and what those need, an OpenSSL without support among it). Recognising a
page calls none of their functions, but the loader wants the libraries: each becomes a stand-in of
the same name, whose functions return zero. OpenCV's OpenBLAS becomes a link to FAISS's, which has
the same functions. Run by bundle.py.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

import elf_audit

# module, folder of its libraries, those that are replaced
REPLACED = (
    (
        "cv2/cv2.abi3.so",
        "opencv_python_headless.libs",
        "lib(avcodec|avformat|avutil|swscale|avif)-",
    ),
    ("PIL/_imaging.*.so", "pillow.libs", "libxcb-"),
)
SYMBOL = re.compile(r"^\S*\s*([A-Za-z]) ([^@\s]+)(?:@+(\S+))?$", re.MULTILINE)


def symbols(library: Path, kind: str) -> dict[str, tuple[str, str]]:
    """Dynamic symbols, "defined" or "undefined": name -> (nm's letter, version or nothing)."""
    command = ["nm", "--dynamic", "--with-symbol-versions", f"--{kind}-only", str(library)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {name: (letter, version) for letter, name, version in SYMBOL.findall(text)}


def stand_in(library: Path, user: Path) -> None:
    """Replaces `library` by one with the functions that `user` names, each returning zero."""
    defined, wanted = symbols(library, "defined"), symbols(user, "undefined")
    names = sorted(defined.keys() & wanted.keys())
    if odd := [name for name in names if defined[name][0] not in "TW"]:
        raise SystemExit(f"{library.name} can't be replaced: {odd[0]} is no function.")
    versions: dict[str, list[str]] = {}
    for name in names:
        versions.setdefault(wanted[name][1], []).append(name)
    script = ""
    for version, members in versions.items():
        script += f"{version} {{ global: {'; '.join(members)}; }};\n"
    with tempfile.TemporaryDirectory() as folder:
        source, exported = Path(folder) / "stand_in.c", Path(folder) / "exported"
        source.write_text("".join(f"long {name}(void) {{ return 0; }}\n" for name in names))
        exported.write_text(script)
        command = ["cc", "-shared", "-fPIC", "-nostdlib", "-w", "-O1", "-s", str(source)]
        command += [f"-Wl,-soname,{library.name}", f"-Wl,--version-script={exported}"]
        library.unlink()
        subprocess.run([*command, "-Wl,--build-id=none", "-o", str(library)], check=True)


def share(own: Path, other: Path, user: Path) -> None:
    """Makes the library `own` of `user` a link to `other`, together with what lies beside that."""
    defined = symbols(other, "defined")
    needed = symbols(user, "undefined").keys() & symbols(own, "defined").keys()
    if missing := sorted(needed - defined.keys()):
        raise SystemExit(f"{other.name} can't stand for {own.name}: it lacks {missing[0]}.")
    for beside in [other, *other.parent.glob("*.so*")]:
        link = own if beside == other else own.parent / beside.name
        link.unlink(missing_ok=True)
        link.symlink_to(Path("..") / other.parent.name / beside.name)


def remove_unneeded(folders: list[Path], internal: Path) -> None:
    """Removes libraries of these folders that no file in `internal` needs any more."""
    while True:
        needed = {
            name
            for path in elf_audit.elf_files(internal)
            for name in elf_audit.needed(elf_audit.read(path, "--dynamic"))
        }
        unneeded = [path for one in folders for path in one.iterdir() if path.name not in needed]
        for path in unneeded:
            path.unlink()
        if not unneeded:
            return


def apply(internal: Path) -> None:
    """All of it, in the program's inner folder."""
    for module, folder, names in REPLACED:
        user = next(internal.glob(module))
        found = [path for path in (internal / folder).iterdir() if re.match(names, path.name)]
        if not found:
            raise SystemExit(f"{folder} has no library {names}: {module} is built differently.")
        for library in found:
            stand_in(library, user)
    opencv, faiss = (internal / name for name in (REPLACED[0][1], "faiss_cpu.libs"))
    own, other = (next(folder.glob("libopenblas*")) for folder in (opencv, faiss))
    share(own, other, internal / REPLACED[0][0])
    remove_unneeded([internal / folder for _, folder, _ in REPLACED], internal)
