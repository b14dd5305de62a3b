"""Whose keys and values a cache holds, and the key under which its bytes are signed."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from engine.disk import Buffer
from engine.errors import CacheFileError


@dataclass(frozen=True, slots=True)
class CacheIdentity:
    """Whose keys and values they are, and what made them; all of it must match on reading.

    Attributes:
        conversation, salt: the owner. The salt is random, kept in the transcript.
        fingerprint: of the model. prompt: hash of the tokenizer and the chat template.
        layout: `Backend.layout`. bytes_per_token: bounds what a block may claim.
    """

    conversation: str
    salt: bytes
    fingerprint: str
    prompt: str
    layout: str
    bytes_per_token: int

    def header(self) -> dict[str, object]:
        """The part that stands in the file, readable."""
        return {
            "conversation": self.conversation,
            "fingerprint": self.fingerprint,
            "prompt": self.prompt,
            "layout": self.layout,
            "bytes_per_token": self.bytes_per_token,
        }


class Signer:
    """Computes and checks tags under one conversation's key."""

    def __init__(self, identity: CacheIdentity) -> None:
        owner = identity.conversation.encode("utf-8", "surrogatepass")
        digest = hashlib.blake2b(identity.salt, digest_size=32, person=b"clausebook kv")
        digest.update(owner)
        self._key = AESGCM(digest.digest()[:16])

    def sign(self, data: Buffer) -> tuple[bytes, bytes]:
        """A fresh nonce and the tag of `data`."""
        nonce = os.urandom(12)
        return nonce, self._key.encrypt(nonce, b"", data)

    def check(self, data: Buffer, nonce: bytes, tag: bytes) -> None:
        """Raises CacheFileError unless `tag` is of `data`."""
        try:
            self._key.decrypt(nonce, tag, data)
        except InvalidTag as error:
            raise CacheFileError(
                "the bytes are damaged, or belong to another conversation"
            ) from error
