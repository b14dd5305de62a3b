"""Beginnings that several conversations have in common, computed once.

Only what is shared on purpose counts: the system prompt, and a document that is read whole. Such a
beginning is found by its content (model, layout and token ids), lies on the device as a sequence
of its own that conversations fork from, and on disk as a file of its own that theirs build on.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator

import numpy as np

from engine.cache_identity import CacheIdentity
from engine.cache_store import CacheStore
from engine.conversation import Conversation
from engine.device import Device
from engine.errors import NoFreeSequence, OutOfCells, RestoreError
from engine.folders import Folders
from engine.restoring import fits, load_blocks
from engine.tier import Source
from engine.transcript import Transcript
from engine.window import Window

MARK = "\0shared/"  # no user's conversation has such an id
LEAST_TOKENS = 24
_FAR = 1 << 30


class Prefixes:
    """Shared beginnings of conversations.

    Args:
        device: where they lie. store: where they are kept. folders: their places on disk.
        identity: what a cache must match, whoever's it is.
    """

    def __init__(
        self, device: Device, store: CacheStore, folders: Folders | None, identity: CacheIdentity
    ) -> None:
        self._device, self._store, self._folders = device, store, folders
        self._identity = identity
        self._known: dict[str, Conversation] = {}
        self._used: dict[str, tuple[str, int]] = {}

    def of(self, conversation: Conversation) -> tuple[str, int]:
        """Key and length of the beginning that a conversation builds on; ("", 0) if none.

        It counts only while the conversation still has all of it in view and where it was.
        """
        key, count = self._used.get(conversation.id, ("", 0))
        return (key, count) if count and _begins(conversation, count) else ("", 0)

    def attach(self, conversation: Conversation, key: str = "") -> Source:
        """Lets an empty conversation begin with a fork of what is shared.

        Args:
            conversation: nothing of it is on the device.
            key: which beginning; without it, the longest that is known or kept.

        Returns:
            From where it came; "" if there is none or it was on the device.
        """
        for found, count in self._candidates(conversation.transcript):
            if key and found != key:
                continue
            if not _begins(conversation, count):
                continue
            prefix = self._find(found, conversation, count)
            with self._device.pinned(prefix), self._device.pinned(conversation):
                source = self._bring(prefix)
                if prefix.held < count:
                    continue
                conversation.leave_device()
                try:
                    conversation.sequence = self._device.fork(_sequence(prefix))
                except NoFreeSequence:
                    self._device.place(conversation)
                    return ""
                self._device.place(conversation)
            conversation.held = count
            self._use(conversation, found, count)
            return source
        return ""

    def share(self, conversation: Conversation) -> None:
        """Makes the beginnings of a new conversation, which is on the device, known to others."""
        backend = self._device.backend
        if conversation.id in self._used or not backend.info.can_trim:
            return
        for key, count in self._candidates(conversation.transcript):
            exact = all(place >= count for place in conversation.decoded)
            if conversation.held < count or not exact or not _begins(conversation, count):
                continue
            prefix = self._find(key, conversation, count)
            if prefix.held < count:
                try:
                    with self._device.pinned(conversation), self._device.pinned(prefix):
                        prefix.leave_device()
                        prefix.sequence = self._device.fork(_sequence(conversation))
                        self._device.place(prefix)
                except NoFreeSequence:
                    return
                backend.remove(_sequence(prefix), count, _FAR)
                prefix.held = count
                self._keep(prefix)
            if conversation.id not in self._used:
                self._use(conversation, key, count)

    def forked(self, source: Conversation, copy: Conversation) -> None:
        """A copy builds on what its source builds on."""
        if source.id in self._used:
            self._use(copy, *self._used[source.id])

    def forget(self, id_: str) -> None:
        """A conversation is gone; what nobody builds on any more goes with it."""
        self._used.pop(id_, None)
        in_use = {key for key, _ in self._used.values()}
        gone = self._store.release_unused() if self._folders else set()
        for key, prefix in list(self._known.items()):
            unused = prefix.id in gone if self._folders else key not in in_use
            if unused:
                self._device.forget(prefix)
                self._store.forget(prefix.id)
                del self._known[key]

    def _candidates(self, transcript: Transcript) -> Iterator[tuple[str, int]]:
        """Keys and lengths of what may be shared, the longest first."""
        for count in transcript.shareable:
            if count >= LEAST_TOKENS:
                yield self._key(transcript.ids[:count]), count

    def _key(self, ids: list[int]) -> str:
        one = self._identity
        digest = hashlib.blake2b(digest_size=16, person=b"clausebook share")
        digest.update("\0".join((one.fingerprint, one.prompt, one.layout)).encode())
        digest.update(np.asarray(ids, "<u4").tobytes())
        return digest.hexdigest()

    def _find(self, key: str, conversation: Conversation, count: int) -> Conversation:
        if key not in self._known:
            prefix = Conversation(MARK + key, self._device.backend)
            prefix.transcript.ids = conversation.transcript.ids[:count]
            prefix.window = Window(count)
            self._known[key] = prefix
            one = self._identity
            identity = CacheIdentity(
                prefix.id, bytes.fromhex(key), one.fingerprint, one.prompt, one.layout,
                one.bytes_per_token,
            )  # fmt: skip
            folder = self._folders.shared(key) if self._folders else None
            self._store.register(prefix.id, folder, identity, None)
        return self._known[key]

    def _bring(self, prefix: Conversation) -> Source:
        """Gets a beginning from below the device, if it is there."""
        if prefix.held:
            return ""
        blocks, source = self._store.take(prefix.id, lambda block: fits(prefix, block, whole=False))
        if not blocks:
            return ""
        with contextlib.suppress(OutOfCells, NoFreeSequence, RestoreError):
            self._device.place(prefix)
            load_blocks(prefix, self._device, blocks)
            return source
        self._device.forget(prefix)
        return ""

    def _keep(self, prefix: Conversation) -> None:
        sequence, backend = _sequence(prefix), self._device.backend
        self._store.sync(
            prefix.id,
            prefix.spans(),
            prefix.transcript.ids,
            lambda start, stop: backend.save(sequence, start, stop),
        )

    def _use(self, conversation: Conversation, key: str, count: int) -> None:
        self._used[conversation.id] = key, count
        if self._folders is not None:
            self._store.mark_use(MARK + key, self._folders.folder(conversation.id))


def _begins(conversation: Conversation, count: int) -> bool:
    """Whether the first `count` places are in view, where they would be in any conversation."""
    runs = conversation.window.runs
    return bool(runs) and not runs[0].start and not runs[0].position and len(runs[0]) >= count


def _sequence(conversation: Conversation) -> int:
    assert conversation.sequence is not None
    return conversation.sequence
