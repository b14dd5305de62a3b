"""Whether the passages found speak of what is asked, told by words alone.

It knows words and passages, no meanings: how well an answer fits is `honesty`'s to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rag.chinese import is_chinese
from rag.concepts import expand
from rag.quotes import words
from rag.types import Hit

_KIND = re.compile(r"^(?:and |so )?(?:which|what) (?P<kind>[a-z-]{4,})\b", re.IGNORECASE)
# Kinds that clauses hold without naming them, or that a question only begins with.
_PLAIN = words(
    "party parties date dates amount percentage percent rate kind kinds type types period time "
    "does must shall will would happens happen company state country city place area were person "
    "people entity many much long exactly else sort hours days number code licence license"
)
_BOTH = 2
# Words that a follow-up asks with and that say nothing of what it asks for.
_LEANING = words(
    "and but or so then also about there here one ones same other happens happened if not no yes "
    "more less most least big large small high low new old often far soon late give given get got "
    "say said mean means tell know go goes apply applies exactly case instead otherwise whether "
    "still before after during until within without both either neither between two three first "
    "second last next previous way can could he she they we you your our us me my him her"
)


def unnamed(question: str, hits: Sequence[Hit]) -> bool:
    """Whether the kind of thing asked for by name stands in none of the passages."""
    match = _KIND.match(question.strip())
    kind = words(match["kind"]) if match else set()
    return bool(kind - _PLAIN) and not any(kind & _said(hit) for hit in hits)


def off_topic(question: str, hits: Sequence[Hit]) -> bool:
    """Whether a follow-up asks for something that no passage speaks of.

    "What about the weather there?" leans on the question before, whose signs may be good. Its own
    words must stand in a passage, both of two and a third of more, unless they name a known kind of
    clause.
    """
    if is_chinese(question) or expand(question).names:
        return False
    own = _bare(word for word in words(question) - _PLAIN - _LEANING if len(word) > 1)
    if not own:
        return False
    shared = max((len(own & _bare(_said(hit))) for hit in hits), default=0)
    return shared < (len(own) if len(own) <= _BOTH else len(own) / 3)


def _bare(inflected: Iterable[str]) -> set[str]:
    """Words without the s of a plural or a verb: "ends" as "end"."""
    return {word.rstrip("s") for word in inflected}


def _said(hit: Hit) -> set[str]:
    """The words of a passage and its headings."""
    return words(f"{hit.chunk.text} {hit.chunk.section}")
