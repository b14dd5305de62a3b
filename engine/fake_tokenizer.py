"""A tokenizer without a model: bytes, a few words, and ChatML's special tokens.

It behaves like a real one where that matters to its callers: text split elsewhere may give other
ids (words are matched greedily), a character may take several tokens, and special tokens are
recognised only where asked for.
"""

from __future__ import annotations

import re

from engine.types import TokenId

END_OF_TEXT: TokenId = 256
TURN_START: TokenId = 257
TURN_END: TokenId = 258
FIRST_WORD: TokenId = 259

SPECIALS = {"<|endoftext|>": END_OF_TEXT, "<|im_start|>": TURN_START, "<|im_end|>": TURN_END}
WORDS = tuple(
    (
        "the| the| of| and| to| in| a| is| by| shall| party| parties| contract| agreement| price"
        "| payment| days| within| clause| page| delivery| supplier| customer| buyer| seller"
        "| liability| breach| notice| term| law| goods| services| invoice| any| or| not| for"
        "|user|assistant|system|ing|ed|tion|条|款|合同"
    ).split("|")
)
CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)


class FakeTokenizer:
    """Bytes and words as token ids; V is `vocabulary`."""

    def __init__(self) -> None:
        self._pieces = [bytes([byte]) for byte in range(256)]
        self._pieces += [b""] * len(SPECIALS)
        self._pieces += [word.encode() for word in WORDS]
        longest_first = sorted(WORDS, key=len, reverse=True)
        self._split = re.compile("|".join(map(re.escape, longest_first)) + "|.", re.DOTALL)
        self._ids = {word: FIRST_WORD + index for index, word in enumerate(WORDS)}
        self._special = re.compile("(" + "|".join(map(re.escape, SPECIALS)) + ")")

    @property
    def vocabulary(self) -> int:
        return len(self._pieces)

    @property
    def end_tokens(self) -> frozenset[TokenId]:
        return frozenset({END_OF_TEXT, TURN_END})

    @property
    def begin_token(self) -> TokenId | None:
        return None

    def encode(self, text: str, *, special: bool = False) -> list[TokenId]:
        """Ids of `text`; with `special`, ChatML's markers are one token each."""
        if not special:
            return self._plain(text)
        ids: list[TokenId] = []
        for part in self._special.split(text):
            ids += [SPECIALS[part]] if part in SPECIALS else self._plain(part)
        return ids

    def piece(self, token: TokenId) -> bytes:
        """Raw bytes of a token; empty for a control token."""
        return self._pieces[token]

    def _plain(self, text: str) -> list[TokenId]:
        ids: list[TokenId] = []
        for word in self._split.findall(text):
            known = self._ids.get(word)
            ids += [known] if known is not None else word.encode("utf-8", "replace")
        return ids
