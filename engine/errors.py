"""The engine's exceptions. Each message is one sentence a user can act on.

EngineError
├── ModelError            the model file can't be used
│   ├── ModelNotFound
│   ├── ModelCorrupt      cut short, or not what it says it is
│   └── UnsupportedModel  names the architecture and those supported
├── BackendUnavailable    the library or the device is missing
├── OutOfCells            no room for more tokens on the device; recoverable
├── NoFreeSequence        every sequence of the backend is in use; recoverable
├── CannotTrim            this model can't drop a part of a sequence
├── RestoreError          a saved state doesn't fit; the sequence is left empty
├── CacheFileError        a cache file is damaged or belongs to something else
│   └── CacheFileForeign  another model or version made it
├── ContextTooLong        a turn alone is longer than the window
├── UnknownConversation
├── InvalidRequest        empty question, bad option
└── EngineDied            the engine's process ended
"""


class EngineError(Exception):
    """Root of everything that `engine` raises on purpose."""


class ModelError(EngineError):
    """The model file can't be used."""


class ModelNotFound(ModelError):
    """There is no such model file."""


class ModelCorrupt(ModelError):
    """The model file is cut short or isn't a model."""


class UnsupportedModel(ModelError):
    """The model's architecture isn't supported by this backend."""


class BackendUnavailable(EngineError):
    """A library or device that the backend needs is missing."""


class OutOfCells(EngineError):
    """The device has no room for more tokens; nothing was changed."""


class NoFreeSequence(EngineError):
    """Every sequence of the backend is in use; nothing was changed."""


class CannotTrim(EngineError):
    """The model can't drop a part of a sequence."""


class RestoreError(EngineError):
    """A saved state doesn't fit this backend; the sequence is left empty."""


class CacheFileError(EngineError):
    """A cache file is damaged or belongs to another model, version or conversation."""


class CacheFileForeign(CacheFileError):
    """A cache file is whole, but another model, version or layout made it."""


class ContextTooLong(EngineError):
    """A turn alone is longer than the window.

    Attributes:
        tokens: tokens the turn needs.
        window: tokens the window has.
    """

    def __init__(self, tokens: int, window: int) -> None:
        self.tokens = tokens
        self.window = window
        super().__init__(
            f"The question and its passages need {tokens} tokens, but the window holds {window}; "
            "ask a shorter question or choose a model with a longer context."
        )


class UnknownConversation(EngineError):
    """There is no conversation of that id."""


class InvalidRequest(EngineError):
    """The request itself is wrong: an empty question, an option out of range."""


class EngineDied(EngineError):
    """The engine's process ended before the request was finished."""
