r"""A conversation's words on disk: texts, token ids and records, appended and durable per turn.

This small file is what a conversation is; the cache file beside it only saves time. It knows
nothing of models: records are JSON objects, and what they mean is the caller's business.

Format, version 1: a line of ASCII per record, `CHECKSUM LENGTH JSON\n`, where the checksum is the
first 16 hex digits of blake2b over the JSON and the line's number, so that lines can't be
doubled, dropped or moved unnoticed. The first line is the header `{"format": "clausebook
transcript", "version": 1, "conversation": id, "salt": hex, …}`. A last line that is torn by a
crash is dropped at the next start; a damaged line elsewhere ends what can be read, and the file is
kept aside for the user.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from engine.disk import Disk
from engine.errors import CacheFileError

NAME = "transcript"
FORMAT = "clausebook transcript"
VERSION = 1
MAX_SIZE = 1 << 30
MAX_HEADER = 1 << 20
_SLUG = re.compile(r"[^a-z0-9]+")


Record = dict[str, object]


@dataclass(frozen=True, slots=True)
class TranscriptHeader:
    """The first record.

    Attributes:
        conversation: its id, as the caller chose it. salt: random; part of the cache's key.
        model: fingerprint of the model whose token ids are kept. prompt: hash of the tokenizer
            and chat template.
        origin, origin_salt: of the conversation that this one was forked from; the cache file
            has their key for as long as the two share it.
    """

    conversation: str
    salt: bytes = field(default_factory=lambda: os.urandom(16))
    model: str = ""
    prompt: str = ""
    origin: str = ""
    origin_salt: bytes = b""

    def to_record(self) -> Record:
        """As JSON."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "conversation": self.conversation,
            "salt": self.salt.hex(),
            "model": self.model,
            "prompt": self.prompt,
            "origin": self.origin,
            "origin_salt": self.origin_salt.hex(),
        }

    @staticmethod
    def from_record(record: Record) -> TranscriptHeader:
        """Raises CacheFileError unless `record` is the header of a file this program reads."""
        if record.get("format") != FORMAT:
            raise CacheFileError("it isn't a transcript")
        if record.get("version") != VERSION:
            raise CacheFileError(f"it has version {record.get('version')}, not {VERSION}")
        names = ("conversation", "salt", "model", "prompt", "origin", "origin_salt")
        id_, salt, model, prompt, origin, other = (str(record.get(name, "")) for name in names)
        try:
            return TranscriptHeader(
                id_, bytes.fromhex(salt), model, prompt, origin, bytes.fromhex(other)
            )
        except ValueError as error:
            raise CacheFileError("its header is damaged") from error


class TranscriptFile:
    """An append-only list of records on disk.

    Use `open_transcript` for one that exists and `create` for a new one.

    Attributes:
        header: the first record. records: the others, in order.
        damaged: the name under which a damaged original was kept aside, or "".
    """

    def __init__(self, path: Path, header: TranscriptHeader, disk: Disk | None = None) -> None:
        """An empty transcript in memory; nothing is written yet."""
        self.path = path
        self.header = header
        self.records: list[Record] = []
        self.damaged = ""
        self._disk = disk or Disk()
        self._end = 0

    def append(self, records: list[Record]) -> None:
        """Adds records and returns when they are durable.

        Raises:
            OSError: no space, or the device fails; the file holds what it held before.
        """
        if not records:
            return
        if not self._end:
            self.rewrite(records)
            return
        first = 1 + len(self.records)
        data = b"".join(_pack(first + number, record) for number, record in enumerate(records))
        with self._disk.open_write(self.path) as file:
            try:
                self._disk.write_at(file, self._end, [data])
                file.truncate(self._end + len(data))
                self._disk.sync(file)
            except OSError:
                with contextlib.suppress(OSError):
                    file.truncate(self._end)
                raise
        self._end += len(data)
        self.records += records

    def rewrite(self, records: list[Record], header: TranscriptHeader | None = None) -> None:
        """Replaces the whole file at once, atomically."""
        header = header or self.header
        lines = [_pack(0, header.to_record())]
        lines += [_pack(number, record) for number, record in enumerate(records, start=1)]
        data = b"".join(lines)
        temporary = self.path.with_name(f"{self.path.name}.tmp")
        self._disk.make_folder(self.path.parent)
        self._disk.remove(temporary)
        try:
            with self._disk.open_write(temporary, create=True) as file:
                self._disk.write_at(file, 0, [data])
                self._disk.sync(file)
            self._disk.replace(temporary, self.path)
        except BaseException:
            self._disk.remove(temporary)
            raise
        self.header, self.records, self._end = header, list(records), len(data)

    @property
    def nbytes(self) -> int:
        """Bytes of the file."""
        return self._end

    def read(self, *, repair: bool = True) -> None:
        """Reads the file, dropping a torn last line.

        With `repair`, a damaged file is kept aside under another name, and what could be read of
        it takes its place.

        Raises:
            FileNotFoundError: there is no file.
            CacheFileError: nothing of it can be read; it was kept aside.
        """
        try:
            with self._disk.open_read(self.path) as file:
                data = _read_all(file)
            records, good = _unpack_all(data)
            if not records:
                raise CacheFileError("its header is damaged")
            header = TranscriptHeader.from_record(records[0])
        except CacheFileError:
            if repair:
                self._disk.set_aside(self.path)
            raise
        self.header, self.records, self._end = header, records[1:], good
        if repair and good < len(data) and not is_torn(data[good:]):
            aside = self._disk.set_aside(self.path)
            self.damaged = aside.name if aside else self.path.name
            self.rewrite(self.records)


