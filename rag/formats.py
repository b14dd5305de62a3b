"""What kind of file it is, judged by its content, and the text of plain text files.

Knows bytes and encodings; it opens no PDF (see `pdf`) and trusts no file name, except that a file
named .pdf must hold a PDF.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

from rag.errors import NotReadable

FileKind = Literal["pdf", "text"]

SUFFIXES = frozenset({".pdf", ".txt", ".text", ".md", ".markdown"})
"""Files that are taken from a folder; a file named one by one may have any suffix."""

_HEAD = 4096
_PDF_WITHIN = 1024  # where readers accept the %PDF- mark
_MOST_TEXT = 64 * 1024 * 1024
_BOMS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_MAGIC = (
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"II*\x00", "a TIFF picture"),
    (b"MM\x00*", "a TIFF picture"),
    (b"PK\x03\x04", "a Zip archive or an Office document"),
    (b"\xd0\xcf\x11\xe0", "an old Office document"),
    (b"{\\rtf", "an RTF document"),
    (b"%!PS", "a PostScript file"),
)
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_CJK = re.compile(r"[\u3400-\u9fff]")


def sniff(path: Path) -> FileKind:
    """Says what a file holds.

    Raises:
        NotReadable: it is missing, not a file, empty, or neither PDF nor text.
    """
    name = path.name
    try:
        if not path.exists():
            raise NotReadable(f"{name} does not exist; check the path.")
        if not path.is_file():
            raise NotReadable(f"{name} is not a file; give a PDF or text file.")
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except OSError as error:
        raise NotReadable(
            f"{name} can't be opened: {error.strerror}; check who may read it."
        ) from (error)
    if not head.strip(b"\x00\t\r\n \x0c"):
        raise NotReadable(f"{name} is empty; save or download it again.")
    if b"%PDF-" in head[:_PDF_WITHIN]:
        return "pdf"
    found = _describe(head)
    if path.suffix.lower() == ".pdf":
        raise NotReadable(f"{name} is not a PDF: it looks like {found}; give the original PDF.")
    if found != "plain text":
        raise NotReadable(f"{name} looks like {found}; save it as PDF and add that.")
    return "text"


def _describe(head: bytes) -> str:
    for magic, what in _MAGIC:
        if head.startswith(magic):
            return what
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "plain text"
    return "a binary file" if _CONTROL.search(head) else "plain text"


def read_text(path: Path) -> list[str]:
    """The pages of a text file: it is split at form feeds, so mostly there is one.

    Raises:
        NotReadable: the file is too large or can't be read.
    """
    try:
        if path.stat().st_size > _MOST_TEXT:
            raise NotReadable(f"{path.name} is over 64 MB of text; split it and add the parts.")
        data = path.read_bytes()
    except OSError as error:
        raise NotReadable(f"{path.name} can't be read: {error.strerror}.") from error
    text = decode(data).replace("\r\n", "\n").replace("\r", "\n")
    return text.rstrip("\f").split("\f")


def decode(data: bytes) -> str:
    """Bytes to text: by byte order mark, else UTF-8, else Chinese (GB 18030) or Western."""
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return data.decode(encoding, errors="replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        pass
    try:
        chinese = data.decode("gb18030")
    except UnicodeDecodeError:
        chinese = ""
    high = sum(byte >= 0x80 for byte in data)
    if 2 * len(_CJK.findall(chinese)) > 0.8 * high:
        return chinese
    return data.decode("cp1252", errors="replace")


def walk(paths: Iterable[Path]) -> Iterator[Path]:
    """Files to read: those named, and in folders the PDF and text files, in order of name."""
    for path in paths:
        if path.is_dir():
            for found in sorted(path.rglob("*")):
                hidden = any(part.startswith(".") for part in found.relative_to(path).parts)
                if found.suffix.lower() in SUFFIXES and not hidden and found.is_file():
                    yield found
        else:
            yield path
