"""Parts of the packaging that need no build: tables, audit, bill of materials, icons, locks."""

from __future__ import annotations

import hashlib
import json
import os
import re
import struct
import subprocess
import sys
import tomllib
from pathlib import Path

import addon
import components
import documents
import elf_audit
import freeze
import pypdfium2
import pytest
import scan
import signatures
import system_libraries
from components import Component

import desktop_app

ROOT = Path(__file__).resolve().parents[2]
# Prints where each module of Shiboken's Python part was loaded from.
LOADED_FROM = """
import sys, PySide6.QtCore
names = [name for name in sys.modules if name.startswith("shibokensupport.signature")]
print(*(sys.modules[name].__spec__.origin for name in names), sep="\\n")
"""
LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads ELF files")


def test_a_library_of_the_system_stays_out_only_if_a_package_brings_it() -> None:
    assert system_libraries.left_out("libstdc++.so.6")
    assert system_libraries.left_out("libxcb-icccm.so.4")
    assert not system_libraries.left_out("libssl.so.3")
    assert not system_libraries.left_out("libpython3.11.so.1.0")
    assert not system_libraries.left_out("libxcb-9065bb12.so.1.1.0"), "a wheel's own copy"


def test_depends_names_each_package_once_with_its_renamed_form() -> None:
    depends = system_libraries.depends()

    assert len(depends) == len(set(depends))
    assert "libglib2.0-0 (>= 2.60) | libglib2.0-0t64" in depends
    assert {"libgomp1", "libxcb-cursor0", "libegl1"} <= set(depends)


@LINUX
def test_the_audit_reads_what_a_program_needs() -> None:
    program = Path(sys.executable).resolve()
    dynamic = elf_audit.read(program, "--dynamic")

    assert "libc.so.6" in elf_audit.needed(dynamic)
    assert (2, 0) < elf_audit.glibc(elf_audit.read(program, "--version-info")) < (3, 0)


@LINUX
def test_the_audit_names_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "program").write_bytes(Path(sys.executable).resolve().read_bytes())
    (tmp_path / "libxcb.so.1").write_bytes(b"\x7fELF and no more")
    (tmp_path / "gone").symlink_to(tmp_path / "nothing")

    found = "\n".join(elf_audit.problems(tmp_path))

    assert "libxcb.so.1 is a library of the system" in found
    assert "gone is a link to nothing" in found


def test_what_no_window_uses_is_left_out() -> None:
    assert freeze.unwanted("PySide6/Qt/plugins/platforms/libqeglfs.so")
    assert freeze.unwanted("PySide6/Qt/lib/libQt6Quick.so.6")
    assert freeze.unwanted("PySide6/Qt/translations/qtbase_uk.qm")
    assert not freeze.unwanted("PySide6/Qt/plugins/platforms/libqxcb.so")
    assert not freeze.unwanted("PySide6/Qt/plugins/platforminputcontexts/libibusplugin.so")
    assert not freeze.unwanted("PySide6/Qt/translations/qtbase_zh_CN.qm")


def test_of_recognition_only_what_the_program_uses_is_frozen() -> None:
    assert freeze.unwanted("cv2/data/haarcascade_eye.xml")
    assert freeze.unwanted("cv2/opencv_videoio_ffmpeg500_64.dll")
    assert freeze.unwanted("rapidocr/inference_engine/pytorch/networks/arch_config.yaml")
    assert not freeze.unwanted("rapidocr/models/PP-OCRv6_rec_small.onnx")
    assert not freeze.unwanted("rapidocr/config.yaml")
    assert not freeze.unwanted("rapidocr/inference_engine/onnxruntime/main.pyc")
    assert "PIL" not in freeze.EXCLUDED


def test_the_models_of_recognition_are_listed_with_their_licence(tmp_path: Path) -> None:
    models = tmp_path / "_internal" / "rapidocr" / "models"
    models.mkdir(parents=True)
    (models / "PP-OCR.onnx").write_bytes(b"weights")

    (found,) = components.recognition_models(tmp_path)

    assert found.kind == "machine-learning-model"
    assert found.sha256 == hashlib.sha256(b"weights").hexdigest()
    assert any("MODEL" in path.name for path in found.texts)


def test_a_scan_is_a_picture_without_text_and_always_the_same(tmp_path: Path) -> None:
    sample = ROOT / "assets" / "samples" / "supply-agreement.pdf"
    pictures = []
    for name in ("one.pdf", "two.pdf"):
        scan.scan(sample, "8.1 Payment", tmp_path / name)
        with pypdfium2.PdfDocument(tmp_path / name) as document:
            assert len(document) == 1
            assert not document[0].get_textpage().get_text_bounded().strip()
            pictures.append(document[0].render().to_numpy().tobytes())

    assert pictures[0] == pictures[1]
    with pytest.raises(SystemExit, match="No page"):
        scan.scan(sample, "a text that isn't there", tmp_path / "three.pdf")


