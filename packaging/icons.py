"""The program's icon in the sizes and formats that systems ask for, drawn from the SVG file."""

from __future__ import annotations

import os
import shutil
import struct
import sys
from pathlib import Path

SVG = Path(__file__).parent.parent / "assets" / "icons" / "clausebook.svg"
SIZES = (16, 24, 32, 48, 64, 128, 256, 512)
ICNS = {16: b"icp4", 32: b"icp5", 64: b"icp6", 128: b"ic07", 256: b"ic08", 512: b"ic09"}


def png(size: int) -> bytes:
    """The icon as PNG."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtCore import QBuffer, QByteArray, Qt
    from PySide6.QtGui import QGuiApplication, QImage, QPainter
    from PySide6.QtSvg import QSvgRenderer

    application = QGuiApplication.instance() or QGuiApplication([])
    image = QImage(size, size, QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    QSvgRenderer(str(SVG), application).render(painter)
    painter.end()
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")
    return bytes(data.data())


def install(hicolor: Path) -> None:
    """Puts the icon into a theme folder."""
    scalable = hicolor / "scalable" / "apps"
    scalable.mkdir(parents=True)
    shutil.copyfile(SVG, scalable / "clausebook.svg")
    for size in SIZES:
        folder = hicolor / f"{size}x{size}" / "apps"
        folder.mkdir(parents=True)
        (folder / "clausebook.png").write_bytes(png(size))


def ico(sizes: tuple[int, ...] = (16, 32, 48, 64, 128, 256)) -> bytes:
    """The icon for Windows: a directory of PNG files."""
    images = [png(size) for size in sizes]
    offset = 6 + 16 * len(sizes)
    head = struct.pack("<HHH", 0, 1, len(sizes))
    for size, image in zip(sizes, images, strict=True):
        edge = size % 256
        head += struct.pack("<BBBBHHII", edge, edge, 0, 0, 1, 32, len(image), offset)
        offset += len(image)
    return head + b"".join(images)


def icns() -> bytes:
    """The icon for macOS: a list of PNG files."""
    parts = [(kind, png(size)) for size, kind in ICNS.items()]
    body = b"".join(kind + struct.pack(">I", len(image) + 8) + image for kind, image in parts)
    return b"icns" + struct.pack(">I", len(body) + 8) + body


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "clausebook.ico").write_bytes(ico())
    (folder / "clausebook.icns").write_bytes(icns())


if __name__ == "__main__":
    main()
