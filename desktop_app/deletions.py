"""Deleted conversations whose transcript and cache are still to go.

The user sees a conversation vanish at once; its files go when the engine is free. Should the
program end before that, the note in the library's database makes the next start do it.
"""

from __future__ import annotations

import json
import logging

from desktop_app.composition import Composition
from engine.errors import UnknownConversation
from rag.store import Store

logger = logging.getLogger(__name__)

_KEY = "conversations_to_delete"


def note(store: Store, conversation: str) -> None:
    """Notes that a conversation's files are to go."""
    store.set_setting(_KEY, json.dumps([*pending(store), conversation]))


def pending(store: Store) -> list[str]:
    """Conversations whose files are still to go."""
    value = json.loads(store.setting(_KEY) or "[]")
    return [name for name in value if isinstance(name, str)]


def finish(composition: Composition) -> None:
    """Deletes what was noted; what fails stays noted. Opens the database for itself."""
    store = Store(composition.library_folder)
    try:
        for conversation in pending(store):
            try:
                composition.engine.delete(conversation)
            except UnknownConversation:
                logger.info("a deleted conversation had no transcript")
            left = [name for name in pending(store) if name != conversation]
            store.set_setting(_KEY, json.dumps(left))
    finally:
        store.close()
