"""Raw pages to clean pages: running lines dropped, printed numbers read, paragraphs reflowed.

Looks at all pages of a document at once, since what repeats from page to page is no text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from rag.lines import join, paragraphs, tidy
from rag.quality import is_garbled
from rag.raw_page import RawPage
from rag.running import drop_running, left_out
from rag.types import Page, PageStatus


def clean_pages(raw: Sequence[RawPage]) -> list[Page]:
    """Pages as readers see their text; the numbers printed on them beside the physical ones."""
    rows = [[tidy(line) for line in page.text.split("\n")] for page in raw]
    pages: list[Page] = []
    for page, had, (kept, printed) in zip(raw, rows, drop_running(rows), strict=True):
        text = "\n".join(paragraphs(kept, left_out(had, kept)))
        status: PageStatus = "ocr" if page.pieces else "text"
        if is_garbled("\n".join(kept)):
            status = "garbled"
        elif not re.search(r"\w", text):
            text, status = "", "empty"
        label = page.label if page.label != str(page.number) else ""
        pages.append(Page(page.number, text, printed or label, status, page.pieces))
    return _join_broken_words(pages)


def _join_broken_words(pages: Sequence[Page]) -> list[Page]:
    """A word broken between two pages stands whole on the first."""
    done: list[Page] = []
    for page in pages:
        head = re.match(r"[a-z]+[,.;:]?\s*", page.text)
        if done and head and re.search(r"[a-z]{2}[-\u2010]$", done[-1].text):
            last = done[-1]
            text = join(last.text, head.group().strip())
            done[-1] = replace(last, text=text)
            page = replace(page, text=page.text[head.end() :])
        done.append(page)
    return done
