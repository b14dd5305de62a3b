"""The models on this machine: which there are, where one is found, adding and removing.

Folders are searched in the order of `paths.model_folders`; only the user's own is written to. It
knows files, not what is in them beyond a first look.
"""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import dataclass
from pathlib import Path

from desktop_app import catalogue, model_check, paths
from desktop_app.catalogue import KnownModel
from desktop_app.errors import AppError, ModelMissing

_CHUNK = 1 << 20
_SEE = "`clausebook models list` shows those there are; `models add` and `models download` add one."


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """A model as `clausebook models list` shows it; `problem` is empty if it can be used."""

    name: str
    kind: str
    path: str
    size: int
    default: bool = False
    removable: bool = False
    problem: str = ""
    about: str = ""


def find_language_model(name: str = "") -> Path:
    """The file (or Hugging Face folder) of a language model, by name or path; "" is the default.

    Raises:
        ModelMissing: there is none, or it is cut short.
    """
    known = catalogue.DEFAULT_LANGUAGE if not name else catalogue.known(name)
    if known is not None:
        return _find_known(known)
    given = Path(name).expanduser()
    if given.exists():
        return _checked(given.absolute())
    for path in _gguf_files():
        if name.casefold() in (path.name.casefold(), path.stem.casefold()):
            return _checked(path)
    raise ModelMissing(f"There is no model {name!r}.", _SEE)


def find_embedder(name: str = "") -> Path:
    """The folder of an embedding model, by name or path; "" is the default.

    Raises:
        ModelMissing: there is none, or it is cut short.
    """
    known = catalogue.DEFAULT_EMBEDDER if not name else catalogue.known(name)
    if known is not None:
        return _find_known(known)
    for folder in (Path(name).expanduser(), *(f / name for f in paths.model_folders())):
        if (folder / "tokenizer.json").is_file():
            return folder.absolute()
    raise ModelMissing(f"There is no embedding model {name!r}.", _SEE)


def list_models() -> list[ModelEntry]:
    """Every model that is there, and every known one that could be."""
    entries = []
    seen: set[Path] = set()
    for model in catalogue.KNOWN:
        path = _locate(model)
        if path is None:
            entries.append(ModelEntry(model.name, model.kind, "", model.size, about=model.about))
            continue
        seen.add(path)
        entries.append(_known_entry(model, path))
    for path in _gguf_files():
        if path not in seen:
            entries.append(_other_entry(path))
    return entries


def add(source: Path) -> Path:
    """Copies a GGUF file into the user's models folder; it appears there only when whole.

    Raises:
        ModelMissing: it isn't a GGUF model.
        AppError: there is no room, or a different model of that name is there already.
    """
    if not source.is_file():
        raise ModelMissing(f"There is no file {source}.", "Check the path.")
    model_check.check_gguf(source)
    target = paths.user_models() / source.name
    if target.exists():
        if model_check.remembered_sha256(target) == model_check.sha256(source):
            return target
        raise AppError(
            f"Another model named {source.name} is there already.",
            f"Rename the file, or remove it first: clausebook models remove {source.stem}",
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    _want_room(target.parent, source.stat().st_size)
    partial = target.with_name(target.name + ".partial")
    try:
        written = _copy(source, partial)
        if model_check.sha256(partial) != written:
            raise AppError(f"The copy of {source.name} differs from it.", "Check the disk.")
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
    model_check.remembered_sha256(target)
    return target


def remove(name: str) -> Path:
    """Deletes a model from the user's models folder.

    Raises:
        ModelMissing: there is no such model there; the ones that came with the program stay.
    """
    known = catalogue.known(name)
    wanted = {name.casefold(), known.path.casefold() if known else name.casefold()}
    own = paths.user_models()
    for path in _gguf_files([own]):
        if {path.name.casefold(), path.stem.casefold()} & wanted:
            path.unlink()
            return path
    if known is not None and (_locate(known) is not None):
        raise ModelMissing(
            f"{known.name} came with the program and stays.", "Only added models can be removed."
        )
    raise ModelMissing(f"There is no model {name!r} in {own}.", _SEE)


def want_room(size: int) -> None:
    """Raises AppError if the user's models folder has no room for `size` bytes."""
    folder = paths.user_models()
    folder.mkdir(parents=True, exist_ok=True)
    _want_room(folder, size)


def _want_room(folder: Path, size: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < size + (64 << 20):
        raise AppError(
            f"The model needs {size >> 20} MB, but {folder} has only {free >> 20} MB free.",
            "Free some space, or set CLAUSEBOOK_HOME to another disk.",
        )


def _copy(source: Path, target: Path) -> str:
    digest = hashlib.sha256()
    with source.open("rb") as reader, target.open("wb") as writer:
        while chunk := reader.read(_CHUNK):
            digest.update(chunk)
            writer.write(chunk)
    return digest.hexdigest()


def _locate(model: KnownModel) -> Path | None:
    return next((f / model.path for f in paths.model_folders() if (f / model.path).exists()), None)


def _find_known(model: KnownModel) -> Path:
    """The first whole copy; if there is none, what is wrong with the first one there is."""
    problem: ModelMissing | None = None
    for folder in paths.model_folders():
        path = folder / model.path
        if path.exists():
            try:
                _check(model, path)
            except ModelMissing as error:
                problem = problem or error
            else:
                return path
    if problem is not None:
        raise problem
    looked = ", ".join(str(f) for f in paths.model_folders())
    hint = (
        f"`clausebook models download {model.name}` fetches it."
        if model.repo
        else (
            "In a source checkout `make models` fetches it; CLAUSEBOOK_MODELS may name its folder."
        )
    )
    raise ModelMissing(f"The model {model.name} is missing (looked in {looked}).", hint)


def _check(model: KnownModel, path: Path) -> None:
    # A packaged embedder has the ONNX graph instead of the weights it was made of.
    if model.weights and not (path / model.weights).is_file() and (path / "model.onnx").is_file():
        return
    model_check.check_known(model, path)
    if model.kind == "language":
        model_check.check_gguf(path)


def _checked(path: Path) -> Path:
    if path.is_dir():
        if not (path / "config.json").is_file():
            raise ModelMissing(f"{path} is not a model folder: it has no config.json.", _SEE)
    else:
        model_check.check_gguf(path)
    return path


def _gguf_files(folders: list[Path] | None = None) -> list[Path]:
    found = []
    for folder in folders if folders is not None else paths.model_folders():
        if folder.is_dir():
            found += sorted(p for p in folder.iterdir() if p.suffix.lower() == ".gguf")
    return found


def _known_entry(model: KnownModel, path: Path) -> ModelEntry:
    problem = ""
    try:
        _check(model, path)
    except ModelMissing as error:
        problem = str(error)
    return ModelEntry(
        model.name,
        model.kind,
        str(path),
        model.size or path.stat().st_size,
        default=model in (catalogue.DEFAULT_LANGUAGE, catalogue.DEFAULT_EMBEDDER),
        removable=path.parent == paths.user_models(),
        problem=problem,
        about=model.about,
    )


def _other_entry(path: Path) -> ModelEntry:
    problem = ""
    try:
        model_check.check_gguf(path)
    except ModelMissing as error:
        problem = str(error)
    own = path.parent == paths.user_models()
    return ModelEntry(
        path.stem, "language", str(path), path.stat().st_size, removable=own, problem=problem
    )
