"""Writes what goes with the program: licences of all its parts, and the bill of materials.

python packaging/documents.py build/package/clausebook OUT

writes OUT/licences/… with a list, and OUT/clausebook.cdx.json (CycloneDX 1.6).
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
import uuid
from pathlib import Path

from components import Component, components

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from desktop_app import __version__  # noqa: E402


def write_licences(parts: list[Component], target: Path) -> None:
    """One folder for each part, and LIST.txt that names them all."""
    if target.exists():
        shutil.rmtree(target)
    target.mkdir(parents=True)
    lines = ["Clausebook is under Apache-2.0. It is shipped with these parts:", ""]
    for part in parts:
        lines.append(f"{part.name} {part.version}: {part.licence}")
        for number, text in enumerate(part.texts):
            folder = target / part.name
            folder.mkdir(exist_ok=True)
            name = text.name if not (folder / text.name).exists() else f"{number}-{text.name}"
            shutil.copyfile(text, folder / name)
    (target / "LIST.txt").write_text("\n".join(lines) + "\n", encoding="utf8")


def entry(part: Component) -> dict[str, object]:
    """A component as CycloneDX writes it."""
    made: dict[str, object] = {"type": part.kind, "name": part.name, "version": part.version}
    made["bom-ref"] = part.source or f"{part.kind}:{part.name}"
    if part.source:
        made["purl"] = part.source
    if part.sha256:
        made["hashes"] = [{"alg": "SHA-256", "content": part.sha256}]
    made["licenses"] = [{"license": {"name": part.licence}}]
    return made


def bill_of_materials(parts: list[Component]) -> dict[str, object]:
    """The whole bill; the same parts and version give the same bytes."""
    listed = [entry(part) for part in parts]
    identity = json.dumps([__version__, listed], sort_keys=True)
    when = time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", time.time())))
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, identity)}",
        "version": 1,
        "metadata": {
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", when),
            "component": {
                "type": "application",
                "name": "clausebook",
                "version": __version__,
                "bom-ref": "clausebook",
                "licenses": [{"license": {"id": "Apache-2.0"}}],
            },
        },
        "components": listed,
        "dependencies": [{"ref": "clausebook", "dependsOn": [one["bom-ref"] for one in listed]}],
    }


def main() -> None:
    folder, out = map(Path, sys.argv[1:3])
    parts = components(folder)
    write_licences(parts, out / "licences")
    bill = json.dumps(bill_of_materials(parts), indent=1, ensure_ascii=False)
    (out / "clausebook.cdx.json").write_text(bill + "\n", encoding="utf8")
    without = [part.name for part in parts if not part.texts and part.kind == "library"]
    print(
        f"{len(parts)} parts; without a licence text of their own: {', '.join(without) or 'none'}"
    )


if __name__ == "__main__":
    main()
