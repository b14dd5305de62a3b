"""Libraries that are linked but never called: stand-ins for them, and one copy for two users."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
from pathlib import Path

import elf_audit
import pytest
import stand_ins

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux") or not shutil.which("cc") or not shutil.which("nm"),
    reason="makes ELF files",
)


def library(path: Path, source: str, *options: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    code = path.parent / "source.c"
    code.write_text(source)
    command = ["cc", "-shared", "-fPIC", "-w", f"-Wl,-soname,{path.name}", "-o", str(path)]
    subprocess.run([*command, str(code), *options], check=True)
    code.unlink()
    return path


def test_a_stand_in_has_the_functions_and_versions_that_are_wanted(tmp_path: Path) -> None:
    versions = tmp_path / "versions"
    versions.write_text("VIDEO_62 { global: *; };")
    source = "int play(void) { return 7; } int other(void) { return 8; }"
    video = library(tmp_path / "libvideo.so.1", source, f"-Wl,--version-script={versions}")
    user = library(tmp_path / "user.so", "int use(void) { return 1 + play(); }", str(video))
    before = video.stat().st_size

    stand_ins.stand_in(video, user)

    assert set(stand_ins.symbols(video, "defined")) == {"play", "VIDEO_62"}
    assert video.stat().st_size <= before
    ctypes.CDLL(str(video), mode=ctypes.RTLD_GLOBAL)
    assert ctypes.CDLL(str(user)).use() == 1


def test_a_stand_in_works_without_versions(tmp_path: Path) -> None:
    picture = library(tmp_path / "libpicture.so.1", "int draw(void) { return 7; }")
    user = library(tmp_path / "user.so", "int use(void) { return 1 + draw(); }", str(picture))

    stand_ins.stand_in(picture, user)

    ctypes.CDLL(str(picture), mode=ctypes.RTLD_GLOBAL)
    assert ctypes.CDLL(str(user)).use() == 1


def test_a_library_whose_data_are_used_has_no_stand_in(tmp_path: Path) -> None:
    table = library(tmp_path / "libtable.so.1", "int table[4] = {1, 2, 3, 4};")
    user = library(
        tmp_path / "user.so", "extern int table[]; int use(void) { return table[1]; }", str(table)
    )

    with pytest.raises(SystemExit, match="table is no function"):
        stand_ins.stand_in(table, user)
    assert "table" in stand_ins.symbols(table, "defined")


def test_two_users_share_a_library_that_has_what_both_need(tmp_path: Path) -> None:
    both = "int add(void) { return 3; } int more(void) { return 4; }"
    own = library(tmp_path / "one.libs" / "libmath-p.so", "int add(void) { return 3; }")
    other = library(tmp_path / "two.libs" / "libmath-o.so", both)
    helper = library(tmp_path / "two.libs" / "libhelper.so.1", "int help(void) { return 5; }")
    user = library(tmp_path / "user.so", "int use(void) { return add(); }", str(own))

    stand_ins.share(own, other, user)

    assert own.is_symlink()
    assert own.resolve() == other
    assert (own.parent / helper.name).resolve() == helper


def test_a_library_that_lacks_a_function_is_not_shared(tmp_path: Path) -> None:
    own = library(tmp_path / "one.libs" / "libmath-p.so", "int add(void) { return 3; }")
    other = library(tmp_path / "two.libs" / "libmath-o.so", "int more(void) { return 4; }")
    user = library(tmp_path / "user.so", "int use(void) { return add(); }", str(own))

    with pytest.raises(SystemExit, match="it lacks add"):
        stand_ins.share(own, other, user)
    assert not own.is_symlink()


def test_what_nobody_needs_any_more_is_removed(tmp_path: Path) -> None:
    deep = library(tmp_path / "libs" / "libdeep.so.1", "int deep(void) { return 1; }")
    middle = library(
        tmp_path / "libs" / "libmiddle.so.1", "int middle(void) { return deep(); }", str(deep)
    )
    kept = library(tmp_path / "libs" / "libkept.so.1", "int kept(void) { return 1; }")
    user = library(tmp_path / "user.so", "int use(void) { return kept(); }", str(kept))
    assert "libkept.so.1" in elf_audit.needed(elf_audit.read(user, "--dynamic"))

    stand_ins.remove_unneeded([tmp_path / "libs"], tmp_path)

    assert kept.exists()
    assert not middle.exists()
    assert not deep.exists()
