"""Runs one command: sets up streams, log and settings, and turns failures into one line."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from desktop_app import errors, logs, paths, settings
from desktop_app.cli import output, parser

if TYPE_CHECKING:
    from desktop_app.composition import Composition, Makers

logger = logging.getLogger(__name__)

FAILED, USAGE, INTERRUPTED = 1, 2, 130


def main(argv: Sequence[str], makers: Makers | None = None) -> int:
    """Runs the command in `argv` and returns the exit code.

    Args:
        argv: the words after the program's name.
        makers: how the parts are made; tests give their own.
    """
    output.use_utf8()
    arguments = parser.build().parse_args(list(argv))
    arguments.makers = makers
    debug = getattr(arguments, "debug", False)
    logs.set_up(paths.log_folder(), "cli", debug=debug)
    try:
        code: int = arguments.run(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        output.tell("")
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output is gone. Python flushes stdout once more at exit: to nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except Exception as error:  # the last resort: whatever it is, it is told in one line
        logger.exception("the command failed")
        output.complain(*errors.explain(error))
        return USAGE if isinstance(error, errors.UsageError) else FAILED
    return code


def compose(arguments: argparse.Namespace) -> Composition:
    """The library and models that the command's options and the settings name."""
    from desktop_app import composition

    chosen, notices = settings.load(paths.settings_file())
    for notice in notices:
        output.tell(notice)
    library = getattr(arguments, "library", None)
    if library is None:
        library = chosen.library or paths.default_library()
    return composition.Composition(
        Path(library),
        chosen,
        backend=getattr(arguments, "backend", ""),
        model=getattr(arguments, "model", ""),
        on_notice=output.tell,
        makers=arguments.makers,
    )
