"""Checksums and a detached signature for the finished files.

    python packaging/integrity.py OUT

writes OUT/SHA256SUMS and OUT/SHA256SUMS.asc and verifies both. Signs with the key named by
$CLAUSEBOOK_SIGNING_KEY; without one, with a test key made for this run, whose public half goes
into OUT/test-key.asc. A signature by a test key shows that the files belong together, no more.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from components import sha256

TEST_KEY = "Clausebook test key (not for releases) <test@localhost>"


def gpg(home: str | None, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["gpg", "--batch", "--yes", "--quiet"]
    if home:
        command += ["--homedir", home, "--pinentry-mode", "loopback", "--passphrase", ""]
    return subprocess.run([*command, *arguments], check=True, capture_output=True, text=True)


def write_sums(out: Path) -> Path:
    """SHA-256 of every finished file, in the format of sha256sum."""
    files = sorted(
        path
        for path in out.iterdir()
        if path.is_file() and path.suffix in (".deb", ".xz", ".json", ".exe", ".dmg")
    )
    target = out / "SHA256SUMS"
    target.write_text("".join(f"{sha256(path)}  {path.name}\n" for path in files), "utf8")
    return target


def sign(sums: Path) -> None:
    """Writes the detached signature and verifies it."""
    signature = sums.with_suffix(".asc")
    key = os.environ.get("CLAUSEBOOK_SIGNING_KEY")
    with tempfile.TemporaryDirectory() as folder:
        home = None if key else folder
        if not key:
            key = TEST_KEY
            gpg(home, "--quick-generate-key", key, "ed25519", "sign", "1y")
            public = gpg(home, "--armor", "--export", key).stdout
            (sums.parent / "test-key.asc").write_text(public, encoding="utf8")
        options = ["--local-user", key, "--armor", "--output", str(signature)]
        gpg(home, *options, "--detach-sign", str(sums))
        gpg(home, "--verify", str(signature), str(sums))
        if home:
            subprocess.run(["gpgconf", "--homedir", home, "--kill", "all"], check=False)


def main() -> None:
    out = Path(sys.argv[1])
    sums = write_sums(out)
    sign(sums)
    subprocess.run(["sha256sum", "--check", "--quiet", sums.name], cwd=out, check=True)
    print(
        f"{len(sums.read_text(encoding='utf8').splitlines())} files, checksums signed and verified"
    )


if __name__ == "__main__":
    main()
