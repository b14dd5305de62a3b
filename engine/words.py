"""The words of conversations on disk: found, saved with each turn, taken back, removed.

It knows transcripts and folders, and no keys and values. A full disk is told to the user once; the
words stay in memory and are saved with the next turn.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from engine.conversation import Conversation
from engine.disk import Disk
from engine.errors import CacheFileError
from engine.folders import Folders
from engine.kept_transcript import KeptTranscript
from engine.transcript_file import TranscriptHeader

_log = logging.getLogger(__name__)


class Words:
    """Transcripts under one root.

    Args:
        folders: where they are. disk: the file operations.
        notify: gets lines for the user.
    """

    def __init__(self, folders: Folders, disk: Disk, notify: Callable[[str], None]) -> None:
        self.folders = folders
        self._disk, self._notify = disk, notify
        self._kept: dict[str, KeptTranscript] = {}
        self._told_full = False

    def find(self, id_: str) -> KeptTranscript | None:
        """Takes a conversation's folder and reads its transcript, if there is one.

        Raises:
            FolderInUse: another program has it.
        """
        path = self.folders.transcript(id_)
        if not path.exists():
            return None
        try:
            self.folders.acquire(id_)
            kept = KeptTranscript.open(path, self._disk)
            kept.check()
        except (CacheFileError, OSError) as error:
            _log.warning("the transcript of %s can't be read: %s", id_, error)
            self._disk.set_aside(path)
            self._notify(
                f"A saved conversation can't be read ({error}); it was kept as a .bad file."
            )
            return None
        if kept.damaged:
            self._notify(
                f"The end of a saved conversation was damaged; the original is {kept.damaged}."
            )
        self._kept[id_] = kept
        return kept

    def peek(self, conversation: Conversation) -> bool:
        """Fills a conversation to look at, and changes nothing on disk."""
        try:
            path = self.folders.transcript(conversation.id)
            KeptTranscript.open(path, self._disk, repair=False).load(conversation)
        except (CacheFileError, OSError):
            return False
        return True

    def begin(self, id_: str, header: TranscriptHeader) -> None:
        """Takes the folder of a new conversation. Raises FolderInUse."""
        path = self.folders.transcript(id_)
        try:
            self.folders.acquire(id_)
        except OSError as error:
            self._tell(id_, error)
        self._kept[id_] = KeptTranscript.new(path, header, self._disk)

    def save(
        self,
        conversation: Conversation,
        *,
        rewrite: bool = False,
        header: TranscriptHeader | None = None,
    ) -> None:
        """Appends new turns; with `rewrite` the file is made anew, under `header` if given."""
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
            self._tell(conversation.id, error)

    def forget(self, id_: str) -> None:
        """Gives a conversation's folder back; an empty one is removed."""
        self._kept.pop(id_, None)
        self.folders.release(id_)

    def delete(self, id_: str) -> None:
        """Removes a conversation's folder with everything in it."""
        self._kept.pop(id_, None)
        self.folders.delete(id_)

    def _tell(self, id_: str, error: OSError) -> None:
        _log.warning("the words of %s aren't saved: %s", id_, error)
        if not self._told_full:
            self._told_full = True
            self._notify(
                f"The conversation can't be saved ({error.strerror or error}); it will be lost "
                "when the program ends. Check the disk's free space and the folder's rights."
            )
