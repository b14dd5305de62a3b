"""`clausebook ask QUESTION`: an answer with its citations, streamed or as JSON."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from desktop_app.cli import batch, output, parser, search
from desktop_app.cli.interrupt import stop_on_interrupt
from rag.types import (
    Answer,
    AnswerDelta,
    AnswerDraft,
    AnswerEvent,
    AnswerNotice,
    Citation,
    EvidenceFound,
    Reading,
)

if TYPE_CHECKING:
    from desktop_app.asking import Asker

EMPTY: dict[str, Any] = {"answer": "", "found": False, "citations": [], "stats": {}}
STATS: dict[str, Any] = {
    "backend": "",
    "model": "",
    "prompt_tokens": 0,
    "reused_tokens": 0,
    "prefilled_tokens": 0,
    "generated_tokens": 0,
    "ttft_ms": 0.0,
    "tokens_per_second": 0.0,
    "trimmed_tokens": 0,
    "restored_from": "",
}


def register(commands: parser.Commands) -> None:
    """Adds the command."""
    command = parser.add_command(
        commands, "ask", run, parser.model_options(), help="ask a question"
    )
    search.add_question(command)
    command.add_argument(
        "--conversation", default="", metavar="ID", help="go on with this conversation, or begin it"
    )
    command.add_argument("--no-cache", action="store_true", help="read everything again")


def run(arguments: argparse.Namespace) -> int:
    """Runs the command."""
    from desktop_app.asking import Asker
    from desktop_app.cli.main import FAILED, compose

    search.check_question(arguments)
    composition = compose(arguments)
    composition.check_model()
    asker = Asker(composition)

    def events(question: str, documents: Iterable[str], conversation: str) -> Iterable[AnswerEvent]:
        return asker.ask(
            question,
            conversation=conversation,
            documents=tuple(documents),
            use_cache=not arguments.no_cache,
        )

    def answer(row: batch.Row) -> dict[str, Any]:
        documents = row.documents or arguments.document
        conversation = row.conversation or arguments.conversation
        return collect(events(row.question, documents, conversation))

    try:
        if arguments.batch is not None:
            return FAILED if batch.run(arguments.batch, answer, EMPTY) else 0
        stream = events(arguments.question, arguments.document, arguments.conversation)
        if arguments.json:
            output.json_value(collect(stream))
        else:
            show(stream, asker)
    finally:
        asker.close()
        composition.close()
    return 0


def collect(events: Iterable[AnswerEvent]) -> dict[str, Any]:
    """The answer as `--json` prints it; notices go to stderr."""
    begun = time.monotonic()
    first = 0.0
    for event in events:
        if isinstance(event, AnswerDelta) and not first:
            first = time.monotonic() - begun
        elif isinstance(event, AnswerNotice):
            output.tell(event.text)
        elif isinstance(event, Answer):
            stats = STATS | {"ttft_ms": round(first * 1000, 3)} | event.stats
            return {
                "answer": event.text,
                "found": event.found,
                "citations": [plain(c) for c in event.citations],
                "stats": {key: stats[key] for key in STATS},
            }
    raise AssertionError("an answer's last event is the Answer")


def show(
    events: Iterable[AnswerEvent],
    asker: Asker,
    on_evidence: Callable[[EvidenceFound], None] = lambda event: None,
) -> Answer:
    """Streams an answer to stdout, then its citations; progress and figures go to stderr."""
    written, answer = "", None
    with stop_on_interrupt(asker.stop):
        for event in events:
            if isinstance(event, EvidenceFound):
                on_evidence(event)
            elif isinstance(event, Reading):
                output.Status.show(f"reading {event.done}/{event.total} {event.unit}")
            elif isinstance(event, AnswerDraft):
                output.Status.show(f"writing: {event.text.lstrip()}")
            elif isinstance(event, AnswerNotice):
                output.tell(event.text)
            elif isinstance(event, AnswerDelta):
                output.Status.clear()
                written += event.text
                print(event.text, end="", flush=True)
            else:
                answer = finish(event, written)
    assert answer is not None, "an answer's last event is the Answer"
    return answer


def finish(answer: Answer, written: str) -> Answer:
    """Prints what follows an answer's text: citations, and the figures on stderr."""
    output.Status.clear()
    if not written:
        print(answer.text, end="")
    print(" [stopped]" if answer.stopped else "")
    if answer.citations:
        print()
    for number, citation in enumerate(answer.citations, 1):
        print(f"[{number}] {describe(citation)}")
    if answer.stats:
        output.tell(f"({output.figures(answer.stats)})")
    return answer


def plain(citation: Citation) -> dict[str, Any]:
    """A citation as `--json` prints it."""
    return {"document": citation.document, "page": citation.page, "quote": citation.quote}


def describe(citation: Citation) -> str:
    """A citation as a line."""
    quote = f": “{search.shorten(citation.quote, 160)}”" if citation.quote else ""
    return f"{citation.document}, {citation.place}{quote}"
