"""How usable extracted text is: fonts without a Unicode map give garbage that looks like text.

Knows characters and words; nothing of files.
"""

from __future__ import annotations

import re
import unicodedata

_BAD = frozenset({"Co", "Cn", "Cs"})  # private use, unassigned, surrogates
_WORD = re.compile(r"[A-Za-z]+")
_VOWELS = frozenset("aeiouyAEIOUY")
_ENOUGH_LETTERS = 120
GARBLED_BELOW = 0.6


def quality(text: str) -> float:
    """Share of `text` that reads as writing, from 0 (none) to 1; 0 for no text.

    Counts characters that no writing has (replacement, private use, control), then, where there
    is enough Latin text to tell, looks whether its words have vowels as words of any Latin
    language do: a font with shifted codes gives letters, but not words.
    """
    bare = [c for c in text if not c.isspace()]
    if not bare:
        return 0.0
    bad = sum(map(_is_bad, bare))
    clean = 1.0 - bad / len(bare)
    return clean * _latin_plausibility(text, len(bare))


def is_garbled(text: str) -> bool:
    """Whether there is text but it can't be used."""
    return bool(text.strip()) and quality(text) < GARBLED_BELOW


def _is_bad(character: str) -> bool:
    if character == "\ufffd":
        return True
    category = unicodedata.category(character)
    return category in _BAD or category == "Cc"


def _latin_plausibility(text: str, total: int) -> float:
    words = [word for word in _WORD.findall(text) if len(word) > 1]
    letters = sum(map(len, words))
    if letters < _ENOUGH_LETTERS or letters < 0.4 * total:
        return 1.0
    vowels = sum(c in _VOWELS for word in words for c in word) / letters
    with_vowel = sum(any(c in _VOWELS for c in word) for word in words) / len(words)
    camel = sum(bool(re.search(r"[a-z][A-Z]", word)) for word in words) / len(words)
    if vowels < 0.2 or with_vowel < 0.6 or camel > 0.4:
        return 0.5
    return 1.0
