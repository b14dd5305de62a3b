"""The house rules that a program can check: borders, sizes, docstrings, what is never written."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("engine", "rag", "desktop_app")
MODULES = sorted(path for name in PACKAGES for path in (ROOT / name).rglob("*.py"))
HEAVY = ("torch", "llama_cpp", "faiss", "sentence_transformers", "onnxruntime", "transformers")
TOP = {"assets", "desktop_app", "engine", "packaging", "rag", "tests"}
LINES = 350  # 300 is the aim
FUNCTION_LINES = 60  # about 40 is the aim; a long match of one kind of thing may be longer


def label(path: Path) -> str:
    return str(path.relative_to(ROOT))


def tracked() -> list[str]:
    command = ["git", "-C", str(ROOT), "ls-files"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("not a git checkout")
    return done.stdout.splitlines()


@pytest.mark.parametrize("path", MODULES, ids=label)
def test_a_module_says_what_it_does_and_stays_short(path: Path) -> None:
    text = path.read_text(encoding="utf8")
    tree = ast.parse(text)

    assert ast.get_docstring(tree) or not text.strip(), "a module begins with a docstring"
    data = path.name.startswith("lexicon") or path.parent.name == "lexicon"
    assert data or len(text.splitlines()) <= LINES, "one noun a file"
    assert path.name not in ("utils.py", "helpers.py", "misc.py", "common.py")
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            assert length <= FUNCTION_LINES, f"{node.name} has {length} lines"


@pytest.mark.parametrize("path", MODULES, ids=label)
def test_nothing_that_was_read_from_disk_is_unpickled(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf8"))
    imported = {
        name.name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for name in node.names
    } | {
        (node.module or "").split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and not node.level
    }

    assert not imported & {"pickle", "shelve", "marshal", "dill", "joblib", "diskcache"}


@pytest.mark.parametrize(
    "module", ["engine", "engine.types", "rag", "rag.types", "desktop_app", "desktop_app.__main__"]
)
def test_light_modules_import_nothing_heavy(module: str) -> None:
    code = f"import sys, {module}; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )

    loaded = {name.split(".")[0] for name in done.stdout.split()}
    assert module.split(".")[0] in loaded
    assert not loaded & {*HEAVY, "numpy"}


def test_engine_and_rag_know_nothing_of_each_other_or_of_the_window() -> None:
    forbidden = {
        "engine": {"rag", "desktop_app", "PySide6"},
        "rag": {"engine", "desktop_app", "PySide6"},
    }
    for package, others in forbidden.items():
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
                names = (
                    [alias.name for alias in node.names]
                    if isinstance(node, ast.Import)
                    else [node.module or ""]
                    if isinstance(node, ast.ImportFrom)
                    else []
                )
                wrong = {name.split(".")[0] for name in names} & others
                assert not wrong, f"{label(path)} imports {wrong}"


def test_the_top_level_holds_what_it_should() -> None:
    folders = {name.split("/")[0] for name in tracked() if "/" in name}

    assert {name for name in folders if not name.startswith(".")} == TOP


def test_no_file_names_a_folder_of_a_machine_or_an_index() -> None:
    wrong = re.compile(r"/root/|/home/(?!me/)\w+/|--(extra-)?index-url|pypi\.org/simple")
    allowed = {"tests/test_borders.py"}
    for name in tracked():
        path = ROOT / name
        if (
            path.suffix in (".py", ".sh", ".toml", ".md", ".yml", ".txt", ".lock")
            or path.name == "Makefile"
        ):
            if name in allowed or not path.exists():
                continue
            found = wrong.search(path.read_text(encoding="utf8", errors="replace"))
            assert not found, f"{name}: {found and found[0]}"


def test_the_version_stands_in_one_place() -> None:
    from desktop_app import __version__

    places = [
        name
        for name in tracked()
        if name.endswith((".py", ".toml", ".spec", ".iss", ".sh", ".xml", ".1"))
        and f'"{__version__}"' in (ROOT / name).read_text(encoding="utf8")
    ]
    assert places == ["desktop_app/__init__.py"]


def test_the_readme_s_commands_and_files_exist() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf8")

    targets = set(re.findall(r"(?:^|`)make ([a-z-]+)", readme, re.MULTILINE))
    assert {"run", "test"} <= targets
    assert targets <= set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    for link in re.findall(r"\]\((?!http)([^)#]+)\)", readme):
        assert (ROOT / link).exists(), link
