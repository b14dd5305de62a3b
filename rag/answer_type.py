"""What kind of thing a question asks for, and whether a sentence holds such a thing.

"How many days …" wants a duration, "how much …" an amount. Rules for English and Chinese; after the
answer types of Li and Roth, Learning Question Classifiers (COLING 2002).
"""

from __future__ import annotations

import re

# "[*]", "[***]": a figure that was taken out before the contract was made public.
_NUMBER = r"(?:\d[\d,.]*|\[\*{1,3}\]|one|two|three|four|five|six|seven|eight|nine|ten|eleven|"
_NUMBER += (
    r"twelve|fifteen|twenty|thirty|forty|forty-five|fifty|sixty|ninety|hundred|thousand|million)"
)
_UNIT = r"(?:business |working |calendar )?(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?)"
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"

MONEY = re.compile(
    rf"[$€£¥￥]\s*(?:\d|\[\*)|\b(usd|eur|gbp|cny|rmb|dollars?|euros?|pounds?)\b|"
    rf"\b{_NUMBER}\s*(million|thousand)\b|\d\s*(元|万元|亿元)|人民币|[一二三四五六七八九十百千万]+元",
    re.IGNORECASE,
)
PERCENT = re.compile(
    r"(?:\d|\*\])\s*(%|percent|per cent|‰|％)|百分之|千分之|万分之|\bper cent", re.IGNORECASE
)
DURATION = re.compile(
    rf"{_NUMBER}\)?[ -]*(?:\([^)]*\)\s*)?{_UNIT}\b|[\d一二三四五六七八九十百]+\s*(个)?"
    r"(工作)?(秒|分钟|小时|日|天|周|月|年)",
    re.IGNORECASE,
)
DATE = re.compile(
    rf"\b{_MONTH}\s+\d{{1,2}}|\b\d{{1,2}}(st|nd|rd|th)?\s+(day of\s+)?{_MONTH}|\b(19|20)\d\d\b|"
    r"\d+年\d+月|\d{1,2}/\d{1,2}/\d{2,4}",
    re.IGNORECASE,
)
NUMBER = re.compile(rf"\b{_NUMBER}\b|[一二三四五六七八九十百千万两]+", re.IGNORECASE)
TIME = re.compile(r"\b\d{1,2}[:.]\d{2}\s*(am|pm)?\b|\b\d{1,2}\s*(am|pm)\b|\d+[时点]", re.IGNORECASE)
NAME = re.compile(
    r"[\"“][A-Z][\w ]+[\"”]|\b[A-Z][\w&.-]+(?:,? (?:of |and |& )?[A-Z][\w&.-]+)+|"
    r"\b(inc|llc|ltd|gmbh|corp|limited|company|bank)\b|公司|有限"
)
LAW = re.compile(
    r"\b(laws?|courts?|jurisdiction|arbitrat\w+|governed)\b|法律|法院|仲裁", re.IGNORECASE
)

_RULES: tuple[tuple[re.Pattern[str], tuple[re.Pattern[str], ...]], ...] = tuple(
    (re.compile(ask, re.IGNORECASE), kinds)
    for ask, kinds in (
        (r"\b(percent|percentage|rate|interest)\b|百分之|比例|利率|税率|费率", (PERCENT,)),
        (
            r"\bhow (long|soon|often|quickly|fast|late)\b|"
            r"\bhow many (business |working |calendar )?(days|weeks|months|years|hours|minutes)\b|"
            r"\b(what|which) (period|term|duration|notice)|\bnotice\b.*\b(needed|required|must)|"
            r"\bwithin (what|how)|\b(term|period|length|duration) of\b|maximum length|"
            r"多久|多长时间|期限|几(天|日|年|个月)|多少(天|日|年|个月)",
            (DURATION,),
        ),
        (
            r"\bhow much\b|\b(amount|price|fee|fees|cost|costs|value|sum|cap|size|total|limit|"
            r"salary|deposit|insurance|penalty|minimum borrowing)\b|"
            r"多少钱|金额|价款|价格|费用|总价|工资|违约金",
            (MONEY, PERCENT),
        ),
        (r"\b(what|which) (are the )?(core )?(hours|time)\b|几点|时间段", (TIME,)),
        (r"\b(what|which) (is the )?date\b|\bdate of\b|日期|哪天", (DATE,)),
        (r"\bwhen\b|什么时候|何时", (DATE, DURATION)),
        (r"\bhow many\b|\bnumber of\b|\bcode\b|多少|几个|数量", (NUMBER,)),
        (
            r"\b(governing law|law|court|courts|jurisdiction|arbitrat\w+|governs)\b|法律|法院|仲裁",
            (LAW,),
        ),
        (
            r"^\s*(and )?who\b|\bwhose\b|\b(which|what) (party|company|provider|bank|entity|person|"
            r"state|country|city|place|area|name|infrastructure)\b|\bname of\b|谁|哪(家|个)公司",
            (NAME,),
        ),
    )
)


def holds_expected(question: str, sentence: str) -> float:
    """How well a sentence's kinds of things fit the question: 1 yes, 0 no, 0.5 where none is asked.

    Where a question fits several kinds, the best one counts.
    """
    wanted = [kinds for ask, kinds in _RULES if ask.search(question)]
    if not wanted:
        return 0.5
    for place, kinds in enumerate(wanted):
        if any(kind.search(sentence) for kind in kinds):
            return 1.0 if place == 0 else 0.8
    return 0.0
