"""Token ids to text while they arrive: whole characters only, and never a piece of a stop string.

It knows a tokenizer's bytes and nothing of models, transcripts or events.
"""

from __future__ import annotations

import codecs
from collections.abc import Sequence

from engine.backend import Tokenizer
from engine.types import TokenId


class Detokenizer:
    """Decodes one answer token by token.

    Text is given out as soon as it is certain: a character when its last byte is there, and text
    that may be the beginning of a stop string when it has turned out not to be. Bytes that are not
    UTF-8 become U+FFFD.

    Attributes:
        text: everything given out so far, `prefix` included.
        stopped_by: the stop string that was found, else None; nothing is given out after it.
    """

    def __init__(self, tokenizer: Tokenizer, stop: Sequence[str] = (), prefix: str = "") -> None:
        self.text = prefix
        self.stopped_by: str | None = None
        self._tokenizer = tokenizer
        self._stop = tuple(text for text in stop if text)
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._held = ""

    def push(self, token: TokenId) -> str:
        """Text that `token` makes certain; often empty, and empty after a stop string."""
        return self.push_bytes(self._tokenizer.piece(token))

    def push_bytes(self, piece: bytes) -> str:
        """As `push`, for the bytes themselves."""
        if self.stopped_by is not None:
            return ""
        self._held += self._decoder.decode(piece)
        found = self._first_stop()
        if found is not None:
            at, self.stopped_by = found
            return self._give(at, drop_rest=True)
        return self._give(len(self._held) - self._uncertain())

    def finish(self) -> str:
        """The text held back, at the end of an answer. Half a character is dropped."""
        self._decoder.reset()
        return self._give(len(self._held))

    def _give(self, count: int, drop_rest: bool = False) -> str:
        certain, rest = self._held[:count], self._held[count:]
        self._held = "" if drop_rest else rest
        self.text += certain
        return certain

    def _first_stop(self) -> tuple[int, str] | None:
        """The earliest stop string in the held text; the longest of those that begin there."""
        found = [(self._held.find(text), -len(text), text) for text in self._stop]
        found = [entry for entry in found if entry[0] >= 0]
        if not found:
            return None
        at, _, text = min(found)
        return at, text

    def _uncertain(self) -> int:
        """Length of the longest end of the held text with which a stop string may begin."""
        longest = max((len(text) for text in self._stop), default=1) - 1
        for length in range(min(longest, len(self._held)), 0, -1):
            end = self._held[-length:]
            if any(text.startswith(end) for text in self._stop):
                return length
        return 0
