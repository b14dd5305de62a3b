"""The chart of time to first token per turn, from the JSON that `clausebook bench turns` writes.

python -m tests.benchmarks.chart TURNS.json CHART.png
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

_COLOURS = ("#1b6e53", "#58a488", "#b0413e", "#3d6fb4", "#d08a2e", "#8a6fb0")


def draw(result: dict[str, Any], path: Path) -> None:
    """Writes the chart as PNG."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8.4, 4.6), dpi=150)
    for (name, rows), colour in zip(result["runs"].items(), _COLOURS, strict=False):
        turns = [row["turn"] for row in rows]
        seconds = [row["ttft_ms"] / 1000 for row in rows]
        ours = name.startswith("Clausebook") and "without" not in name
        axes.plot(
            turns, seconds, marker="o", markersize=3.5, label=name, color=colour,
            linewidth=2.4 if ours else 1.4,
        )  # fmt: skip
    tokens = next(iter(result["runs"].values()))[-1]["prompt_tokens"]
    axes.set_xlabel(f"turn of the conversation ({tokens:,} tokens at the end)")
    axes.set_ylabel("seconds to the first token")
    axes.set_ylim(bottom=0)
    axes.set_xticks(turns)
    axes.grid(axis="y", alpha=0.3)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    machine = result["machine"]
    axes.set_title(
        f"{result['model']}, {result['threads']} threads, {machine['processor']}", fontsize=9
    )
    axes.legend(frameon=False, fontsize=8)
    figure.tight_layout()
    figure.savefig(path)
    pyplot.close(figure)


def main() -> None:
    source, target = map(Path, sys.argv[1:])
    draw(json.loads(source.read_text()), target)


if __name__ == "__main__":
    main()
