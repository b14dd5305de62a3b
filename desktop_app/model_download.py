"""Downloads a language model from the Hugging Face hub: only when asked, resumed, and checked.

The file is fetched beside the models and moved among them when its size and SHA-256 agree with
what the hub says. huggingface_hub is imported here, and only when a download is wanted.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from desktop_app import catalogue, model_check, models, paths
from desktop_app.errors import AppError, ModelMissing

_NO_HUB = (
    "Downloading needs the package huggingface_hub, which isn't installed.",
    "Install it (`pip install huggingface_hub`), or fetch the GGUF file yourself and "
    "`clausebook models add` it.",
)


def source(name: str) -> tuple[str, str]:
    """Repository and file of a known model, or of OWNER/REPO/FILE.gguf.

    Raises:
        ModelMissing: it is neither.
    """
    known = catalogue.known(name)
    if known is not None and known.repo:
        return known.repo, known.file
    parts = name.split("/")
    if len(parts) >= 3 and name.lower().endswith(".gguf") and all(parts) and ".." not in parts:
        return "/".join(parts[:2]), "/".join(parts[2:])
    if known is not None:
        raise ModelMissing(
            f"{known.name} comes with the program and isn't downloaded.",
            "In a source checkout `make models` fetches it.",
        )
    offered = ", ".join(m.name for m in catalogue.KNOWN if m.repo)
    raise ModelMissing(
        f"No model named {name!r} is known.",
        f"Known are {offered}; any other as OWNER/REPO/FILE.gguf.",
    )


def download(name: str, hub: Any = None) -> Path:
    """Fetches a model and returns its path; continues one that was broken off.

    Args:
        name: see `source`.
        hub: what is used as the huggingface_hub module; for tests.

    Raises:
        AppError: the hub can't be reached, has no such file, or there is no room.
    """
    repo, file = source(name)
    target = paths.user_models() / Path(file).name
    hub = hub or _import_hub()
    try:
        size, digest = _metadata(hub, repo, file)
        if target.is_file() and _same(target, size, digest):
            return target
        models.want_room(size)
        fetched = Path(
            hub.hf_hub_download(repo, file, local_dir=str(paths.user_models() / ".download"))
        )
    except ImportError as error:
        raise AppError(*_NO_HUB) from error
    except (OSError, ValueError, hub.errors.HTTPError) as error:
        raise AppError(_what(hub, error, repo, file), _what_to_do(hub, error)) from error
    if not _same(fetched, size, digest):
        fetched.unlink(missing_ok=True)
        raise ModelMissing(f"What was downloaded of {name} is damaged.", "Download it again.")
    model_check.check_gguf(fetched)
    fetched.replace(target)
    return target


def _import_hub() -> Any:
    try:
        import huggingface_hub
    except ImportError as error:
        raise AppError(*_NO_HUB) from error
    return huggingface_hub


def _metadata(hub: Any, repo: str, file: str) -> tuple[int, str]:
    """Size and SHA-256 as the hub states them; the digest is empty for a file outside LFS."""
    found = hub.get_hf_file_metadata(hub.hf_hub_url(repo, file))
    etag = str(found.etag or "").strip('"')
    return int(found.size or 0), etag if len(etag) == 64 else ""


def _same(path: Path, size: int, digest: str) -> bool:
    if size and path.stat().st_size != size:
        return False
    return not digest or model_check.remembered_sha256(path) == digest


def _what(hub: Any, error: Exception, repo: str, file: str) -> str:
    if isinstance(error, hub.errors.HfHubHTTPError):
        return f"The hub has no file {file} in {repo}, or doesn't give it without an account."
    if isinstance(error, hub.errors.HFValidationError):
        return f"{repo} is not a repository's name on the hub."
    return "The hub can't be reached."


def _what_to_do(hub: Any, error: Exception) -> str:
    if isinstance(error, (hub.errors.HfHubHTTPError, hub.errors.HFValidationError)):
        return "Check the name on huggingface.co."
    return (
        "Check the network and try again (a broken-off download goes on where it was), "
        "or `clausebook models add` a GGUF file that you have."
    )
