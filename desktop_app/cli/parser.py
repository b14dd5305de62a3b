"""The commands and the options they share, which may stand before or after the command."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from desktop_app import __version__

COMMANDS = ("ingest", "search", "ask", "chat", "models", "doctor", "cache", "bench")
BACKENDS = ("auto", "torch", "llama.cpp", "fake")

Run = Callable[[argparse.Namespace], int]
Commands = Any  # argparse's class for a set of commands is private


class Parser(argparse.ArgumentParser):
    """Errors are one line that names the command for help, not the whole usage."""

    def error(self, message: str) -> Any:
        self.exit(2, f"{self.prog}: {message}; see `{self.prog} --help`.\n")


def common() -> argparse.ArgumentParser:
    """Options of every command, to be given as a parent."""
    options = argparse.ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    options.add_argument(
        "--library", metavar="DIR", type=_folder, help="folder of the library (default: yours)"
    )
    options.add_argument("--debug", action="store_true", help="show tracebacks and the log")
    return options


def model_options() -> argparse.ArgumentParser:
    """Options of the commands that answer, to be given as a parent."""
    options = argparse.ArgumentParser(add_help=False)
    options.add_argument("--backend", choices=BACKENDS, metavar="auto|torch|llama.cpp", default="")
    options.add_argument("--model", metavar="NAME|PATH", default="", help="language model")
    return options


def window_arguments(argv: Sequence[str]) -> argparse.Namespace | None:
    """What the window is to open, or None if `argv` is a command (or asks for help)."""
    parser = Parser(prog="clausebook", add_help=False, parents=[common(), model_options()])
    parser.add_argument("files", nargs="*", type=_path)
    parser.set_defaults(library=None, debug=False)
    words = [word for word in argv if not word.startswith("-")]
    if any(word in COMMANDS for word in words) or {"-h", "--help", "--version"} & set(argv):
        return None
    arguments = parser.parse_args(list(argv))
    for file in arguments.files:
        if not file.exists():
            parser.error(f"there is no command and no file {str(file)!r}")
    return arguments


def add_command(commands: Commands, name: str, run: Run, *parents: Any, **texts: Any) -> Any:
    """A command's parser, with the common options; `run` is what it does."""
    parser = commands.add_parser(name, parents=[common(), *parents], **texts)
    parser.set_defaults(run=run, command=name)
    return parser


def build() -> argparse.ArgumentParser:
    """The whole command line."""
    parser = Parser(
        prog="clausebook",
        description="Ask questions of contracts and other long documents on your own machine.",
        epilog="Without a command the window opens; `clausebook FILE.pdf` opens it with the file.",
        parents=[common()],
    )
    parser.add_argument("--version", action="version", version=f"clausebook {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", parser_class=Parser, required=True)
    for name in COMMANDS:
        module = f"desktop_app.cli.{name}"
        if importlib.util.find_spec(module) is not None:
            importlib.import_module(module).register(commands)
    return parser


def _path(text: str) -> Path:
    return Path(text).expanduser().absolute()


def _folder(text: str) -> Path:
    if not text:
        raise argparse.ArgumentTypeError("a folder is wanted, not an empty text")
    return Path(text).expanduser().absolute()
