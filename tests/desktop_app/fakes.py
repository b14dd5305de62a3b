"""Fakes for the application's tests: an engine in memory, and an answerer that streams."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from desktop_app.composition import Makers
from engine.errors import EngineDied, UnknownConversation
from engine.types import (
    ConversationInfo,
    EngineOptions,
    Event,
    Finished,
    ModelInfo,
    Notice,
    Prefilling,
    SamplingOptions,
    TextDelta,
    Turn,
    TurnInfo,
    TurnStats,
)
from rag.fake_embedder import FakeEmbedder
from rag.library import Library
from rag.protocols import Generator, Request
from rag.types import (
    Answer,
    AnswerDelta,
    AnswerEvent,
    AnswerNotice,
    Citation,
    EvidenceFound,
    Reading,
)

CONTRACT = """\
1. Payment
The Buyer shall pay each invoice within thirty days after receipt.

2. Liability
The Supplier's liability for breach is limited to the price of the goods.

3. Term
This agreement runs for two years from the date of signature.
"""


@dataclass
class FakeEngine:
    """The methods of EngineClient, in memory.

    Attributes:
        calls: what was called with a conversation's id: "open c", "delete c", …
        asked: every turn with its conversation and whether the cache was used.
        pace: seconds a word takes.
        dies: the next answer ends with EngineDied after its first word.
    """

    options: EngineOptions
    on_notice: Callable[[str], None] = lambda text: None
    reply: str = "Within thirty days after receipt."
    pace: float = 0.0
    dies: bool = False
    calls: list[str] = field(default_factory=list)
    asked: list[tuple[str, Turn, bool]] = field(default_factory=list)
    turns: dict[str, list[Turn]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._stopped = threading.Event()
        self.info = ModelInfo("fake", "fake", "f", 300, 1, 2048, 16, 0)

    def start(self) -> None:
        self.calls.append("start")

    def ask(
        self,
        conversation: str,
        turn: Turn,
        sampling: SamplingOptions,
        *,
        use_cache: bool = True,
    ) -> Iterator[Event]:
        self._stopped.clear()
        self.asked.append((conversation, turn, use_cache))
        read = self.count_tokens(turn.user)
        yield Prefilling(read, read)
        yield Notice("a line for the user")
        text, reason = turn.prefix, "end"
        reply = turn.choices[0] if turn.choices else self.reply
        for n, word in enumerate(reply.split()[: sampling.max_tokens]):
            time.sleep(self.pace)
            if self._stopped.is_set():
                reason = "stopped"
                break
            piece = word if n == 0 else " " + word
            text += piece
            yield TextDelta(piece)
            if self.dies:
                self.dies = False
                raise EngineDied("The engine's process ended.")
        before = sum(self.count_tokens(t.user) for t in self.turns.get(conversation, []))
        if conversation:
            self.turns.setdefault(conversation, []).append(turn)
        stats = TurnStats(
            "fake", "fake", before + read, before, read, len(text.split()), 5.0, 50.0, 0, ""
        )
        yield Finished(text, "stopped" if reason == "stopped" else "end", stats)

    def stop(self, conversation: str) -> None:
        self.calls.append(f"stop {conversation}".strip())
        self._stopped.set()

    def score(self, conversation: str, turn: Turn, answers: Sequence[str]) -> list[float]:
        return [-float(len(a)) for a in answers]

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def prefill_speed(self) -> float:
        return 200.0

    def conversation(self, name: str) -> ConversationInfo:
        if name not in self.turns:
            raise UnknownConversation(f"There is no conversation {name!r}.")
        infos = [TurnInfo(n, 1, True, t.record) for n, t in enumerate(self.turns[name])]
        return ConversationInfo(name, 1, 1, 1024, "device", 1, 1, infos)

    def open(self, name: str) -> None:
        self.calls.append(f"open {name}")
        self.conversation(name)

    def rewind(self, name: str, turns: int) -> None:
        self.calls.append(f"rewind {name} {turns}")
        self.conversation(name)
        del self.turns[name][turns:]

    def fork(self, name: str, new: str, turns: int | None = None) -> None:
        self.calls.append(f"fork {name} {turns}")
        self.conversation(name)
        self.turns[new] = self.turns[name][:turns]

    def delete(self, name: str) -> None:
        self.calls.append(f"delete {name}")
        self.conversation(name)
        del self.turns[name]

    def cache_report(self) -> dict[str, object]:
        return {"conversations": len(self.turns)}

    def close(self) -> None:
        self.calls.append("close")


def fake_embedder(name: str) -> FakeEmbedder:
    """Takes the place of `composition.load_embedder`."""
    return FakeEmbedder()


class FakeAnswerer:
    """Streams what the generator writes, and cites the first passage found."""

    def __init__(self, library: Library, generator: Generator) -> None:
        self._library = library
        self._generator = generator

    def ask(
        self, question: str, *, conversation: str = "", documents: Sequence[str] = ()
    ) -> Iterator[AnswerEvent]:
        hits = self._library.search(question, documents)
        yield EvidenceFound(question, tuple(hits))
        chunk = hits[0].chunk
        request = Request(user=f"{chunk.text}\n{question}", record={"question": question})
        for event in self._generator.ask(conversation, request):
            if event.kind == "reading":
                yield Reading(event.done, event.total)
            elif event.kind == "text":
                yield AnswerDelta(event.text)
            elif event.kind == "notice":
                yield AnswerNotice(event.text)
            else:
                cited = Citation(chunk.document, chunk.page, chunk.text[:40], chunk.id)
                stopped = event.reason == "stopped"
                yield Answer(event.text, True, (cited,), dict(event.stats), stopped)


def fakes(engine: Any = FakeEngine) -> Makers:
    """Makers of fakes."""
    return Makers(engine, fake_embedder, FakeAnswerer)  # type: ignore[arg-type]