def test_torch_is_not_frozen() -> None:
    assert {"torch", "transformers", "sentence_transformers"} <= set(freeze.EXCLUDED)


def test_the_next_version_differs_in_its_version_only(tmp_path: Path) -> None:
    ((name, raised, _kind),) = freeze.next_version(ROOT, tmp_path)

    assert name == "desktop_app"
    source = ROOT / "desktop_app" / "__init__.py"
    text = Path(raised).read_text(encoding="utf8")
    assert text == source.read_text(encoding="utf8").replace(
        f'"{desktop_app.__version__}"', f'"{desktop_app.__version__}.1"'
    )


def test_a_version_that_is_not_found_ends_the_build(tmp_path: Path) -> None:
    (tmp_path / "desktop_app").mkdir()
    (tmp_path / "desktop_app" / "__init__.py").write_text("VERSION = 1")

    with pytest.raises(SystemExit, match="version"):
        freeze.next_version(tmp_path, tmp_path)


@pytest.mark.parametrize(("said", "build"), [("None", "CPU"), ("'12.6'", "CUDA")])
def test_the_add_on_is_named_after_the_torch_in_it(tmp_path: Path, said: str, build: str) -> None:
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "version.py").write_text(
        f"__all__ = ['cuda']\ncuda: Optional[str] = {said}\nhip: Optional[str] = None\n"
    )
    assert addon.build_of(tmp_path) == build


def test_shiboken_finds_its_modules_compiled(tmp_path: Path) -> None:
    """In a copy of its package, as in the program's folder: each module comes from byte code."""
    signatures.copy_package(tmp_path)

    signatures.unpack(tmp_path)

    done = subprocess.run(
        [sys.executable, "-c", LOADED_FROM],
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    files = [Path(line) for line in done.stdout.splitlines()]
    assert len(files) > 8
    assert {file.suffix for file in files} == {".pyc"}
    assert all(file.is_relative_to(tmp_path / "shiboken6" / signatures.FOLDER) for file in files)


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")
def test_the_scripts_of_the_trial_can_be_read_by_a_plain_shell() -> None:
    scripts = [*(ROOT / "packaging").rglob("*.sh")]

    assert len(scripts) > 12
    for script in scripts:
        subprocess.run(["sh", "-n", str(script)], check=True)


@pytest.mark.parametrize("system", ["linux", "windows", "macos"])
def test_the_locks_hold_every_dependency_with_a_hash(system: str) -> None:
    text = (ROOT / "packaging" / "locks" / f"{system}.lock").read_text(encoding="utf8")
    locked = {name.lower() for name in re.findall(r"^([\w.-]+)==", text, re.MULTILINE)}
    with (ROOT / "pyproject.toml").open("rb") as file:
        wanted = tomllib.load(file)["project"]["dependencies"]
    names = {re.split(r"[<>=]", name)[0].lower() for name in wanted} - {"llama-cpp-python"}

    assert names <= locked
    assert "torch" not in locked
    assert len(re.findall(r"--hash=sha256:[0-9a-f]{64}", text)) == len(locked)


def test_the_bill_of_materials_is_the_same_for_the_same_parts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    parts = [
        Component("library", "numpy", "2.0", "pkg:pypi/numpy@2.0", "BSD-3-Clause"),
        Component("machine-learning-model", "m", "1", "", "Apache-2.0", sha256="ab" * 32),
    ]

    bill = documents.bill_of_materials(parts)

    assert bill == documents.bill_of_materials(parts)
    assert bill["specVersion"] == "1.6"
    text = json.dumps(bill)
    assert '"purl": "pkg:pypi/numpy@2.0"' in text
    assert '"2023-11-14T22:13:20Z"' in text
    assert f'"content": "{"ab" * 32}"' in text


def test_licences_are_collected_with_a_list(tmp_path: Path) -> None:
    text = tmp_path / "LICENSE"
    text.write_text("Be kind.")
    part = Component("library", "thing", "1.0", "", "MIT", (text, text))

    documents.write_licences([part], tmp_path / "out")

    assert "thing 1.0: MIT" in (tmp_path / "out" / "LIST.txt").read_text()
    assert len(list((tmp_path / "out" / "thing").iterdir())) == 2


def test_icons_in_the_formats_of_all_systems(qapp: object) -> None:
    import icons

    ico, icns = icons.ico((16, 32)), icons.icns()

    assert struct.unpack_from("<HHH", ico) == (0, 1, 2)
    assert ico.count(b"\x89PNG") == 2
    assert icns[:4] == b"icns"
    assert struct.unpack_from(">I", icns, 4)[0] == len(icns)
