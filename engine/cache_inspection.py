"""Looks at kept conversations without a model: lists, shows, checks and clears them.

It works on the folder alone, so it needs no engine, and leaves alone what another program uses.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from engine.cache_disk import NAME
from engine.cache_file import CacheFile
from engine.cache_identity import CacheIdentity
from engine.conversation import Conversation
from engine.disk import Disk
from engine.errors import CacheFileError, UnknownConversation
from engine.fake_backend import FakeBackend
from engine.folder_lock import FolderInUse, FolderLock
from engine.folders import SHARED, Folders
from engine.kept_transcript import KeptTranscript
from engine.prefixes import MARK
from engine.transcript_file import TranscriptHeader
from engine.types import TurnInfo


@dataclass(frozen=True, slots=True)
class KeptCache:
    """A cache on disk.

    Attributes:
        conversation: its id; "" for a shared beginning.
        key: of the shared beginning that it is, or builds on.
        turns, tokens: of the transcript.
        cached_tokens: tokens whose keys and values are in the file; exact_tokens: those of them
            that were written by prefill.
        words_bytes, cache_bytes, aside_bytes: sizes of the transcript, the cache and of damaged
            files that were set aside.
        model, layout: what made it. last_used: seconds since 1970.
        users: conversations that build on it.
        problem: what is wrong with the cache file, or "".
    """

    conversation: str
    key: str = ""
    turns: int = 0
    tokens: int = 0
    cached_tokens: int = 0
    exact_tokens: int = 0
    words_bytes: int = 0
    cache_bytes: int = 0
    aside_bytes: int = 0
    model: str = ""
    layout: str = ""
    last_used: float = 0.0
    in_use: bool = False
    users: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True)
class KeptDetails:
    """A conversation turn by turn, and the blocks of its cache."""

    cache: KeptCache
    turns: tuple[TurnInfo, ...]
    blocks: list[dict[str, object]] = field(default_factory=list)


def list_caches(root: Path) -> list[KeptCache]:
    """Every conversation, the last used first, and then the shared beginnings."""
    folders = Folders(root)
    found = [_look(folders, one)[0] for one in folders.conversations()]
    return found + [_look_shared(folder) for folder in sorted(root.glob(f"{SHARED}/*"))]


def show_cache(root: Path, conversation: str) -> KeptDetails:
    """One conversation. Raises UnknownConversation."""
    folders = Folders(root)
    if conversation not in folders.conversations():
        raise UnknownConversation(f"There is no conversation {conversation!r}.")
    cache, file, loaded = _look(folders, conversation)
    entries = file.index.entries if file else ()
    blocks: list[dict[str, object]] = [
        {
            "position": entry.position,
            "place": entry.place,
            "tokens": len(entry.ids),
            "exact": entry.exact,
            "bytes": entry.size,
        }
        for entry in entries
    ]
    return KeptDetails(cache, loaded.turn_infos(), blocks)


def verify_caches(root: Path, conversations: Iterable[str] = ()) -> Iterator[tuple[str, str]]:
    """Reads every block once; names and what is wrong, "" where all is well. Changes nothing."""
    folders = Folders(root)
    wanted = set(conversations)
    for one in folders.conversations():
        if not wanted or one in wanted:
            cache, file, _ = _look(folders, one)
            yield one, cache.problem or (_read_all(file) if file else "")
    for folder in sorted(root.glob(f"{SHARED}/*")) if not wanted else ():
        file, problem = _open(folder / NAME, [_shared_owner(folder)])
        yield f"{SHARED}/{folder.name}", problem or (_read_all(file) if file else "")


def clear_caches(root: Path, conversations: Iterable[str] = ()) -> tuple[int, list[str]]:
    """Removes keys and values (of all without names); the words stay.

    Returns:
        Bytes that were freed, and the conversations that another program uses.
    """
    disk, folders, wanted = Disk(), Folders(root), set(conversations)
    freed, busy = 0, []
    for one in folders.conversations():
        if wanted and one not in wanted:
            continue
        folder = folders.folder(one)
        lock = FolderLock(folder)
        try:
            lock.acquire()
        except FolderInUse:
            busy.append(one)
            continue
        freed += _remove(disk, folder)
        lock.release()
    if not wanted and not busy:
        for folder in root.glob(f"{SHARED}/*"):
            freed += _remove(disk, folder)
    return freed, busy


def _remove(disk: Disk, folder: Path) -> int:
    freed = 0
    for path in folder.glob(f"{NAME}*"):
        freed += path.stat().st_size
        disk.remove(path)
    return freed


def _look(folders: Folders, one: str) -> tuple[KeptCache, CacheFile | None, Conversation]:
    folder, disk = folders.folder(one), Disk()
    loaded = Conversation(one, FakeBackend(cells=1))
    kept = KeptTranscript.open(folders.transcript(one), disk, repair=False)
    kept.load(loaded)
    file, problem = _open(folder / NAME, _owners(kept.header))
    entries = file.index.entries if file else ()
    cache = KeptCache(
        conversation=one,
        key=file.index.shared if file else "",
        turns=len(loaded.transcript.turns),
        tokens=len(loaded.transcript.ids),
        cached_tokens=sum(len(entry.ids) for entry in entries),
        exact_tokens=sum(len(entry.ids) for entry in entries if entry.exact),
        words_bytes=_size(folders.transcript(one)),
        cache_bytes=_size(folder / NAME),
        aside_bytes=sum(_size(path) for path in folder.glob("*.bad")),
        model=kept.header.model,
        layout=file.identity.layout if file else "",
        last_used=folders.transcript(one).stat().st_mtime,
        in_use=_in_use(folder),
        problem=problem,
    )
    return cache, file, loaded


def _look_shared(folder: Path) -> KeptCache:
    file, problem = _open(folder / NAME, [_shared_owner(folder)])
    entries = file.index.entries if file else ()
    return KeptCache(
        conversation="",
        key=folder.name,
        cached_tokens=sum(len(entry.ids) for entry in entries),
        exact_tokens=sum(len(entry.ids) for entry in entries if entry.exact),
        cache_bytes=_size(folder / NAME),
        aside_bytes=sum(_size(path) for path in folder.glob("*.bad")),
        model=file.identity.fingerprint if file else "",
        layout=file.identity.layout if file else "",
        last_used=folder.stat().st_mtime,
        users=len(list(folder.glob("*.user"))),
        problem=problem,
    )


def _owners(header: TranscriptHeader) -> list[tuple[str, bytes]]:
    """Whose key the file may have: the conversation's, or that of the one it was forked from."""
    owners = [(header.conversation, header.salt)]
    return [*owners, (header.origin, header.origin_salt)] if header.origin else owners


def _shared_owner(folder: Path) -> tuple[str, bytes]:
    with contextlib.suppress(ValueError):
        return MARK + folder.name, bytes.fromhex(folder.name)
    return MARK + folder.name, b""


def _open(path: Path, owners: list[tuple[str, bytes]]) -> tuple[CacheFile | None, str]:
    """The file, and what is wrong with it."""
    problem = ""
    for conversation, salt in owners:
        file = CacheFile(path, CacheIdentity(conversation, salt, "", "", "", 0))
        try:
            file.read_index(anyones=True)
        except FileNotFoundError:
            return None, ""
        except (CacheFileError, OSError) as error:
            problem = problem or str(error)
        else:
            return file, ""
    return None, problem


def _read_all(file: CacheFile) -> str:
    try:
        for entry in file.index.entries:
            file.read_blocks([entry])
    except (CacheFileError, OSError) as error:
        return str(error)
    return ""


def _in_use(folder: Path) -> bool:
    lock = FolderLock(folder)
    try:
        lock.acquire()
    except FolderInUse:
        return True
    lock.release()
    return False


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
