"""Keeps conversations below the device: words on disk for good, keys and values while they pay.

This is the `Tier` that an engine uses. It joins the transcript files, the store of caches and the
folders; it decides nothing about devices, windows or answers.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from engine.backend import Backend
from engine.cache_disk import CacheDisk
from engine.cache_file import Block
from engine.cache_format import BlockEntry
from engine.cache_identity import CacheIdentity
from engine.cache_store import CacheStore
from engine.conversation import Conversation
from engine.disk import Disk
from engine.errors import OutOfCells, RestoreError
from engine.folders import Folders
from engine.prefixes import Prefixes
from engine.reader import Reader
from engine.restoring import fits, load_blocks, save_blocks, spans_behind
from engine.tier import Source
from engine.transcript_file import TranscriptHeader
from engine.types import EngineOptions
from engine.words import Words

_log = logging.getLogger(__name__)


class Keeper:
    """Implements `Tier`.

    Args:
        backend: whose states are kept.
        options: folder and budgets; without a folder, memory is all there is.
        notify: gets lines for the user; may be called from another thread.
        short: whether main memory is short. out_of_memory: is told that it was refused.
        disk: the file operations.
    """

    def __init__(
        self,
        backend: Backend,
        options: EngineOptions,
        notify: Callable[[str], None],
        *,
        short: Callable[[], bool] = lambda: False,
        out_of_memory: Callable[[], None] = lambda: None,
        disk: Disk | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._backend = backend
        self._short, self._out_of_memory = short, out_of_memory
        self._prompt = ""
        self._whole = not backend.info.can_trim
        disk = disk or Disk()
        self._words: Words | None = None
        cold: CacheDisk | None = None
        if options.cache_dir is not None:
            self._words = Words(Folders(options.cache_dir, disk), disk, notify)
            cold = CacheDisk(options.cache_dir, options.disk_budget, disk)
        self.store = CacheStore(
            cold,
            memory_budget=options.memory_budget,
            idle_seconds=options.idle_seconds,
            bytes_per_token=backend.info.kv_bytes_per_token,
            prefill_speed=lambda: self._reader.speed.value,
            notify=notify,
            clock=clock,
        )

    def bind(self, reader: Reader) -> None:
        """Gives it the words and the device of its engine."""
        self._reader = reader
        self._prompt = reader.template.digest
        identity = self._identity(self._new_header(""))
        folders = self._words.folders if self._words else None
        self._prefixes = Prefixes(reader.device, self.store, folders, identity)
        self.store.release_unused()  # what an earlier program didn't come to remove

    def conversations(self) -> list[str]:
        """Ids on disk, the last used first."""
        return self._words.folders.conversations() if self._words else []

    def find(self, conversation: Conversation) -> bool:
        """Fills a new conversation from disk. Raises FolderInUse."""
        kept = self._words.find(conversation.id) if self._words else None
        if kept is None or self._words is None:
            return False
        ours, header = self._new_header(""), kept.header
        if (header.model, header.prompt) == (ours.model, ours.prompt):
            kept.load(conversation)
        else:  # the same words in this model's tokens
            for turn, answer in kept.texts():
                self._reader.retell(conversation, turn, answer)
            header = replace(header, model=ours.model, prompt=ours.prompt)
            self._words.save(conversation, rewrite=True, header=header)
        self._register(header)
        return True

    def peek(self, conversation: Conversation) -> bool:
        """Fills a conversation to look at."""
        return self._words is not None and self._words.peek(conversation)

    def open(self, conversation: Conversation) -> None:
        """Reads it from disk into memory, behind the caller's back."""
        if self.store.known(conversation.id):
            self.store.prefetch(conversation.id)

    def begin(self, conversation: Conversation) -> None:
        """Pins it; a new one gets its folder. Raises FolderInUse."""
        if not self.store.known(conversation.id):
            header = self._new_header(conversation.id)
            if self._words is not None:
                self._words.begin(conversation.id, header)
            self._register(header)
        self.store.pin(conversation.id, True)

    def restore(self, conversation: Conversation) -> Source:
        """Loads the longest beginning that is kept, its own or a shared one."""
        id_ = conversation.id
        if not self.store.known(id_):
            return ""
        if not conversation.transcript.turns:
            return self._prefixes.attach(conversation)
        key = self._prefixes.of(conversation)[0] or self.store.shared(id_)
        source = self._prefixes.attach(conversation, key) if key else ""
        source = self._load(conversation) or source
        return source if conversation.held else self._prefixes.attach(conversation)

    def _load(self, conversation: Conversation) -> Source:
        """Loads what is kept of the conversation's own blocks."""

        def wanted(block: Block | BlockEntry) -> bool:
            return fits(conversation, block, whole=self._whole)

        blocks, source = self.store.take(conversation.id, wanted)
        try:
            count = load_blocks(conversation, self._reader.device, blocks)
        except OutOfCells:
            self.store.memory.put(conversation.id, blocks)
            return ""
        except RestoreError as error:
            _log.warning("the cache of %s can't be restored: %s", conversation.id, error)
            self.store.reject(conversation.id)
            return ""
        return source if count else ""

    def commit(self, conversation: Conversation) -> None:
        """Words now, keys and values behind the caller's back."""
        if self._words is not None:
            self._words.save(conversation)
        self._prefixes.share(conversation)
        self.sync(conversation)

    def sync(self, conversation: Conversation) -> None:
        """Brings the file up to what the device holds, behind the caller's back."""
        sequence = conversation.sequence
        if sequence is None or not conversation.held or not self.store.known(conversation.id):
            return
        key, count = self._prefixes.of(conversation)
        try:
            self.store.sync(
                conversation.id,
                spans_behind(conversation, count),
                conversation.transcript.ids,
                lambda start, stop: self._backend.save(sequence, start, stop),
                shared=key,
                whole=self._whole,
            )
        except MemoryError:  # the next turn saves what is missing
            self._out_of_memory()

    def end(self, conversation: Conversation) -> None:
        """Unpins it; of one that has no turn nothing stays."""
        if not self.store.known(conversation.id):
            return
        self.store.pin(conversation.id, False)
        if not conversation.transcript.turns:
            self._forget(conversation.id)

    def leave(self, conversation: Conversation) -> None:
        """Moves it from the device to memory."""
        if not self.store.known(conversation.id) or not conversation.held:
            return
        self.sync(conversation)
        if conversation.nbytes <= self.store.memory.budget and not self._short():
            _, count = self._prefixes.of(conversation)
            try:
                blocks = save_blocks(conversation, self._backend, count)
                self.store.memory.put(conversation.id, blocks)
            except MemoryError:
                self._out_of_memory()

    def order(self, conversations: list[Conversation]) -> list[Conversation]:
        """By what their leaving frees and their coming back would cost."""
        by_id = {one.id: one for one in conversations}
        sizes = {one.id: one.nbytes for one in conversations}
        known = [by_id.pop(id_) for id_ in self.store.memory.order(sizes)]
        return [*by_id.values(), *known]

    def expired(self) -> set[str]:
        """Lets what was idle for long leave memory; whose time that was."""
        return self.store.memory.sweep()

    def release_one(self) -> bool:
        """Lets the conversation that matters least leave memory."""
        return self.store.memory.release_one()

    def rewound(self, conversation: Conversation) -> None:
        """Nothing of what was taken back stays on disk."""
        if not self.store.known(conversation.id):
            return
        if self._words is not None:
            self._words.save(conversation, rewrite=True)
        if conversation.held:
            self.sync(conversation)
        else:
            self.store.prune(
                conversation.id, lambda block: fits(conversation, block, whole=self._whole)
            )

    def forked(self, source: Conversation, copy: Conversation) -> None:
        """Shares what is kept of `source` with `copy`."""
        if not self.store.known(source.id):
            return
        header = self._new_header(copy.id)
        folder: Path | None = None
        if self._words is not None:
            self._words.begin(copy.id, header)
            folder = self._words.folders.folder(copy.id)
        origin = self.store.fork(source.id, copy.id, folder, self._identity(header))
        if origin is not None:
            header = replace(header, origin=origin.conversation, origin_salt=origin.salt)
        if self._words is not None:
            self._words.save(copy, rewrite=True, header=header)
        self._prefixes.forked(source, copy)

    def delete(self, id: str) -> None:  # noqa: A002
        """Removes words, keys and values, everywhere."""
        if self.store.known(id):
            self.store.delete(id)
        if self._words is not None:
            self._words.delete(id)
        self._prefixes.forget(id)

    def nbytes(self, id: str) -> tuple[int, int]:  # noqa: A002
        """Bytes in memory and on disk."""
        return self.store.memory.nbytes(id), self._words.folders.nbytes(id) if self._words else 0

    def close(self) -> None:
        """Writes what is to be written and gives the folders back."""
        self.store.close()
        if self._words is not None:
            self._words.folders.close()

    def _new_header(self, id_: str) -> TranscriptHeader:
        return TranscriptHeader(id_, os.urandom(16), self._backend.info.fingerprint, self._prompt)

    def _identity(self, header: TranscriptHeader) -> CacheIdentity:
        info = self._backend.info
        return CacheIdentity(
            header.conversation,
            header.salt,
            info.fingerprint,
            self._prompt,
            self._backend.layout,
            info.kv_bytes_per_token,
        )

    def _register(self, header: TranscriptHeader) -> None:
        identity, origin = self._identity(header), None
        if header.origin:
            origin = replace(identity, conversation=header.origin, salt=header.origin_salt)
        folder = self._words.folders.folder(header.conversation) if self._words else None
        self.store.register(header.conversation, folder, identity, origin)

    def _forget(self, id_: str) -> None:
        self.store.forget(id_)
        if self._words is not None:
            self._words.forget(id_)
        self._prefixes.forget(id_)
