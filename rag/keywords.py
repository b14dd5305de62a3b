"""Text to search words: stems for English, character pairs for Chinese, whole numbers and codes.

The same function makes the words of a chunk and of a question, so they meet. It knows no index;
the store keeps the words in SQLite's FTS5, whose bm25() ranks them.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_TOKEN = re.compile(
    r"\d+(?:[.,]\d+)*%?"  # 12.3, 500,000, 1.5%
    r"|[a-z\u00e0-\u024f]+(?:['\u2019][a-z]+)?"
    r"|[\u0370-\u03ff\u0400-\u052f\u0590-\u06ff\u0e00-\u0e7f\uac00-\ud7af]+"
    r"|[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+"
)
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
STOP_WORDS = frozenset(
    """a an and are as at be been but by can could did do does for from had has have how i if in
    into is it its me my no not of on or our shall she should so such than that the their them then
    there these they this those to was we were what when where which who whom whose why will with
    would you your any may under about upon""".split()
)
_SUFFIXES = (
    ("ational", "ate"), ("ization", "ize"), ("fulness", "ful"), ("iveness", "ive"),
    ("ations", "ate"), ("ation", "ate"), ("ments", ""), ("ment", ""), ("ities", "ity"),
    ("ances", ""), ("ance", ""), ("ences", ""), ("ence", ""), ("ings", ""), ("ing", ""),
    ("ions", ""), ("ion", ""), ("ies", "y"), ("ied", "y"), ("ed", ""), ("es", ""), ("ly", ""),
    ("s", ""),
)  # fmt: skip


def words(text: str) -> list[str]:
    """The search words of `text`, in order, with repeats; none is empty."""
    found: list[str] = []
    for token in _TOKEN.findall(unicodedata.normalize("NFKC", text).lower()):
        if _CJK.match(token):
            found += _pairs(token)
        elif token[0].isdigit():
            found.append(token.replace(",", "").rstrip("."))
        elif token not in STOP_WORDS:
            found.append(stem(token))
    return found


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """A light stem: plural, -ing, -ed, -ion, -ment and the like are cut from longer words."""
    word = word.replace("\u2019", "'").removesuffix("'s")
    if not word.isascii() or len(word) < 4 or word.endswith("ss"):
        return word
    for suffix, instead in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            word = word[: -len(suffix)] + instead
            break
    if len(word) > 4 and word[-1] == word[-2] and word[-1] not in "lsz":
        word = word[:-1]
    return word[:-1] if len(word) > 4 and word[-1] in "ey" else word


def _pairs(run: str) -> list[str]:
    """Overlapping character pairs of a Chinese run, and the single character of a run of one."""
    return [run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)]
