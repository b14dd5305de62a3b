"""The models the program knows by name: those it comes with, and those it offers to download.

A size and a SHA-256 stand here only for files that were looked at; for the others the hub's own
are asked for and compared. It touches no file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A model with a name.

    Attributes:
        name: what the user types.
        kind: "language" or "embedder".
        path: file or folder below a models folder.
        weights: the file below `path` that `size` and `sha256` belong to; empty if it is `path`.
        repo, file: where it is on the Hugging Face hub; empty if it isn't offered there.
        about: one line for people.
    """

    name: str
    kind: Literal["language", "embedder"]
    path: str
    about: str
    size: int = 0
    sha256: str = ""
    weights: str = ""
    repo: str = ""
    file: str = ""


DEFAULT_LANGUAGE = KnownModel(
    name="SmolLM2-135M-Instruct",
    kind="language",
    path="SmolLM2-135M-Instruct.Q4_1.gguf",
    about="comes with the program; small and fast, for a first look (Apache-2.0)",
    size=98_362_432,
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
)
DEFAULT_EMBEDDER = KnownModel(
    name="all-MiniLM-L6-v2",
    kind="embedder",
    path="all-MiniLM-L6-v2",
    about="comes with the program; finds passages (Apache-2.0)",
    size=90_868_376,
    sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    weights="model.safetensors",
)


def _qwen(name: str, file: str, about: str) -> KnownModel:
    repo = f"Qwen/{name}-GGUF"
    return KnownModel(name, "language", file, f"{about} (Apache-2.0)", repo=repo, file=file)


KNOWN: tuple[KnownModel, ...] = (
    DEFAULT_LANGUAGE,
    DEFAULT_EMBEDDER,
    _qwen(
        "Qwen2.5-1.5B-Instruct",
        "qwen2.5-1.5b-instruct-q4_k_m.gguf",
        "about 1.1 GB; English and Chinese, for most laptops",
    ),
    _qwen("Qwen3-4B", "Qwen3-4B-Q4_K_M.gguf", "about 2.5 GB; wants 6 GB of free memory"),
    _qwen("Qwen3-8B", "Qwen3-8B-Q4_K_M.gguf", "about 5 GB; wants a GPU or 10 GB of free memory"),
)


def known(name: str) -> KnownModel | None:
    """The model of that name, whatever its case."""
    wanted = name.casefold()
    return next((m for m in KNOWN if m.name.casefold() == wanted), None)
