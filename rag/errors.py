"""The exceptions of `rag`. Each message is one sentence a user can act on.

RagError
├── DocumentError         a file can't be read
│   ├── NotReadable       not a PDF or text, empty, damaged
│   ├── PasswordNeeded    locked, or the password is wrong
│   └── NoText            no page has text that can be used
├── EmbedderError         the embedding model is missing or damaged
├── StoreError            the library folder can't be read or written
│   ├── StoreReadOnly
│   ├── StoreFull         the disk is full; nothing was changed
│   └── MigrationFailed   the library was left as it was; a backup is beside it
├── UnknownDocument
└── InvalidQuestion       empty, or asked before any document was added
"""


class RagError(Exception):
    """Root of everything that `rag` raises on purpose."""


class DocumentError(RagError):
    """A file can't be read."""


class NotReadable(DocumentError):
    """The file isn't a PDF or text, is empty, or is damaged."""


class PasswordNeeded(DocumentError):
    """The file is locked, or the password is wrong."""


class NoText(DocumentError):
    """No page of the file has text that can be used."""


class EmbedderError(RagError):
    """The embedding model is missing or damaged."""


class StoreError(RagError):
    """The library folder can't be read or written."""


class StoreReadOnly(StoreError):
    """The library folder is read-only."""


class StoreFull(StoreError):
    """The disk is full; nothing was changed."""


class MigrationFailed(StoreError):
    """A schema change failed; the library was left as it was."""


class UnknownDocument(RagError):
    """There is no document of that name."""


class InvalidQuestion(RagError):
    """The question is empty, or was asked before any document was added."""
