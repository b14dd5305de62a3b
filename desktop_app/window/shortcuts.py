"""The keys of the window, as its help shows them."""

from __future__ import annotations

SHORTCUTS = (
    ("Ctrl+O", "Add documents"),
    ("Ctrl+N", "New conversation"),
    ("Ctrl+L", "Go to the question field"),
    ("Enter", "Send the question"),
    ("Shift+Enter", "New line in the question"),
    ("Esc", "Stop the answer, leave an edit, close the search"),
    ("Ctrl+F", "Find in the document"),
    ("Ctrl++  Ctrl+-  Ctrl+0", "Zoom in, zoom out, fit width"),
    ("Alt+Up  Alt+Down", "Previous page, next page"),
    ("F2  Delete", "Rename or delete the selected conversation"),
    ("Space  Delete", "Ask or leave out, or remove, the selected document"),
    ("Ctrl+B  Ctrl+D", "Show or hide the side bar, the document"),
    ("Ctrl+Shift+C", "Copy the last answer with its citations"),
    ("Ctrl+,", "Settings"),
    ("Ctrl+Q", "Quit"),
)


def shortcuts_text() -> str:
    """The keys as a table of plain text."""
    width = max(len(keys) for keys, _ in SHORTCUTS) + 4
    return "\n".join(f"{keys:<{width}}{what}" for keys, what in SHORTCUTS)
