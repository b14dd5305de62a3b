"""What goes into the packaged program and what stays out. Read by clausebook.spec."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

# `clausebook doctor` shows their versions.
METADATA = (
    "PySide6",
    "llama-cpp-python",
    "onnxruntime",
    "tokenizers",
    "faiss-cpu",
    "pypdf",
    "pypdfium2",
    "rapidocr",
    "huggingface_hub",
    "numpy",
)
# Imported by name only when they are needed.
LATE_IMPORTS = [
    *("PySide6.QtPdf", "PySide6.QtPdfWidgets", "PySide6.QtSvg", "faiss.swigfaiss"),
    *("rapidocr.main", "rapidocr.inference_engine.onnxruntime"),
]
EXCLUDED = [
    *("torch", "transformers", "sentence_transformers", "safetensors", "gguf", "onnx"),
    *("scipy", "sklearn", "pandas", "matplotlib", "IPython", "tensorboard", "sympy"),
    *("tkinter", "idlelib", "turtledemo", "lib2to3", "ensurepip", "pip", "setuptools", "wheel"),
    *("pkg_resources", "hf_xet", "pytest", "hypothesis", "numpy.f2py", "numpy.testing"),
    *("llama_cpp.server", "typer", "rich", "click"),
    *("PySide6.QtQml", "PySide6.QtQuick", "PySide6.QtWebEngineCore", "PySide6.QtMultimedia"),
    # A page is recognised with onnxruntime, from a picture in memory on which nothing is drawn.
    *(f"rapidocr.inference_engine.{name}" for name in ("mnn", "openvino", "paddle", "pytorch")),
    *("rapidocr.inference_engine.tensorrt", "shapely.plotting", "shapely.tests"),
    *(f"PIL._{name}" for name in ("avif", "webp", "imagingcms", "imagingft", "imagingmath")),
    *("PIL._imagingmorph", "PIL._imagingtk", "PIL.ImageQt", "PIL.ImageTk"),
]
# PyInstaller's own hook imports Qt in every process, the workers' too (0.1 s each); what it sets,
# the launcher sets.
NEEDLESS_HOOKS = {"pyi_rth_pyside6"}
# The parts of Qt that no window of ours uses; several pull in Qml and Quick (25 MB).
UNWANTED = re.compile(
    r"PySide6/Qt/(qml/|plugins/(qmltooling|sqldrivers|multimedia|sceneparsers|renderers"
    r"|virtualkeyboard|egldeviceintegrations|generic|networkinformation|tls|printsupport)/"
    r"|plugins/platforms/libq(eglfs|linuxfb|vnc|minimalegl|vkkhrdisplay)"
    r"|plugins/platforminputcontexts/libqtvirtualkeyboard|plugins/platformthemes/libqgtk3"
    r"|lib/libQt6(Qml|Quick|VirtualKeyboard|EglFS|EglFs|WaylandEgl|Sql|Quick3D|OpenGLWidgets)"
    r"|translations/(?!qtbase_(de|en|fr|es|ja|ko|zh_CN|zh_TW)\.qm))"
    r"|^rapidocr/inference_engine/|^cv2/(data/|opencv_videoio_ffmpeg)"
    r"|(^|/)tests?/|\.pyi$|^onnxruntime/(quantization|transformers|tools|datasets)/"
)
STANDARD_LEFT_OUT = re.compile(
    r"^(test|tkinter|idlelib|turtle|turtledemo|lib2to3|ensurepip|antigravity|this|distutils|_tkinter"
    r"|msilib|nis|ossaudiodev|_?crypt|_osx_support|_aix_support|nt|msvcrt|winreg|winsound|_winapi|_scproxy|_msi)(\.|$)"
)


def standard_library() -> list[str]:
    """Modules of the standard library that an add-on may import though the program doesn't."""
    names = []
    for name in sorted(sys.stdlib_module_names):
        if STANDARD_LEFT_OUT.match(name) or importlib.util.find_spec(name) is None:
            continue
        names.append(name)
    return [*names, "unittest.mock", "concurrent.futures.thread", "xml.etree.ElementTree"]


def llama_libraries() -> list[tuple[str, str]]:
    """llama.cpp's libraries, each once; bundle.py adds the links between their names."""
    found = importlib.util.find_spec("llama_cpp")
    if found is None or found.origin is None:
        raise SystemExit("llama-cpp-python is not installed in the packaging environment.")
    folder = Path(found.origin).parent / "lib"
    keep = re.compile(r"^lib(llama|ggml|ggml-base)\.so\.0$|^libggml-cpu(-\w+)?\.so$|\.(dylib|dll)$")
    return [(str(path), "llama_cpp/lib") for path in folder.iterdir() if keep.search(path.name)]


def data_files(root: Path) -> list[tuple[str, str]]:
    """Icons, sample documents and the licence."""
    samples = root / "assets" / "samples"
    found = [(str(path), "assets/samples") for path in sorted(samples.glob("*.pdf"))]
    found += [(str(path), "assets/icons") for path in sorted((root / "assets/icons").glob("*"))]
    return [*found, (str(root / "LICENSE"), ".")]


def models(folder: Path) -> list[tuple[str, str]]:
    """The default models; of the embedder the graph and the tokenizer, not the weights again."""
    wanted = [*folder.glob("*.gguf"), *folder.glob("LICENSE.*")]
    found = [(str(path), "models") for path in sorted(wanted)]
    embedder = folder / "all-MiniLM-L6-v2"
    for path in sorted(embedder.glob("*")):
        if path.is_file() and path.name not in ("model.safetensors", "vocab.txt"):
            found.append((str(path), "models/all-MiniLM-L6-v2"))
    pooling = embedder / "1_Pooling" / "config.json"
    return [*found, (str(pooling), "models/all-MiniLM-L6-v2/1_Pooling")]


def next_version(root: Path, folder: Path) -> list[tuple[str, str, str]]:
    """The module that names the program's version, which it raises; `folder` takes the source.

    What a program carries in itself goes before the files beside it.
    """
    text = (root / "desktop_app" / "__init__.py").read_text(encoding="utf8")
    changed = re.sub(r'(__version__ = "[\d.]+)"', r'\1.1"', text)
    if changed == text:
        raise SystemExit("The version was not found in desktop_app/__init__.py.")
    source = folder / "next_version" / "__init__.py"
    source.parent.mkdir(exist_ok=True)
    source.write_text(changed, encoding="utf8")
    return [("desktop_app", str(source), "PYMODULE")]


def from_system(source: str) -> bool:
    """Whether a library was found among the build machine's own, not in a Python package."""
    return source.startswith(("/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/", "/usr/local/"))


def unwanted(name: str) -> bool:
    """Whether a collected file is left out, by its name in the bundle; modules never are."""
    return not name.endswith(".pyc") and UNWANTED.search(name.replace("\\", "/")) is not None


def icon(folder: Path) -> str | None:
    """The program's icon in this system's format, if it has been made."""
    suffix = {"win32": ".ico", "darwin": ".icns"}.get(sys.platform)
    path = folder / f"clausebook{suffix}" if suffix else None
    return str(path) if path and path.exists() else None
