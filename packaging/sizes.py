"""Lists what each part of the program's folder weighs, and holds the limits on size.

python packaging/sizes.py PROGRAM OUT
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

LIMITS = {  # bytes
    "installed": 800_000_000,
    "with models": 340_000_000,
    "without models": 170_000_000,
}


def weigh(folder: Path) -> Counter[str]:
    """Bytes below each entry of the program's inner folder."""
    inner = folder / "_internal"
    parts: Counter[str] = Counter()
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            inside = path.is_relative_to(inner)
            top = path.relative_to(inner).parts[0] if inside else path.name
            parts[top.removesuffix(".libs").removesuffix("_cpu")] += path.stat().st_size
    return parts


def main() -> None:
    folder, out = Path(sys.argv[1]), Path(sys.argv[2])
    parts = weigh(folder)
    total = sum(parts.values())
    for name, size in parts.most_common(14):
        print(f"{size / 1e6:8.1f} MB  {name}")
    print(f"{total / 1e6:8.1f} MB  in all")
    over = ["the installed program"] if total > LIMITS["installed"] else []
    for path in out.glob("*.deb"):
        kind = "without models" if "without" in path.name else "with models"
        compressed = path.stat().st_size < 0.8 * total
        if compressed and path.stat().st_size > LIMITS[kind]:
            over.append(path.name)
    if over:
        sys.exit(f"Larger than allowed: {', '.join(over)}.")


if __name__ == "__main__":
    main()
