"""A generator without a model, for tests and demonstrations: it answers as it is told to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from rag.protocols import Generated, PastTurn, Request


class FakeGenerator:
    """Implements `rag.protocols.Generator` in memory; a token is a word.

    Attributes:
        requests: every request that `ask` was given, in order.
        prepared: the conversations that `prepare` was told.
        window: tokens a conversation may hold; older turns leave it first.
    """

    def __init__(
        self,
        reply: str | Callable[[Request], str] = "",
        *,
        window: int = 4096,
        speed: float = 200.0,
    ) -> None:
        self.requests: list[Request] = []
        self.prepared: list[str] = []
        self.window = window
        self._reply = reply
        self._speed = speed
        self._stopped: set[str] = set()
        self._turns: dict[str, list[tuple[dict[str, object], int]]] = {}

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def tokens_left(self, conversation: str) -> int:
        return self.window

    def prefill_speed(self) -> float:
        return self._speed

    def turns(self, conversation: str) -> Sequence[PastTurn]:
        room = self.window
        out: list[PastTurn] = []
        for record, tokens in reversed(self._turns.get(conversation, [])):
            room -= tokens
            out.insert(0, PastTurn(record, in_window=room >= 0))
        return out

    def prepare(self, conversation: str) -> None:
        self.prepared.append(conversation)

    def ask(self, conversation: str, request: Request) -> Iterator[Generated]:
        self.requests.append(request)
        self._stopped.discard(conversation)
        prompt = self.count_tokens(request.system + " " + request.user + " " + request.prefix)
        reused = sum(tokens for _, tokens in self._turns.get(conversation, []))
        yield Generated("reading", done=prompt, total=prompt)
        text, reason = request.prefix, "end"
        if text:
            yield Generated("text", text=text)
        for piece in self._pieces(request):
            if conversation in self._stopped:
                reason = "stopped"
                break
            text += piece
            yield Generated("text", text=piece)
        if conversation:
            cost = prompt + self.count_tokens(text)
            self._turns.setdefault(conversation, []).append((request.record, cost))
        stats: dict[str, object] = {
            "backend": "fake",
            "model": "fake",
            "prompt_tokens": reused + prompt,
            "reused_tokens": reused,
            "prefilled_tokens": prompt,
            "generated_tokens": self.count_tokens(text),
            "ttft_ms": 1.0,
            "tokens_per_second": 100.0,
            "trimmed_tokens": 0,
            "restored_from": "",
        }
        yield Generated("end", text=text, reason=reason, stats=stats)

    def score(self, conversation: str, request: Request, answers: Sequence[str]) -> list[float]:
        return [-1.0 / (1 + len(answer.split())) for answer in answers]

    def stop(self, conversation: str) -> None:
        self._stopped.add(conversation)

    def _pieces(self, request: Request) -> Iterator[str]:
        reply = self._reply(request) if callable(self._reply) else self._reply
        reply = reply or (request.choices[0] if request.choices else "")
        for n, word in enumerate(reply.split(" ")):
            yield word if n == 0 else " " + word
