"""Drops the saved keys and values of conversations; their texts stay, to be read again in need.

The engine is ended first, so that no file is in use and nothing is written back from memory.
"""

from __future__ import annotations

from desktop_app import paths
from desktop_app.composition import Composition


def clear(composition: Composition, conversation: str = "") -> int:
    """Drops the cache of one conversation, or of all with what they share; returns bytes freed."""
    from engine.cache_disk import NAME
    from engine.folders import SHARED, Folders

    composition.close()
    root = paths.conversations_folder(composition.library_folder)
    if conversation:
        files = [Folders(root).folder(conversation) / NAME]
    else:
        files = [*root.glob(f"*/{NAME}"), *root.glob(f"{SHARED}/*/{NAME}")]
    freed = 0
    for file in files:
        if file.is_file():
            freed += file.stat().st_size
            file.unlink()
    return freed
