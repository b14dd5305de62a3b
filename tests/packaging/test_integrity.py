"""Checksums and their signature: a changed file is noticed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import integrity
import pytest


def test_checksums_name_every_finished_file(tmp_path: Path) -> None:
    (tmp_path / "a.deb").write_bytes(b"a")
    (tmp_path / "note.txt").write_bytes(b"b")

    text = integrity.write_sums(tmp_path).read_text()

    assert text == ("ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb  a.deb\n")


@pytest.mark.skipif(not shutil.which("gpg"), reason="GnuPG is not installed")
def test_a_signature_by_the_test_key_is_verified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CLAUSEBOOK_SIGNING_KEY", raising=False)
    (tmp_path / "a.deb").write_bytes(b"a")
    sums = integrity.write_sums(tmp_path)

    integrity.sign(sums)

    assert (tmp_path / "SHA256SUMS.asc").read_text().startswith("-----BEGIN PGP SIGNATURE")
    assert "PUBLIC KEY" in (tmp_path / "test-key.asc").read_text()
    home = tmp_path / "gnupg"
    home.mkdir(mode=0o700)
    gpg = ["gpg", "--homedir", str(home), "--batch", "--quiet"]
    subprocess.run([*gpg, "--import", str(tmp_path / "test-key.asc")], check=True)
    sums.write_text(sums.read_text().replace("a.deb", "b.deb"))
    verified = subprocess.run(
        [*gpg, "--verify", str(tmp_path / "SHA256SUMS.asc"), str(sums)],
        check=False,
        capture_output=True,
    )
    assert verified.returncode != 0
