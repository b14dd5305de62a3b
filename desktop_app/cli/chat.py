"""`clausebook chat [FILE...]`: a conversation in the terminal, or read line by line from a pipe."""

from __future__ import annotations

import argparse
import contextlib
import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from desktop_app import errors
from desktop_app.cli import ask, ingest, output, parser, search
from rag.types import EvidenceFound

if TYPE_CHECKING:
    from desktop_app.asking import Asker
    from rag.library import Library

logger = logging.getLogger(__name__)

PROMPT = "you> "  # a bare ">" would look like the Markdown quotations of the answers
HELP = """\
Type a question. Ctrl-C stops an answer. Commands:
  /documents   the documents that are asked
  /add PATH    add a file or folder to them
  /new         begin a new conversation
  /help        this text
  /quit        leave (also Ctrl-D)"""


def register(commands: parser.Commands) -> None:
    """Adds the command."""
    command = parser.add_command(
        commands, "chat", run, parser.model_options(), help="a conversation in the terminal"
    )
    command.add_argument("files", nargs="*", metavar="FILE", type=Path)
    command.add_argument("--password", metavar="PW", help="for a locked PDF")
    command.add_argument(
        "--conversation", default="", metavar="ID", help="go on with this conversation"
    )
    command.add_argument("--no-cache", action="store_true", help="read everything again each time")


def run(arguments: argparse.Namespace) -> int:
    """Runs the command."""
    from desktop_app.asking import Asker
    from desktop_app.cli.main import FAILED, compose

    composition = compose(arguments)
    composition.check_model()
    library = composition.open_library()
    asker = Asker(composition)
    try:
        chat = Chat(asker, library, arguments.conversation)
        chat.use_cache = not arguments.no_cache
        chat.password = arguments.password
        if arguments.files:
            composition.begin_engine()  # while the documents are read
            if not chat.add(arguments.files):
                return FAILED
        chat.talk()
    finally:
        asker.close()
        library.close()
        composition.close()
    return 0


class Chat:
    """The loop of questions and answers, and what it is about."""

    def __init__(self, asker: Asker, library: Library, conversation: str = "") -> None:
        self._asker = asker
        self._library = library
        self._documents: list[str] = []  # empty: all of the library
        self._conversation = conversation or asker.new_conversation()
        self._interactive = sys.stdin.isatty()
        self.use_cache = True
        self.password: str | None = None

    def add(self, files: list[Path]) -> bool:
        """Adds files to the library and to what is asked; False if none of them could be."""
        results = ingest.add_files(self._library, files, self.password)
        good = [r for r in results if r.status in ("ready", "unchanged")]
        for result in results:
            if result not in good:
                output.complain(f"{result.path}: {result.error}")
        self._documents += [r.document for r in good if r.document not in self._documents]
        return bool(good)

    def talk(self) -> None:
        """Asks for questions until there are no more."""
        if self._interactive:
            print("Ask a question; /help shows the commands.")
        for line in self._lines():
            text = line.strip()
            if text.startswith("/"):
                if not self._command(text):
                    return
            elif text:
                try:
                    self._answer(text)
                except (BrokenPipeError, KeyboardInterrupt):
                    raise
                except Exception as error:
                    logger.exception("a question failed")
                    output.complain(*errors.explain(error))
        if self._interactive:
            print()

    def _lines(self) -> Iterator[str]:
        if not self._interactive:
            for line in sys.stdin:
                print(f"{PROMPT}{line.strip()}", flush=True)
                yield line
            return
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401  gives `input` editing and a history
        while True:
            try:
                yield input(PROMPT)
            except EOFError:
                return
            except KeyboardInterrupt:
                print("\n(/quit or Ctrl-D leaves)")

    def _command(self, text: str) -> bool:
        """Does a command; False if it was the last."""
        word, _, rest = text.partition(" ")
        if word in ("/quit", "/exit", "/q"):
            return False
        if word == "/new":
            self._conversation = self._asker.new_conversation()
            print("A new conversation.")
        elif word == "/documents":
            self._list_documents()
        elif word == "/add" and rest.strip():
            self.add([Path(rest.strip()).expanduser()])
        else:
            print(HELP)
        return True

    def _list_documents(self) -> None:
        documents = self._library.documents()
        if not documents:
            print("There is no document yet; /add PATH adds one.")
        for document in documents:
            asked = not self._documents or document.name in self._documents
            print(f"{'*' if asked else ' '} {document.name} ({document.pages} pages)")

    def _answer(self, question: str) -> None:
        """Asks one question and shows what comes."""
        self._asker.begin()
        events = self._asker.ask(
            question,
            conversation=self._conversation,
            documents=self._documents,
            use_cache=self.use_cache,
        )
        ask.show(events, self._asker, self._show_evidence)

    def _show_evidence(self, event: EvidenceFound) -> None:
        for hit in event.hits[:3]:
            print(f"  · {search.describe(hit)}")
        if event.hits:
            print(flush=True)
