"""`clausebook models list|add|download|remove`: the language models on this machine."""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path

from desktop_app.cli import output, parser


def register(commands: parser.Commands) -> None:
    """Adds the command and its verbs."""
    command = parser.add_command(
        commands, "models", show, help="list, add, download or remove models"
    )
    command.set_defaults(json=False)
    verbs = command.add_subparsers(metavar="VERB")
    listing = parser.add_command(verbs, "list", show, help="what is there and what is offered")
    listing.add_argument("--json", action="store_true", help="print JSON")
    adding = parser.add_command(verbs, "add", add, help="copy a GGUF file among the models")
    adding.add_argument("path", metavar="PATH", type=Path)
    fetching = parser.add_command(
        verbs, "download", download, help="fetch a model from the Hugging Face hub"
    )
    fetching.add_argument(
        "name", metavar="NAME", help="a name of the list, or OWNER/REPO/FILE.gguf"
    )
    removing = parser.add_command(verbs, "remove", remove, help="delete an added model")
    removing.add_argument("name", metavar="NAME")


def show(arguments: argparse.Namespace) -> int:
    """Lists the models."""
    from desktop_app import models

    entries = models.list_models()
    if arguments.json:
        output.json_value([dataclasses.asdict(e) for e in entries])
        return 0
    for entry in entries:
        state = entry.problem or ("here" if entry.path else "can be downloaded")
        size = f"{entry.size / 1e6:,.0f} MB" if entry.size else ""
        mark = "*" if entry.default else " "
        print(f"{mark} {entry.name:<24} {entry.kind:<9} {size:>9}  {state}")
        if entry.about:
            print(f"  {'':<24} {entry.about}")
    print("\n* used unless another one is chosen (--model, or in the settings)")
    return 0


def add(arguments: argparse.Namespace) -> int:
    """Adds a model file."""
    from desktop_app import models

    path = models.add(arguments.path)
    print(f"Added {path}. Use it with --model {path.stem}")
    return 0


def download(arguments: argparse.Namespace) -> int:
    """Downloads a model."""
    from desktop_app import model_download

    path = model_download.download(arguments.name)
    print(f"Downloaded {path}. Use it with --model {path.stem}")
    return 0


def remove(arguments: argparse.Namespace) -> int:
    """Removes a model."""
    from desktop_app import models

    print(f"Removed {models.remove(arguments.name)}.")
    return 0
