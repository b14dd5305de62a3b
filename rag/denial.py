"""Whether two sentences disagree about a "not".

"The franchisor cannot terminate" below a clause that denies nothing, or "the tenant may assign"
below "may not assign", is the worst that an answer can say. Words alone decide; whether a denial
denies the same thing is not looked at, so this errs towards silence.
"""

from __future__ import annotations

import re

WORDS = frozenset({"cannot", "not", "never", "none"})  # they alone say nothing new
_DENIES = re.compile(
    r"\b(?:no|not|cannot|never|none|neither|nor|nothing|nobody|without|unable|refus\w+|prohibit\w*|"
    r"forb\w+)\b|n['’]t\b|[不无未没非禁]",
    re.IGNORECASE,
)
_FORBIDS = re.compile(
    r"\b(?:no|not|cannot|never|none|neither|nor|nothing|nobody)\b|n['’]t\b|不|禁止", re.IGNORECASE
)
# "shall not exceed" said as "is limited to", "not without consent" as "only with consent".
_BOUNDS = re.compile(
    r"\b(?:only|unless|until|except\w*|limit\w*|restrict\w*|cap(?:ped|s)?|most|maximum|consent|"
    r"approv\w+|permission)\b|仅|只|除非|上限|限",
    re.IGNORECASE,
)


def contradicts(said: str, evidence: str) -> bool:
    """Whether `said` denies where the evidence doesn't, or states plainly what it forbids."""
    if _DENIES.search(said):
        return not _DENIES.search(evidence)
    return bool(_FORBIDS.search(evidence)) and not _BOUNDS.search(said)
