"""What the program's folder consists of: Python packages, system libraries, models.

The bill of materials and the collection of licences are written from this list.
"""

from __future__ import annotations

import hashlib
import platform
import re
import subprocess
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Component:
    """A part with a name and a licence.

    Attributes:
        kind: "library", "machine-learning-model" or "platform".
        source: its package URL; empty if it has none.
        licence: an SPDX expression, or the package's own words.
        texts: files with the licence's text.
        sha256: of a model's file.
    """

    kind: str
    name: str
    version: str
    source: str
    licence: str
    texts: tuple[Path, ...] = ()
    sha256: str = ""


def licence_of(distribution: metadata.Distribution) -> str:
    """What the package says its licence is."""
    meta = distribution.metadata
    if expression := meta.get("License-Expression"):
        return str(expression)
    classifiers = [
        text.split(" :: ")[-1]
        for text in meta.get_all("Classifier") or []
        if text.startswith("License ::")
    ]
    text = str(meta.get("License") or "").strip()
    return " AND ".join(classifiers) or (text.splitlines()[0][:80] if text else "see its texts")


# Packages that bring no text of their own -> the texts of their licences.
COMMON = Path("/usr/share/common-licenses")
TEXTS = {
    "pyside6": (COMMON / "LGPL-3", COMMON / "GPL-3"),
    "shiboken6": (COMMON / "LGPL-3", COMMON / "GPL-3"),
    "tokenizers": (Path(__file__).parent.parent / "LICENSE",),
}
TEXT_NAME = re.compile(r"licen[cs]e|copying|notice|authors", re.IGNORECASE)


def texts_of(distribution: metadata.Distribution) -> tuple[Path, ...]:
    """The licence files that the package brings, or those of its licence."""
    found = []
    for file in distribution.files or []:
        inside = str(file).split(".dist-info/")[-1]
        if TEXT_NAME.search(inside) and (inside != str(file) or len(file.parts) == 2):
            found.append(file)
    if found:
        return tuple(Path(str(file.locate())) for file in found if file.suffix != ".py")
    name = distribution.metadata["Name"].lower().split("_")[0]
    return tuple(path for path in TEXTS.get(name, ()) if path.exists())


def python_packages(folder: Path) -> Iterator[Component]:
    """Packages of which a module or another file is in the folder."""
    shipped = {path.name.split(".")[0] for path in (folder / "_internal").iterdir()}
    names = metadata.packages_distributions()
    used = sorted({name for module in shipped for name in names.get(module, [])}, key=str.lower)
    for name in used:
        found = metadata.distribution(name)
        purl = f"pkg:pypi/{name.lower().replace('_', '-')}@{found.version}"
        yield Component("library", name, found.version, purl, licence_of(found), texts_of(found))


def debian_owner(library: str) -> tuple[str, str, Path] | None:
    """Package, version and copyright file of a library of the build machine."""
    asked = subprocess.run(
        ["dpkg", "-S", f"*/{library}"], capture_output=True, text=True, check=False
    )
    if asked.returncode:
        return None
    package = asked.stdout.split(":")[0].split(",")[0]
    shown = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Version}", package],
        capture_output=True,
        text=True,
        check=False,
    )
    return package, shown.stdout, Path("/usr/share/doc") / package / "copyright"


def system_libraries(folder: Path) -> Iterator[Component]:
    """Libraries that came from the build machine's system."""
    seen = set()
    for path in sorted((folder / "_internal").glob("*.so*")):
        if path.is_symlink() or not path.name.startswith("lib") or "libpython" in path.name:
            continue
        owner = debian_owner(path.name)
        if owner and owner[0] not in seen:
            package, version, text = owner
            seen.add(package)
            purl = f"pkg:deb/debian/{package}@{version}"
            texts = (text,) if text.exists() else ()
            yield Component("library", package, version, purl, "see its texts", texts)


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def recognition_models(folder: Path) -> Iterator[Component]:
    """The models that recognise pages; they and their licences come with RapidOCR."""
    texts = texts_of(metadata.distribution("rapidocr"))
    for path in sorted((folder / "_internal" / "rapidocr" / "models").glob("*.onnx")):
        digest = sha256(path)
        yield Component(
            "machine-learning-model", path.stem, digest[:12], "", "Apache-2.0", texts, digest
        )


def models(folder: Path) -> Iterator[Component]:
    """The default models, if they are in the folder."""
    models_folder = folder / "_internal" / "models"
    for path in sorted(models_folder.rglob("*")):
        if path.suffix in (".gguf", ".data"):
            texts = tuple(sorted(models_folder.glob("LICENSE.*")))
            name = path.stem if path.suffix == ".gguf" else path.parent.name
            digest = sha256(path)
            yield Component(
                "machine-learning-model", name, digest[:12], "", "Apache-2.0", texts, digest
            )


def python_itself() -> Component:
    version = platform.python_version()
    text = Path(sysconfig.get_path("stdlib")) / "LICENSE.txt"
    texts = (text,) if text.exists() else ()
    return Component(
        "platform", "CPython", version, f"pkg:generic/python@{version}", "PSF-2.0", texts
    )


def components(folder: Path) -> list[Component]:
    """Everything in the program's folder that isn't the project's own."""
    found = [python_itself(), *python_packages(folder)]
    return [*found, *system_libraries(folder), *recognition_models(folder), *models(folder)]
