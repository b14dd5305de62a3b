"""What a model's chat template writes around one turn; the texts themselves stay apart.

The template is rendered with placeholders, once, and cut at them. So only the new turn of a
conversation is ever written, and the text of a user or a document is never tokenised with special
tokens on: "<|im_end|>" in a contract is text like any other. It knows no token ids but through
`encode_pieces`, and no conversations.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from engine.backend import Tokenizer
from engine.errors import ModelError
from engine.template_engine import Message, TemplateEngine, TemplateFailed
from engine.types import TokenId

CHATML = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
# Plain words, so that no template trims, splits or escapes them.
_SYSTEM, _USER, _ANSWER, _NEXT = "SysTextQ7x1", "UserTextQ7x2", "AnswerTextQ7x3", "NextTextQ7x4"
_FOLD = "\n\n"


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a turn; `special` says whether special tokens in it are recognised."""

    text: str
    special: bool = False


Pieces = tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class TurnParts:
    """A turn in the order in which the model reads it.

    Attributes:
        system: everything before the first user turn; empty in later turns.
        user: the user turn with its marks.
        assistant_open: what makes the model answer.
        assistant_close: what ends the answer; it begins with the end-of-turn token, so leave out
            the one that the model wrote, or that a stopped answer lacks. Empty for a template
            that marks the end of an answer by the next turn's beginning.
    """

    system: Pieces
    user: Pieces
    assistant_open: Pieces
    assistant_close: Pieces

    @property
    def prompt(self) -> Pieces:
        """All that is read before the answer."""
        return self.system + self.user + self.assistant_open


@dataclass(frozen=True, slots=True)
class _Opening:
    """What stands before the first user text: `lead` SYSTEM `link` | `user_open` USER."""

    lead: str
    link: str
    user_open: str


@dataclass(frozen=True, slots=True)
class _Close:
    """What stands after a user text."""

    user_close: str
    assistant_open: str


class ChatTemplate:
    """A chat template, taken apart.

    Args:
        source: the jinja2 source; empty takes ChatML.
        bos: text of the model's BOS token, for templates that write it.
        eos: text of its EOS token, for templates that end an answer with it.

    Raises:
        ModelError: the template doesn't work.
    """

    def __init__(self, source: str, bos: str = "", eos: str = "") -> None:
        self.source = source if source.strip() else CHATML
        try:
            self._eos = eos
            self._engine = TemplateEngine(self.source, bos, eos)
            self._close, self._later, self._answer_close, self._later_open = self._turns()
            self._bare = self._without_system()
            self._full = self._with_system()
        except TemplateFailed as error:
            raise ModelError(
                f"The model's chat template can't be used ({error}); choose another model file."
            ) from error

    @property
    def digest(self) -> str:
        """SHA-256 of the source: whether another file writes its turns in the same way."""
        return hashlib.sha256(self.source.encode()).hexdigest()

    def turn(self, user: str, system: str = "", *, first: bool) -> TurnParts:
        """A turn's parts. `system` counts in the first turn only; white space around is cut."""
        user, system = user.strip(), system.strip()
        lead: Pieces
        if not first:
            around, lead, user_open = self._later, (), self._later_open
        elif system:
            around, user_open = self._close, self._full.user_open
            lead = _pieces(self._full.lead, system, self._full.link)
        else:
            around, user_open = self._close, self._bare.user_open
            lead = _pieces(self._bare.lead)
        return TurnParts(
            system=lead,
            user=_pieces(user_open, user, around.user_close),
            assistant_open=_pieces(around.assistant_open),
            assistant_close=_pieces(self._answer_close),
        )

    def _turns(self) -> tuple[_Close, _Close, str, str]:
        """What stands around the user's and the model's texts, in first and later turns."""
        user, answer, then = ("user", _USER), ("assistant", _ANSWER), ("user", _NEXT)
        dialog = self._engine.render([user, answer, then], prompt=True)
        between = _between(dialog, _ANSWER, _NEXT)
        try:
            end = self._common(self._end([user, answer], _ANSWER), between)
        except TemplateFailed:
            end = ""
        first = _after(self._engine.render([user], prompt=True), _USER)
        later = _after(dialog, _NEXT)
        return (
            _split(first, self._common(self._end([user], _USER), first)),
            _split(later, self._common(self._end([user, answer, then], _NEXT), later)),
            end,
            between[len(end) :],
        )

    def _end(self, messages: Sequence[Message], mark: str) -> str:
        """What the template writes after the last of `messages` where nothing follows."""
        return _after(self._engine.render(messages), mark)

    def _common(self, end: str, text: str) -> str:
        """`end` if `text` begins with it; some templates write EOS at the very end besides."""
        if not text.startswith(end) and self._eos:
            end = end.removesuffix(self._eos)
        return end if text.startswith(end) else ""

    def _without_system(self) -> _Opening:
        """The first turn's opening, with the system prompt that the template brings itself."""
        lead, user_open = self._cut(_before(self._engine.render([("user", _USER)]), _USER))
        return _Opening(lead, "", user_open)

    def _with_system(self) -> _Opening:
        """The first turn's opening; the system text joins the user's where there is no role."""
        try:
            text = self._engine.render([("system", _SYSTEM), ("user", _USER)])
            lead, between = _before(text, _SYSTEM), _between(text, _SYSTEM, _USER)
        except TemplateFailed:
            text = self._engine.render([("user", _SYSTEM + _FOLD + _USER)])
            lead, between = _before(text, _SYSTEM), _between(text, _SYSTEM, _USER)
        link, user_open = self._cut(between)
        return _Opening(lead, link, user_open)

    def _cut(self, text: str) -> tuple[str, str]:
        """Cuts before the mark that opens a user turn, if `text` ends with it."""
        mark = self._later_open
        if mark and text.endswith(mark):
            return text[: -len(mark)], mark
        return "", text


def encode_pieces(tokenizer: Tokenizer, pieces: Iterable[Piece], *, first: bool) -> list[TokenId]:
    """Token ids of `pieces`, each tokenised by itself.

    With `first` they begin a sequence: the model's BOS stands before them exactly once, whether
    the template writes it or not.
    """
    ids = [
        token for piece in pieces for token in tokenizer.encode(piece.text, special=piece.special)
    ]
    begin = tokenizer.begin_token
    if first and begin is not None and ids[:1] != [begin]:
        ids.insert(0, begin)
    return ids


def _pieces(before: str, text: str = "", after: str = "") -> Pieces:
    parts = (Piece(before, special=True), Piece(text), Piece(after, special=True))
    return tuple(part for part in parts if part.text)


def _split(text: str, close: str) -> _Close:
    return _Close(close, text[len(close) :])


def _before(text: str, mark: str) -> str:
    return _once(text, mark)[0]


def _after(text: str, mark: str) -> str:
    return _once(text, mark)[1]


def _between(text: str, left: str, right: str) -> str:
    return _before(_after(text, left), right)


def _once(text: str, mark: str) -> tuple[str, str]:
    before, found, after = text.partition(mark)
    if not found or mark in after:
        raise TemplateFailed("it loses or repeats a message's text")
    return before, after
