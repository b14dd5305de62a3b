"""Whether a text is Chinese. Knows characters only."""

from __future__ import annotations

import re

_HAN = re.compile(r"[\u4e00-\u9fff]")


def is_chinese(text: str) -> bool:
    """Whether it holds a Chinese character."""
    return bool(_HAN.search(text))


def count_chinese(text: str) -> int:
    """How many Chinese characters it holds."""
    return len(_HAN.findall(text))
