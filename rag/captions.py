"""What of a passage is no sentence to quote: headings, forms, rows of a table of contents.

It knows how such lines look, and no passage.
"""

from __future__ import annotations

import re

# "17 Invoicing and payment": names a clause, says nothing.
_HEADING = re.compile(
    r"(?:(?:article|section|part|schedule|annex|exhibit|appendix)\b[^:]{0,40}|[ivxl]{1,6}\."
    r"|[\d.]{0,8})\s*"
    r"[A-Z][^\W\d]*(?:[ ,&/-]+[^\W\d]+){0,7}:?|"
    r"第[一二三四五六七八九十百]+[条章节][^，。；：]{0,14}",
    re.IGNORECASE,
)
# "C. The Distributor's Objectives.", "9.3 PAYMENT OF FEES.", "J. 9.10 GOVERNING LAW;": every word
# but small ones in capitals, behind a mark or two.
# The Greek question mark is what fonts without a map give for a semicolon.
_TITLE = re.compile(
    r"(?:\(?[A-Z]{1,4}[.)]\s+)?(?:(?:Section |Article )?\(?[A-Za-z0-9][\w.]{0,6}(?:[.)]+\s*|\s+))?"
    r"[A-Z][\w'’/-]*"
    r"(?:[,;\u037e]? (?:of|the|and|or|for|to|in|on|as|by|with|without|upon|from|at|under|a|an|its"
    r"|\d{1,2}\.\d{1,2}"
    r"|[A-Z&][\w'’/-]*)){0,13}[.;:]"
)
# A form to be filled in: "[party]", "[ ]", "____"; and "2.5 Selection of Premises | 5".
_BLANK = re.compile(
    r"\[(?!\s*\*)[^\]\d]{0,40}\]|_{3,}|\.{6,}|\A\d+(?:\.\d+)*\.?\s[^|]*\|\s*\d{1,3}\Z"
)


# "“Affiliate” means …": tells what a word means, and rules nothing.
_DEFINITION = re.compile(
    r"(\(?[\w.]{1,6}[.)]? )?[\"“”'‘][^\"“”]{2,60}[\"“”'’],? (shall )?(mean|ha(s|ve) the meaning)"
    r"|for (the )?purposes? of (this|the) definition",
    re.IGNORECASE,
)


def is_definition(text: str) -> bool:
    """True for a sentence that says what a word means."""
    return bool(_DEFINITION.match(" ".join(text.split())))


def is_form(text: str) -> bool:
    """True for a form to be filled in and for a line of a table of contents."""
    return bool(_BLANK.search(text))


def is_heading(text: str) -> bool:
    """True for a heading that stands alone."""
    line = " ".join(text.split())
    return bool(_HEADING.fullmatch(line) or _TITLE.fullmatch(line))
