"""Tables for people and JSON for programs: what a benchmark prints and writes."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

import numpy as np
import psutil


def machine() -> dict[str, object]:
    """What the figures depend on besides the code."""
    return {
        "system": platform.system(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gb": round(psutil.virtual_memory().total / 2**30, 1),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "python": platform.python_version(),
        "versions": {
            name: metadata.version(name)
            for name in ("llama-cpp-python", "torch", "transformers", "numpy")
            if _installed(name)
        },
    }


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Columns aligned, numbers to the right."""
    cells = [[_cell(value) for value in row] for row in rows]
    widths = [max(len(row[i]) for row in [list(header), *cells]) for i in range(len(header))]
    lines = ["  ".join(name.ljust(width) for name, width in zip(header, widths, strict=True))]
    lines.append("  ".join("-" * width for width in widths))
    for row, values in zip(cells, rows, strict=True):
        lines.append(
            "  ".join(
                cell.ljust(width) if isinstance(value, str) else cell.rjust(width)
                for cell, value, width in zip(row, values, widths, strict=True)
            ).rstrip()
        )
    return "\n".join(lines)


def slope(values: Sequence[float]) -> tuple[float, float]:
    """Least-squares change per step, and its standard error."""
    x = np.arange(len(values), dtype=float)
    y = np.asarray(values, dtype=float)
    x -= x.mean()
    gradient = float((x * (y - y.mean())).sum() / (x * x).sum())
    rest = y - y.mean() - gradient * x
    error = float(np.sqrt((rest**2).sum() / max(len(y) - 2, 1) / (x * x).sum()))
    return gradient, error


def write_json(path: Path, result: dict[str, object]) -> None:
    """Writes `result` with the machine it was measured on."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"machine": machine(), **result}, indent=1) + "\n")


def _cell(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:,.1f}" if abs(value) < 1000 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((x.partition(":")[2].strip() for x in lines if x.startswith("model name")), "")


def _installed(name: str) -> bool:
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True
