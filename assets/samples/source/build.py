"""Builds the sample documents: PDFs and their questions, from the text beside this file.

python assets/samples/source/build.py [FOLDER]
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import layout  # noqa: E402
import markup  # noqa: E402
import master_agreement  # noqa: E402
import questions  # noqa: E402

SOURCES = ("supply_agreement.txt", "purchase_contract_zh.txt")


def sources() -> list[markup.Source]:
    texts = [markup.read(HERE / name) for name in SOURCES]
    return [*texts, master_agreement.source()]


def build(folder: Path) -> list[Path]:
    """Writes every sample document and the questions about them into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for source in sources():
        path = folder / source.settings["file"]
        path.write_bytes(layout.render(source))
        made.append(path)
    return [*made, questions.write(folder)]


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parent
    for path in build(folder):
        print(path)


if __name__ == "__main__":
    main()
