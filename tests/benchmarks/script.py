"""The conversation that the benchmarks hold: 12 questions about a made-up lease, with passages."""

from __future__ import annotations

from dataclasses import dataclass

SYSTEM = (
    "You answer questions about contracts. Use only the passages given. Name the clause you used. "
    "If the passages don't say, say so."
)

_TOPICS = (
    ("rent", "What is the monthly rent and when is it due?"),
    ("term", "How long does the lease run?"),
    ("deposit", "How much is the security deposit?"),
    ("termination", "Who may terminate early, and with how much notice?"),
    ("repairs", "Who pays for structural repairs?"),
    ("insurance", "Which insurance must the tenant carry?"),
    ("assignment", "May the tenant sublet the premises?"),
    ("utilities", "Who pays for water and electricity?"),
    ("alterations", "Are alterations allowed without consent?"),
    ("default", "What happens when the rent is late?"),
    ("confidentiality", "What must be kept confidential?"),
    ("law", "Which law governs the agreement?"),
)


@dataclass(frozen=True, slots=True)
class ScriptTurn:
    """One turn: the passages that retrieval would have found, and the question."""

    passages: str
    question: str

    @property
    def user(self) -> str:
        """The user turn as Clausebook sends it: the passages in the turn itself."""
        return f"{self.passages}\n\nQuestion: {self.question}"


def passage(topic: str, number: int) -> str:
    """A clause of about 60 words; no two are alike."""
    days, amount = 5 + 7 * number % 60, 1200 + 137 * number
    return (
        f"[Page {number}] Clause {number}.{number % 7 + 1} ({topic}). The parties agree that, as "
        f"regards {topic}, the tenant shall perform each obligation within {days} days of a "
        f"written notice and shall pay, where a payment is due, an amount of USD {amount:,} "
        f"without set-off; the landlord may waive clause {number}.{number % 5 + 2} only in "
        f"writing, and no course of dealing on {days + 3} or more occasions shall be read as such "
        f"a waiver of {topic}."
    )


def conversation(turns: int = 12, passages: int = 1) -> list[ScriptTurn]:
    """The turns, each with its own passages; one makes a turn about as long as ours are."""
    script = []
    for index in range(turns):
        topic, question = _TOPICS[index % len(_TOPICS)]
        numbers = range(1 + index * passages, 1 + (index + 1) * passages)
        text = "\n".join(passage(topic, number) for number in numbers)
        script.append(ScriptTurn(text, question))
    return script
