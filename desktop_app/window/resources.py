"""Where the window's own files are: in the bundle, in the installed package, or in the checkout."""

from __future__ import annotations

import sys
from pathlib import Path

BEGIN_WITH = "supply-agreement"
PACKAGE = Path(__file__).resolve().parent.parent


def resource(name: str) -> Path:
    """The folder or file `name` of assets.

    Raises:
        FileNotFoundError: the installation is incomplete.
    """
    places = [PACKAGE / "assets", PACKAGE.parent / "assets"]
    bundle = getattr(sys, "_MEIPASS", "")
    if bundle:
        places.insert(0, Path(bundle) / "assets")
    for place in places:
        if (place / name).exists():
            return place / name
    raise FileNotFoundError(f"{name} is missing from the installation; install Clausebook again.")


def samples() -> list[Path]:
    """The sample documents that came with the program; the one to begin with first."""
    try:
        folder = resource("samples")
    except FileNotFoundError:
        return []
    return sorted(folder.glob("*.pdf"), key=lambda path: (path.stem != BEGIN_WITH, path.name))
