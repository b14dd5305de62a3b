"""Words for what a survey of whole documents found. It knows findings, not how they were found."""

from __future__ import annotations

from rag.whole_document import Findings

_LONGEST = 320


def lines(found: Findings, several_documents: bool = False) -> list[str]:
    """A bullet a finding: heading, page, the sentence verbatim, the mark of its citation."""
    out = []
    for number, finding in enumerate(found.found, start=1):
        quote = finding.quote
        text = " ".join(quote.shown.split())
        if len(text) > _LONGEST:
            text = text[:_LONGEST].rsplit(" ", 1)[0] + " …"
        where = f"p. {quote.page}"
        if several_documents:
            where = f"{quote.chunk.document}, {where}"
        out.append(f"- **{finding.heading}** ({where}): {text} [{number}]")
    return out


def closing(found: Findings, chinese: bool = False) -> str:
    """How much was read, how much of it is shown, and what was not found."""
    shown = len(found.found)
    if chinese:
        text = f"已阅读全部 {found.pages} 页。"
        if found.missing:
            text += f"未找到关于以下内容的条款：{'、'.join(found.missing)}。"
        return text + (
            f"共找到 {found.total} 处，列出前 {shown} 处。" if found.total > shown else ""
        )
    text = f"Read {found.pages} of {found.pages} pages."
    if found.missing:
        text += f" No clause was found on: {', '.join(found.missing).lower()}."
    if found.total > shown:
        text += f" {found.total} places were found; the first {shown} are listed."
    return text