def open_transcript(path: Path, disk: Disk | None = None, *, repair: bool = True) -> TranscriptFile:
    """Reads the transcript at `path`. Raises as `TranscriptFile.read` does."""
    transcript = TranscriptFile(path, TranscriptHeader(""), disk)
    transcript.read(repair=repair)
    return transcript


def read_header(path: Path, disk: Disk | None = None) -> TranscriptHeader:
    """The header alone. Raises FileNotFoundError, CacheFileError."""
    with (disk or Disk()).open_read(path) as file:
        line, newline, _ = file.read(MAX_HEADER).partition(b"\n")
    record = _unpack(0, line) if newline else None
    if record is None:
        raise CacheFileError("its header is damaged")
    return TranscriptHeader.from_record(record)


def is_torn(tail: bytes) -> bool:
    """Whether `tail`, which isn't a good record, can be what a crash leaves of one append.

    A crash leaves a beginning, or blocks of zeros; it doesn't leave a whole line that is wrong.
    """
    return b"\n" not in tail or not tail.strip(b"\0")


def folder_name(conversation: str) -> str:
    """A folder's name for any id: safe on every file system, no two ids alike."""
    raw = conversation.encode("utf-8", "surrogatepass")
    digest = hashlib.blake2b(raw, digest_size=10).hexdigest()
    slug = _SLUG.sub("-", conversation.lower()).strip("-")[:24].strip("-")
    return f"{slug}-{digest}" if slug else digest


def _checksum(number: int, text: bytes) -> str:
    return hashlib.blake2b(text, digest_size=8, salt=number.to_bytes(16, "little")).hexdigest()


def _pack(number: int, record: Record) -> bytes:
    text = json.dumps(record, separators=(",", ":")).encode("ascii")
    return f"{_checksum(number, text)} {len(text)} ".encode("ascii") + text + b"\n"


def _unpack_all(data: bytes) -> tuple[list[Record], int]:
    """The good records from the start, and how many bytes they take."""
    records: list[Record] = []
    at = 0
    while (stop := data.find(b"\n", at)) >= 0:
        record = _unpack(len(records), data[at:stop])
        if record is None:
            break
        records.append(record)
        at = stop + 1
    return records, at


def _unpack(number: int, line: bytes) -> Record | None:
    checksum, _, rest = line.partition(b" ")
    length, _, text = rest.partition(b" ")
    if length != str(len(text)).encode() or checksum != _checksum(number, text).encode():
        return None
    try:
        record = json.loads(text)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


def _read_all(file: BinaryIO) -> bytes:
    size = file.seek(0, os.SEEK_END)
    if size > MAX_SIZE:
        raise CacheFileError(f"it has {size} bytes, more than a transcript can have")
    file.seek(0)
    data = bytearray()
    while part := file.read(size + 1 - len(data)):
        data += part
    return bytes(data)
