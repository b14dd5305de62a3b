"""Makes a follow-up question searchable: what does "And for how much?" speak of?

Rules only; it knows words, English and Chinese, and the turns before. It does not know documents
or models. A question that stands by itself is left as it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rag.chinese import count_chinese, is_chinese
from rag.quotes import words

_OPENER = re.compile(
    r"^\s*(and|but|or|so|then|also|what about|how about|what if|why|who else|where else|for how|"
    r"by when|since when|until when|in what|in which case|under what|on what|"
    r"that one|the same|anything else|ok|okay|speaking of)\b",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    r"\b(it|its|they|them|their|theirs|he|she|him|his|her|hers|this|that|these|those|there|then|"
    r"such|one|ones|both|either|neither|the other|the others|the latter|the former|the same|"
    r"aforementioned|said)\b",
    re.IGNORECASE,
)
# "this agreement", "that the supplier": not a reference to an earlier turn.
_NOT_A_PRONOUN = re.compile(
    r"\b(this|the|that)\s+(agreement|contract|document|policy|file|lease|order|license|licence|act|"
    r"law)\b|\bthat\s+(the|a|an|is|are|may|must|can|shall|will|do|does|has|have)\b|"
    r"\b(?:end|terminate|cancel|renew|extend|sign|leave|get out of|"
    r"governs?|interprets?)\s+it\b|"
    r"\b(is|are|was|were)\s+there\b|\bone\s+(of|or)\b|\bboth\s+parties\b|\beither\s+party\b|"
    r"\bit\s+(possible|true|allowed|permitted|necessary|required)\b|"
    r"\b(is|was)\s+it\s+(possible|true|allowed|permitted|necessary|required)\b|\bsuch\s+as\b",
    re.IGNORECASE,
)
# A fragment ("the penalty?") leans on an earlier question; a whole question does not.
_ASKS = re.compile(
    r"^\s*(what|which|who|whom|whose|when|where|how|is|are|was|were|do|does|did|can|could|may|must|"
    r"shall|should|will|would|has|have|had|list|show|describe|explain|summari[sz]e|tell|name|find|"
    r"under|in|on|at|by|within|for|to)\b",
    re.IGNORECASE,
)
_CHINESE = re.compile(
    r"^(那|那么|还有|另外|以及|然后|如果|此外)|呢[？?]?\s*$|[它其该此这那](?!里)|上述|前述|同样"
)
_CHINESE_ASKS = re.compile(
    r"怎么样?|如何|为什么|什么|是谁|谁|哪[里个些家]?|多少|多久|多长|几|何时|是否|有没有|[吗是的有]"
)
# "And in the one after?": the item that follows the one just quoted.
_NEXT = re.compile(
    r"\bthe (one|year|month|quarter|item|step|period|point|stage) after( that| it)?\s*\?*$"
    r"|\bthe (next|following|subsequent)( (one|year|month|quarter|item|step|period|point|stage))?"
    r"\s*\?*$|(下|后)一(个|年|月|项|条|款|期)",
    re.IGNORECASE,
)
_FEW = 1  # characters of a Chinese question, question words aside, that say nothing by themselves
# "What are the main terms?" gives a follow-up nothing to lean on.
_GENERIC = re.compile(
    r"\b(main|key|important|principal) (terms|points|provisions|clauses)\b|"
    r"\b(summar\w+|overview|review)\b|主要(条款|内容)|概述|总结|摘要",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Standalone:
    """A question and what must be added to search for it.

    Attributes:
        question: as it was asked.
        context: words of earlier turns that it leans on; empty if it stands by itself.
    """

    question: str
    context: str = ""

    @property
    def dependent(self) -> bool:
        return bool(self.context)

    @property
    def text(self) -> str:
        """The question together with its context."""
        return f"{self.context} {self.question}".strip()


def is_dependent(question: str) -> bool:
    """Whether a question leans on an earlier one: pronouns, an opener such as "And", or brevity."""
    if is_chinese(question):
        left = _CHINESE_ASKS.sub("", question)
        return bool(_CHINESE.search(question)) or count_chinese(left) <= _FEW
    if _OPENER.search(question):
        return True
    if _PRONOUN.search(_NOT_A_PRONOUN.sub(" ", question)):
        return True
    return len(words(question)) <= (1 if _ASKS.match(question) else 3)


def asks_for_the_next(question: str) -> bool:
    """Whether a follow-up asks for what comes after the thing just quoted."""
    return bool(_NEXT.search(question.strip()))


def standalone(question: str, earlier: Sequence[str], quoted: str = "") -> Standalone:
    """The question with the context it needs.

    Args:
        question: the new question.
        earlier: questions of the turns before, oldest first.
        quoted: what the last answer quoted; names that "it" may stand for.
    """
    if not earlier or not is_dependent(question):
        return Standalone(question)
    topic: list[str] = []
    for past in reversed(earlier):
        if not _GENERIC.search(past):
            topic.insert(0, past.strip())
        if not is_dependent(past):
            break
    context = " ".join(topic[-3:])
    names = _names(quoted)
    fresh = [name for name in names if name.lower() not in context.lower()]
    return Standalone(question, " ".join([context, *fresh[:2]]).strip())


def _names(text: str) -> list[str]:
    """Defined terms and proper names of a quotation, in order."""
    found = re.findall(r"(?:[A-Z][\w&.-]+(?: +[A-Z][\w&.-]+)+)", text)
    return list(dict.fromkeys(found))
