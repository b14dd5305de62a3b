"""The engine's small records: options in, events and figures out. It knows no backend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

TokenId = int
SequenceId = int
BackendName = Literal["auto", "torch", "llama.cpp", "fake"]
LookaheadMode = Literal["auto", "always", "off"]
StopReason = Literal["end", "length", "stop_string", "stopped"]
RestoredFrom = Literal["", "memory", "disk", "prefill"]
TierName = Literal["none", "device", "memory", "disk"]


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """What an engine is started with.

    Attributes:
        model: path of a GGUF file, or of a Hugging Face folder (torch only).
        backend: which decoder; `auto` takes torch where a usable GPU is, else llama.cpp.
        window: most tokens of one conversation that stay readable.
        cells: tokens the device holds for all conversations together; 0 means window + 1/4.
        batch: tokens read at once; a stop takes effect within one batch.
        sequences: most sequences in the device at a time, scratch included.
        kv_type: how keys and values are kept: "f16", "q8_0" (llama.cpp), "bf16", "int8" (torch).
        threads: CPU threads; 0 chooses from the machine and its load.
        cache_dir: folder of conversations on disk; None keeps nothing.
        memory_budget: bytes of main memory for idle conversations.
        disk_budget: bytes on disk for all conversations.
        idle_seconds: after this long a conversation leaves memory (it stays on disk).
        idle_work: whether idle time is used to read ahead and to make answers exact.
        idle_on_battery: whether idle work runs on battery too.
        lookahead: whether an answer that repeats its prompt is read ahead: "auto" where that is
            faster and changes no answer, "always" where it is faster, "off" never.
    """

    model: Path
    backend: BackendName = "auto"
    window: int = 4096
    cells: int = 0
    batch: int = 128
    sequences: int = 8
    kv_type: str = "f16"
    threads: int = 0
    cache_dir: Path | None = None
    memory_budget: int = 1 << 30
    disk_budget: int = 8 << 30
    idle_seconds: float = 1800.0
    idle_work: bool = True
    idle_on_battery: bool = False
    lookahead: LookaheadMode = "auto"

    def __post_init__(self) -> None:
        if self.window < 256:
            raise ValueError(f"window must be at least 256 tokens, not {self.window}")
        if not 1 <= self.batch <= 4096:
            raise ValueError(f"batch must be 1 to 4096 tokens, not {self.batch}")
        if not 2 <= self.sequences <= 64:
            raise ValueError(f"sequences must be 2 to 64, not {self.sequences}")


@dataclass(frozen=True, slots=True)
class SamplingOptions:
    """How the next token is chosen. Temperature 0 is greedy, and deterministic."""

    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    seed: int | None = None
    max_tokens: int = 512
    stop: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.temperature < 0:
            raise ValueError(f"temperature must not be negative, it is {self.temperature}")
        if not 0 < self.top_p <= 1:
            raise ValueError(f"top_p must be in (0, 1], it is {self.top_p}")
        if not 0 <= self.min_p <= 1:
            raise ValueError(f"min_p must be in [0, 1], it is {self.min_p}")
        if self.top_k < 0:
            raise ValueError(f"top_k must not be negative, it is {self.top_k}")
        if self.repetition_penalty <= 0:
            raise ValueError(
                f"repetition_penalty must be positive, it is {self.repetition_penalty}"
            )
        if self.max_tokens < 1:
            raise ValueError(f"max_tokens must be at least 1, it is {self.max_tokens}")


@dataclass(frozen=True, slots=True)
class Turn:
    """What a caller adds to a conversation.

    Attributes:
        user: text of the new user turn (question and passages).
        system: the system prompt; used only when the conversation is new.
        prefix: text the answer must begin with; it is read, not generated, and part of the answer.
        choices: if given, the answer (after `prefix`) begins with exactly one of these; the model
            chooses token by token among them.
        spans: if given, everything between double quotation marks in the answer is a character
            span of one of these texts.
        stop_after_choice: end the answer with the choice.
        record: what the transcript keeps with the turn for the caller (e.g. ids of the passages
            sent); comes back in `ConversationInfo.turns`.
        document: a text that stands before `user` and is the same in other conversations too,
            such as a document that is read whole; what is computed of it in a first turn is
            shared with them.
    """

    user: str
    system: str = ""
    prefix: str = ""
    choices: tuple[str, ...] = ()
    spans: tuple[str, ...] = ()
    stop_after_choice: bool = False
    record: dict[str, object] = field(default_factory=dict)
    document: str = ""


@dataclass(frozen=True, slots=True)
class TurnStats:
    """What a turn cost. Times in milliseconds; `prompt_tokens = reused + prefilled`.

    `tokens_per_second` counts the tokens that the model chose; 0 if it chose fewer than two.
    """

    backend: str
    model: str
    prompt_tokens: int
    reused_tokens: int
    prefilled_tokens: int
    generated_tokens: int
    ttft_ms: float
    tokens_per_second: float
    trimmed_tokens: int = 0
    restored_from: RestoredFrom = ""


@dataclass(frozen=True, slots=True)
class Prefilling:
    """Progress of reading: `done` of `total` new tokens."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the answer; whole UTF-8 characters only."""

    text: str


@dataclass(frozen=True, slots=True)
class Notice:
    """One line for the user: the engine was restarted, the window shrank, the disk is full."""

    text: str


@dataclass(frozen=True, slots=True)
class Finished:
    """The last event of a turn. `text` is the whole answer."""

    text: str
    reason: StopReason
    stats: TurnStats


Event = Prefilling | TextDelta | Notice | Finished


@dataclass(frozen=True, slots=True)
class TurnInfo:
    """One committed turn as the transcript knows it."""

    index: int
    tokens: int
    in_window: bool
    record: dict[str, object]


@dataclass(frozen=True, slots=True)
class ConversationInfo:
    """A conversation's size and place.

    Attributes:
        tokens: tokens of the transcript, trimmed ones included.
        window_tokens: tokens the model can still see.
        window: most tokens it may see at present (the governor can lower it).
        tier: where its keys and values are now.
        cache_bytes: bytes of keys and values in that tier; disk_bytes: bytes of its files.
    """

    id: str
    tokens: int
    window_tokens: int
    window: int
    tier: TierName
    cache_bytes: int
    disk_bytes: int
    turns: Sequence[TurnInfo] = ()


@dataclass(frozen=True, slots=True)
class CacheReport:
    """What is kept where, in bytes.

    Attributes:
        window: most tokens of a conversation in view at present.
        free_cells: tokens that still fit on the device.
    """

    window: int
    free_cells: int
    device_bytes: int
    memory_bytes: int
    disk_bytes: int
    memory_budget: int
    disk_budget: int
    conversations: Sequence[ConversationInfo] = ()


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What a model file says of itself.

    Attributes:
        name: for people. fingerprint: SHA-256 over metadata and sampled tensor data; two files
            with the same fingerprint compute the same function.
        trained_context: positions the model was trained for.
        kv_bytes_per_token: bytes of keys and values of one token at the backend's KV type.
        can_trim: whether a part of a sequence can be dropped and saved exactly.
    """

    name: str
    architecture: str
    fingerprint: str
    vocabulary: int
    layers: int
    trained_context: int
    kv_bytes_per_token: int
    parameters: int
    can_trim: bool = True
