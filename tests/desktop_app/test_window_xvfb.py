"""A real window on a display of its own: every state is drawn, and the pictures are looked into."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtGui import QColor, QImage

SCRIPT = Path(__file__).parent / "screenshot.py"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("Xvfb") is None, reason="needs Xvfb"),
]


def count(image: QImage, color: QColor, slack: int = 10) -> int:
    """Pixels of about this colour, looked at on every second row and column."""
    found = 0
    for y in range(0, image.height(), 2):
        for x in range(0, image.width(), 2):
            pixel = image.pixelColor(x, y)
            near = (
                abs(pixel.red() - color.red()) <= slack
                and abs(pixel.green() - color.green()) <= slack
                and abs(pixel.blue() - color.blue()) <= slack
            )
            found += near
    return found


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_state_is_drawn(theme: str, tmp_path: Path) -> None:
    command = [sys.executable, str(SCRIPT), "--theme", theme, "--out", str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=240)

    assert run.returncode == 0, run.stderr
    assert "Traceback" not in run.stderr
    assert "Could not parse" not in run.stderr  # the style sheet
    names = sorted(path.name for path in tmp_path.glob("*.png"))
    assert len(names) >= 14
    first = QImage(str(tmp_path / names[0]))
    answered = QImage(str(next(tmp_path.glob("*-09-answered.png"))))
    marker = QColor("#FFE489")
    assert first.size() == answered.size()
    assert count(answered, marker) > 500 > count(first, marker)
