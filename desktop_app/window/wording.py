"""Numbers, sizes, times and names as people read them. It knows no widget."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime


def number(value: float) -> str:
    """1234567 as "1,234,567"."""
    return f"{round(value):,}"


def size(count: float) -> str:
    """Bytes in the unit that leaves one to three digits."""
    value = float(max(count, 0))
    for unit in ("B", "KB", "MB", "GB"):
        if value < 1000 or unit == "GB":
            return f"{value:.0f} {unit}" if value >= 10 or unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    raise AssertionError("unreachable")


def seconds(milliseconds: float) -> str:
    """A duration: "180 ms", "1.4 s", "2 min 5 s"."""
    if milliseconds < 1000:
        return f"{milliseconds:.0f} ms"
    value = milliseconds / 1000
    if value < 60:
        return f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes} min {rest} s"


def plural(count: int, one: str, many: str = "") -> str:
    """A count with its noun: "1 page", "3 pages"."""
    return f"{number(count)} {one if count == 1 else many or one + 's'}"


def ago(moment: str, now: datetime | None = None) -> str:
    """An ISO 8601 moment as people say it: "just now", "5 min ago", "yesterday", "12 Mar 2025"."""
    try:
        then = datetime.fromisoformat(moment)
    except ValueError:
        return ""
    if then.tzinfo is None:
        then = then.replace(tzinfo=UTC)
    present = now or datetime.now(UTC)
    passed = (present - then).total_seconds()
    if passed < 60:
        return "just now"
    if passed < 3600:
        return f"{int(passed // 60)} min ago"
    days = (present.astimezone().date() - then.astimezone().date()).days
    if days == 0:
        return f"{int(passed // 3600)} h ago"
    if days == 1:
        return "yesterday"
    if days < 7:
        return f"{days} days ago"
    return f"{then.astimezone():%d %b %Y}".lstrip("0")


def title_of(question: str, limit: int = 60) -> str:
    """A conversation's name from its first question: one line, cut at a word."""
    line = " ".join(question.split())
    if len(line) <= limit:
        return line
    cut = line[: limit - 1]
    space = cut.rfind(" ")
    return (cut[:space] if space > limit // 2 else cut).rstrip(" ,;:，；：、") + "…"


def pages(numbers: Iterable[int]) -> str:
    """Page numbers in order, each once: "p. 3, p. 12"."""
    return ", ".join(f"p. {page}" for page in dict.fromkeys(numbers))


def restored(tier: str) -> str:
    """Where a turn's cache came from, for the status line."""
    return {
        "memory": "from memory",
        "disk": "restored from disk",
        "prefill": "read again",
    }.get(tier, "")
