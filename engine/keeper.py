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
from engine.cache_format import BlockEntry, CacheIdentity
from engine.cache_store import CacheStore
from engine.conversation import Conversation
from engine.disk import Disk
from engine.errors import CacheFileError, OutOfCells, RestoreError
from engine.folders import Folders
from engine.kept_transcript import KeptTranscript
from engine.prefixes import Prefixes
from engine.reader import Reader
from engine.restoring import behind, fits, load_blocks, save_blocks
from engine.tier import Source
from engine.transcript_file import TranscriptHeader
from engine.types import EngineOptions

_log = logging.getLogger(__name__)


class Keeper:
    """Implements `Tier`.

    Args:
        backend: whose states are kept.
        options: folder and budgets; without a folder, memory is all there is.
        notify: gets lines for the user; may be called from another thread.
        short: whether main memory is short.
        disk: the file operations.
    """

    def __init__(
        self,
        backend: Backend,
        options: EngineOptions,
        notify: Callable[[str], None],
        *,
        short: Callable[[], bool] = lambda: False,
        disk: Disk | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._backend = backend
        self._notify, self._short = notify, short
        self._prompt = ""
        self._whole = not backend.info.can_trim
        self._disk = disk or Disk()
        self._folders: Folders | None = None
        cold: CacheDisk | None = None
        if options.cache_dir is not None:
            self._folders = Folders(options.cache_dir, self._disk)
            cold = CacheDisk(options.cache_dir, options.disk_budget, self._disk)
        self.store = CacheStore(
            cold,
            memory_budget=options.memory_budget,
            idle_seconds=options.idle_seconds,
            bytes_per_token=backend.info.kv_bytes_per_token,
            prefill_speed=lambda: self._reader.speed.value,
            notify=notify,
            clock=clock,
        )
        self._kept: dict[str, KeptTranscript] = {}
        self._told_full = False

    def bind(self, reader: Reader) -> None:
        """Gives it the words and the device of its engine."""
        self._reader = reader
        self._prompt = reader.template.digest
        identity = self._identity(self._new_header(""))
        self._prefixes = Prefixes(reader.device, self.store, self._folders, identity)

    def conversations(self) -> list[str]:
        """Ids on disk, the last used first."""
        return self._folders.conversations() if self._folders else []

    def find(self, conversation: Conversation) -> bool:
        """Fills a new conversation from disk. Raises FolderInUse."""
        folders = self._folders
        if folders is None or not folders.transcript(conversation.id).exists():
            return False
        folders.acquire(conversation.id)
        try:
            kept = KeptTranscript.open(folders.transcript(conversation.id), self._disk)
        except (CacheFileError, OSError) as error:
            _log.warning("the transcript of %s can't be read: %s", conversation.id, error)
            self._notify(
                f"The saved conversation can't be read ({error}); it was kept aside as a .bad file."
            )
            return False
        if kept.damaged:
            self._notify(
                f"The end of a saved conversation was damaged; the original is {kept.damaged}."
            )
        self._kept[conversation.id] = kept
        self._fill(conversation, kept)
        self._register(conversation.id, kept.header)
        return True

    def open(self, conversation: Conversation) -> None:
        """Reads it from disk into memory, behind the caller's back."""
        if self.store.known(conversation.id):
            self.store.prefetch(conversation.id)

    def begin(self, conversation: Conversation) -> None:
        """Pins it; a new one gets its folder. Raises FolderInUse."""
        if not self.store.known(conversation.id):
            header = self._new_header(conversation.id)
            if self._folders is not None:
                self._folders.acquire(conversation.id)
                path = self._folders.transcript(conversation.id)
                self._kept[conversation.id] = KeptTranscript.new(path, header, self._disk)
            self._register(conversation.id, header)
        self.store.pin(conversation.id, True)

    def restore(self, conversation: Conversation) -> Source:
        """Loads the longest beginning that is kept, its own or a shared one. Raises OutOfCells."""
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
        """Loads what is kept of the conversation's own blocks. Raises OutOfCells."""

        def wanted(block: Block | BlockEntry) -> bool:
            return fits(conversation, block, whole=self._whole)

        blocks, source = self.store.take(conversation.id, wanted)
        try:
            count = load_blocks(conversation, self._backend, blocks)
        except OutOfCells:
            self.store.memory.put(conversation.id, blocks)
            raise
        except RestoreError as error:
            _log.warning("the cache of %s can't be restored: %s", conversation.id, error)
            self.store.reject(conversation.id)
            return ""
        return source if count else ""

    def commit(self, conversation: Conversation) -> None:
        """Words now, keys and values behind the caller's back."""
        self._save_words(conversation, rewrite=False)
        self._prefixes.share(conversation)
        self.sync(conversation)

    def sync(self, conversation: Conversation) -> None:
        """Brings the file up to what the device holds, behind the caller's back."""
        sequence = conversation.sequence
        if sequence is None or not conversation.held or not self.store.known(conversation.id):
            return
        key, count = self._prefixes.of(conversation)
        self.store.sync(
            conversation.id,
            behind(conversation.spans(), count),
            conversation.transcript.ids,
            lambda start, stop: self._backend.save(sequence, start, stop),
            shared=key,
            whole=self._whole,
        )

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
            blocks = save_blocks(conversation, self._backend, count)
            self.store.memory.put(conversation.id, blocks)

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
        self._save_words(conversation, rewrite=True)
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
        if self._folders is not None:
            folder = self._folders.acquire(copy.id)
            kept = KeptTranscript.new(self._folders.transcript(copy.id), header, self._disk)
            self._kept[copy.id] = kept
        origin = self.store.fork(source.id, copy.id, folder, self._identity(header))
        if origin is not None:
            header = replace(header, origin=origin.conversation, origin_salt=origin.salt)
        self._save_words(copy, rewrite=True, header=header)
        self._prefixes.forked(source, copy)

    def delete(self, id: str) -> None:  # noqa: A002
        """Removes words, keys and values, everywhere."""
        if self.store.known(id):
            self.store.delete(id)
        self._kept.pop(id, None)
        if self._folders is not None:
            self._folders.delete(id)
        self._prefixes.forget(id)

    def nbytes(self, id: str) -> tuple[int, int]:  # noqa: A002
        """Bytes in memory and on disk."""
        return self.store.memory.nbytes(id), self._folders.nbytes(id) if self._folders else 0

    def close(self) -> None:
        """Writes what is to be written and gives the folders back."""
        self.store.close()
        if self._folders is not None:
            self._folders.close()

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

    def _register(self, id_: str, header: TranscriptHeader) -> None:
        identity, origin = self._identity(header), None
        if header.origin:
            origin = replace(identity, conversation=header.origin, salt=header.origin_salt)
        folder = self._folders.folder(id_) if self._folders else None
        self.store.register(id_, folder, identity, origin)

    def _fill(self, conversation: Conversation, kept: KeptTranscript) -> None:
        """The transcript in this model's tokens."""
        ours = self._new_header("")
        if (kept.header.model, kept.header.prompt) == (ours.model, ours.prompt):
            kept.load(conversation)
            return
        for turn, answer in kept.texts():
            self._reader.retell(conversation, turn, answer)
        header = replace(kept.header, model=ours.model, prompt=ours.prompt)
        self._save_words(conversation, rewrite=True, header=header)

    def _save_words(
        self,
        conversation: Conversation,
        *,
        rewrite: bool,
        header: TranscriptHeader | None = None,
    ) -> None:
        kept = self._kept.get(conversation.id)
        if kept is None:
            return
        try:
            if rewrite:
                kept.rewrite(conversation, header)
            else:
                kept.save(conversation)
            self._told_full = False
        except OSError as error:
            _log.warning("the words of %s weren't saved: %s", conversation.id, error)
            if not self._told_full:
                self._told_full = True
                self._notify(
                    f"The conversation can't be saved ({error.strerror or error}); it will be lost "
                    "when the program ends. Free some disk space and ask again."
                )

    def _forget(self, id_: str) -> None:
        self.store.forget(id_)
        self._kept.pop(id_, None)
        if self._folders is not None:
            self._folders.release(id_)
        self._prefixes.forget(id_)
