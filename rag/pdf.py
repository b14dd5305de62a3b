"""PDF pages as text, and the rectangles of a passage on a page. Runs in the parser process.

pdfium reads each page; where its text is missing or reads badly, pypdf is asked too and the
better text is kept; where neither gives text, what the page shows is recognised. Nothing here
guards against a hanging or crashing file: `parser` does, by running this in a process of its own.

The owner's "no extraction" flag of a file that opens without a password is not enforced: the
user reads their own document on their own machine, and nothing leaves it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

from rag import ocr
from rag.errors import NotReadable, PasswordNeeded
from rag.layout import laid_out
from rag.ocr import Recogniser
from rag.quality import is_garbled, quality
from rag.raw_page import Piece, RawPage

_GOOD = 0.9
_FEW = 150  # letters of a stamp or header on a page that is a picture
_DPI = 170  # of the picture that is recognised
_LARGEST = 2400  # pixels of its longer side


class Pdf:
    """An open PDF. Not thread-safe: pdfium forbids concurrent calls in one process."""

    def __init__(self, path: Path, password: str = "") -> None:
        """Opens the file.

        Raises:
            PasswordNeeded: locked, or the password is wrong.
            NotReadable: damaged beyond what pdfium and pypdf repair.
        """
        self._path = path
        self._password = password
        self._pypdf: Any = None
        self._recogniser: Recogniser | None = None
        self._pdfium = _open_pdfium(path, password)
        if self._pdfium is None:
            self._pypdf = _open_pypdf(path, password)
        self.pages = len(self._pdfium) if self._pdfium is not None else len(self._pypdf.pages)
        if self.pages == 0:
            raise NotReadable(f"{path.name} is damaged: no page can be found in it.")

    def read(
        self,
        start: int = 1,
        on_picture: Callable[[int], None] = lambda number: None,
        known: Collection[int] = (),
    ) -> Iterator[RawPage]:
        """Pages from number `start` on; those `known` without their text.

        `on_picture` is told before a page is recognised.
        """
        for number in range(start, self.pages + 1):
            if number in known:
                yield RawPage(number, "")
                continue
            text = self._pdfium_text(number)
            if quality(text) < _GOOD:
                other = self._pypdf_text(number)
                if _better(other, text):
                    text = other
            pieces: tuple[Piece, ...] = ()
            if self._is_picture(number, text):
                on_picture(number)
                rows = self._recognised(number)
                if _better(shown := ocr.page_text(rows), text):
                    text, pieces = shown, tuple(chain(*rows))
            yield RawPage(number, text, self._label(number), pieces)

    def rectangles(self, number: int, quote: str) -> list[tuple[float, float, float, float]]:
        """Where `quote` stands on a page: a rectangle (x0, y0, x1, y1) a line.

        Unit: PDF points; origin: top left of the page as shown. Empty if it isn't there.
        """
        if self._pdfium is None or not 1 <= number <= self.pages:
            return []
        from rag.rectangles import find_rectangles

        return find_rectangles(self._pdfium[number - 1], quote)

    def _is_picture(self, number: int, text: str) -> bool:
        """Whether the page's text is in a picture, or can't be decoded."""
        letters = sum(c.isalnum() for c in text)
        if self._pdfium is None or not ocr.available():
            return False
        return not letters or is_garbled(text) or (letters < _FEW and self._pictured(number))

    def _pictured(self, number: int) -> bool:
        """Whether pictures cover half of a page."""
        from pypdfium2 import PdfiumError, raw

        try:
            page = self._pdfium[number - 1]
            width, height = page.get_size()
            areas = [
                (right - left) * (top - bottom)
                for left, bottom, right, top in (
                    picture.get_bounds()
                    for picture in page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE])
                )
            ]
            page.close()
        except PdfiumError:
            return False
        return bool(sum(areas) > width * height / 2)

    def _recognised(self, number: int) -> list[list[Piece]]:
        """Lines recognised on a page, each in its pieces, in points; none on a blank one."""
        from pypdfium2 import PdfiumError

        try:
            page = self._pdfium[number - 1]
            scale = min(_DPI / 72, _LARGEST / max(page.get_size()))
            picture = page.render(scale=scale, rev_byteorder=True).to_numpy()[..., :3]
            page.close()
        except (PdfiumError, MemoryError, ValueError):
            return []
        if ocr.is_blank(picture):
            return []
        try:
            self._recogniser = self._recogniser or Recogniser()
            rows = self._recogniser(picture)
        except Exception:  # noqa: BLE001  a page that can't be recognised costs itself
            return []
        return [[_scaled(piece, 1 / scale) for piece in row] for row in rows]

    def _label(self, number: int) -> str:
        if self._pdfium is None:
            return ""
        try:
            return str(self._pdfium.get_page_label(number - 1))
        except (RuntimeError, ValueError, UnicodeDecodeError):
            return ""

    def _pdfium_text(self, number: int) -> str:
        if self._pdfium is None:
            return ""
        import pypdfium2

        try:
            page = self._pdfium[number - 1]
            textpage = page.get_textpage()
        except pypdfium2.PdfiumError:
            return ""
        try:
            return laid_out(textpage)
        finally:
            textpage.close()
            page.close()

    def _pypdf_text(self, number: int) -> str:
        fails: tuple[type[Exception], ...] = (*_pypdf_fails(), NotReadable, PasswordNeeded)
        try:
            if self._pypdf is None:
                self._pypdf = _open_pypdf(self._path, self._password)
            return str(self._pypdf.pages[number - 1].extract_text())
        except fails:
            return ""  # pdfium's text stays


def _scaled(piece: Piece, by: float) -> Piece:
    return Piece(piece.text, piece.x0 * by, piece.y0 * by, piece.x1 * by, piece.y1 * by)


def _better(other: str, text: str) -> bool:
    """Whether `other` reads better; more text wins where both read alike."""
    one, two = quality(other), quality(text)
    return one > two + 0.05 or (one >= two and len(other.split()) > len(text.split()))


def _open_pdfium(path: Path, password: str) -> Any:
    import pypdfium2
    from pypdfium2 import raw

    for secret in _spellings(password):
        try:
            return pypdfium2.PdfDocument(path, password=secret)
        except pypdfium2.PdfiumError as error:
            locked = getattr(error, "err_code", None) == raw.FPDF_ERR_PASSWORD
            if not locked:
                return None
    raise PasswordNeeded(
        f"{path.name} is locked; give its password."
        if not password
        else f"{path.name} does not open with this password; check it."
    )


def _spellings(password: str) -> list[str | bytes | None]:
    if not password:
        return [None]
    spellings: list[str | bytes | None] = [password]
    if not password.isascii():  # files older than AES-256 use Latin-1 bytes
        spellings += [password.encode("latin-1", errors="replace")]
    return spellings


@cache
def _pypdf_fails() -> tuple[type[Exception], ...]:
    """What pypdf has been seen to raise on damaged files."""
    from pypdf.errors import PyPdfError

    known = (ArithmeticError, AssertionError, AttributeError, LookupError, OSError, RuntimeError)
    return (*known, TypeError, ValueError, PyPdfError)


def _open_pypdf(path: Path, password: str) -> Any:
    import pypdf

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    damaged = NotReadable(f"{path.name} is damaged or not a PDF; download or export it again.")
    try:
        reader = pypdf.PdfReader(path)
        locked = reader.is_encrypted and not reader.decrypt(password)
    except _pypdf_fails() as error:
        raise damaged from error
    if locked:
        raise PasswordNeeded(f"{path.name} is locked; give its password.")
    try:
        len(reader.pages)
    except _pypdf_fails() as error:
        raise damaged from error
    return reader
