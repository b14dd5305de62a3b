"""A question as it is searched for: its frame taken off, its exact things picked out.

"Consider the NDA between A and B; does the document indicate that copies are allowed?" asks for
"copies are allowed". Clause numbers, amounts, dates, quoted words and defined terms are looked up
letter by letter, beside the search by meaning. Knows no index.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from rag.concepts import Expansion, expand

_MOST = 2000  # characters of a question that are looked at
_PREAMBLE = re.compile(
    r"^\s*(?:consider(?:ing)?|regarding|concerning|with (?:regard|respect) to|in relation to|"
    r"based on|according to|given)\b[^;:?]{3,300}[;:]\s*(?=\S+\s+\S)",
    re.IGNORECASE,
)
_DOCUMENT = r"(?:the|this|that|our|my|your)?\s*(?:document|agreement|contract|policy|text|file)"
_SAYS = (
    r"(?:indicate|state|mention|say|specify|provide|stipulate|show|tell|contain|include|describe|"
    r"address|cover|discuss)s?"
)
_FRAMES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"^(?:does|do|did|will|would|can|could)\s+{_DOCUMENT}\s+{_SAYS}\s*"
        r"(?:a clause|a provision|anything|something)?\s*"
        r"(?:that|about|on|whether or not|whether|if|any)?\b",
        r"^(?:please\s+)?(?:i (?:want|need|would like)|give me|show me|find|tell me|is there)\s+"
        r"(?:some |any |the )?(?:information|something|anything)?\s*(?:about|on|regarding)?\s*"
        r"(?:the\b)?",
        r"^information\s+(?:about|on|regarding)\s+(?:the\b)?",
        r"^(?:what|how) about\s+(?:the\b)?",
        rf"^(?:where|in which (?:section|clause|article))\s+(?:is|are|does {_DOCUMENT} {_SAYS})\s+"
        r"(?:the\b)?",
        rf"^what does {_DOCUMENT} {_SAYS} (?:about|on)\b",
    )
)
_TAIL = re.compile(r"\s+(?:clause|provision|section)s?\s*\?*\s*$", re.IGNORECASE)
_CLAUSE = re.compile(
    r"\b(?:section|clause|article|paragraph|schedule|exhibit|annex|appendix|part|item|§)\s*"
    r"(?:\d+(?:\.\d+)*(?:\s?\([a-z0-9]{1,4}\))*|[ivxlc]+|[a-z])(?!\w)"
    r"|(?<![\d$€£.,])\d+\.\d+(?:\.\d+)*(?:\s?\([a-z0-9]{1,4}\))*(?![\d%])"
    r"|第[零〇一二三四五六七八九十百千两\d]+[条章节编]|附件[一二三四五六七八九十\d]+",
    re.IGNORECASE,
)
_AMOUNT = re.compile(
    r"[$€£¥]\s?\d[\d,]*(?:\.\d+)?|\d[\d,]*(?:\.\d+)?\s?%|\b\d{1,3}(?:,\d{3})+\b|\b\d{4,}\b"
    r"|\d+(?:\.\d+)?\s?(?:万|亿)?元"
)
_QUOTED = re.compile(
    r"[\"\u201c\u300c\u300e\u300a]([^\"\u201d\u300d\u300f\u300b]{2,60})[\"\u201d\u300d\u300f\u300b]"
)
_TERM = re.compile(r"(?<![.?!] )(?<!^)\b(?:[A-Z][\w-]+)(?:\s+(?:of\s+)?[A-Z][\w-]+)+")
_DEFINES = re.compile(r"\bdefin|\bmeaning\b|\bmeans?\b|什么是|定义|含义|是指")


@dataclass(frozen=True, slots=True)
class Question:
    """What is searched for.

    Attributes:
        text: the question without preamble and frame.
        exact: clause numbers, amounts, quoted words and defined terms, as written.
        defines: the meaning of a term is asked for.
        expansion: wording and words of the kinds of clause that are asked for.
    """

    text: str
    exact: tuple[str, ...]
    defines: bool
    expansion: Expansion


def understand(question: str) -> Question:
    """Takes a question apart; one that is all frame stays as it is."""
    question = question.strip()[:_MOST]
    bare = _PREAMBLE.sub("", question)
    text = bare
    for frame in _FRAMES:
        shorter = frame.sub("", text).strip()
        if len(shorter) > 3:
            text = shorter
    text = _TAIL.sub("", text).strip(" ?.,;") or bare
    exact = [match.group(1) for match in _QUOTED.finditer(bare)]
    for pattern in (_CLAUSE, _AMOUNT, _TERM):
        exact += [match.group() for match in pattern.finditer(bare)]
    return Question(
        text,
        tuple(dict.fromkeys(exact)),
        bool(_DEFINES.search(bare.lower())),
        expand(text, question),
    )
