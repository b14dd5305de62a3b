"""llama.cpp with the default model: what is exact to the last bit, and its library's manners."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from engine.errors import BackendUnavailable, EngineError, InvalidRequest, RestoreError
from engine.llama_backend import LlamaBackend
from engine.model_file import read_model_file

pytestmark = pytest.mark.model

TEXT = (
    "The Supplier shall deliver the Goods within thirty (30) days of the date of the Order. "
    "Payment is due sixty days after receipt of a correct invoice. Liability is capped. "
)
Make = Callable[..., LlamaBackend]


@pytest.fixture
def make(model_path: Path) -> Iterator[Make]:
    made: list[LlamaBackend] = []

    def build(kv_type: str = "f16", cells: int = 768, **options: int) -> LlamaBackend:
        settings = {"sequences": 4, "batch": 64, "threads": 1} | options
        backend = LlamaBackend(
            read_model_file(model_path), cells=cells, kv_type=kv_type, **settings
        )
        made.append(backend)
        return backend

    yield build
    for backend in made:
        backend.close()


def tokens_of(backend: LlamaBackend, count: int) -> list[int]:
    return (backend.tokenizer.encode(TEXT) * 10)[:count]


def read(backend: LlamaBackend, sequence: int, tokens: list[int], start: int = 0) -> np.ndarray:
    logits = np.empty(0)
    for at in range(0, len(tokens), backend.batch):
        logits = backend.forward(sequence, tokens[at : at + backend.batch], start + at)
    return logits


@pytest.mark.parametrize("kv_type", ["f16", "q8_0"])
def test_split_equals_whole_wherever_it_is_split(make: Make, kv_type: str) -> None:
    backend = make(kv_type)
    tokens = tokens_of(backend, 140)
    sequence = backend.new_sequence()
    whole = read(backend, sequence, tokens)
    for cut in (2, 64, 138):
        backend.remove(sequence, 0, 140)
        read(backend, sequence, tokens[:cut])
        assert np.array_equal(read(backend, sequence, tokens[cut:], cut), whole), cut


@pytest.mark.parametrize("kv_type", ["f16", "q8_0"])
def test_restored_equals_live_in_another_context(make: Make, kv_type: str) -> None:
    live, restored = make(kv_type), make(kv_type, cells=1024, sequences=7)
    tokens, more = tokens_of(live, 150), tokens_of(live, 9)
    sequence, other = live.new_sequence(), restored.new_sequence()
    read(live, sequence, tokens)
    for start, stop in ((0, 100), (100, 150)):
        restored.load(other, live.save(sequence, start, stop))
    assert np.array_equal(
        restored.forward(other, more, 150, every=True),
        live.forward(sequence, more, 150, every=True),
    )


@pytest.mark.parametrize("kv_type", ["f16", "q8_0"])
def test_trimmed_equals_masked(make: Make, kv_type: str) -> None:
    backend = make(kv_type)
    tokens, more = tokens_of(backend, 150), tokens_of(backend, 9)
    full = backend.new_sequence()
    read(backend, full, tokens)
    masked = backend.fork(full)
    backend.remove(masked, 10, 74)  # the cells stay: `full` has them
    expected = backend.forward(masked, more, 150, every=True)
    backend.free_sequence(masked)
    backend.remove(full, 10, 74)  # the cells are gone; others take their place
    filler = backend.new_sequence()
    read(backend, filler, tokens_of(backend, 64)[::-1])
    assert np.array_equal(backend.forward(full, more, 150, every=True), expected)


def test_what_another_conversation_says_changes_no_bit(make: Make) -> None:
    backend = make()
    tokens = tokens_of(backend, 100)
    found = []
    for secret in (tokens[:50], tokens[50:100]):
        other, sequence = backend.new_sequence(), backend.new_sequence()
        read(backend, other, secret)
        found.append(read(backend, sequence, tokens))
        backend.free_sequence(other)
        backend.free_sequence(sequence)
    assert np.array_equal(*found)


def test_with_q8_0_reading_and_writing_interleaved_or_alone_give_the_same_bits(make: Make) -> None:
    backend = make("q8_0")
    tokens = tokens_of(backend, 90)
    alone = backend.new_sequence()
    expected = read(backend, alone, tokens)
    backend.free_sequence(alone)
    one, two = backend.new_sequence(), backend.new_sequence()
    logits = np.empty(0)
    for at in range(0, 60, 20):
        read(backend, two, tokens_of(backend, 13), at * 13 // 20)
        read(backend, one, tokens[at : at + 20], at)
    for at in range(60, 90):
        logits = backend.forward(one, [tokens[at]], at)
    assert np.array_equal(logits, expected)


@pytest.mark.slow
@pytest.mark.parametrize("kv_type", ["f16", "q8_0"])
def test_the_number_of_threads_changes_no_bit(make: Make, kv_type: str) -> None:
    found = []
    for threads in (1, 2):
        backend = make(kv_type, threads=threads)
        sequence = backend.new_sequence()
        tokens = tokens_of(backend, 64)
        rows = [read(backend, sequence, tokens)]
        rows += [backend.forward(sequence, [tokens[n]], 64 + n) for n in range(4)]
        found.append(np.stack(rows))
    assert np.array_equal(*found)


def test_q8_0_takes_about_half_the_bytes(make: Make) -> None:
    plain, packed = make(), make("q8_0")
    assert plain.info.kv_bytes_per_token == 23_040
    assert packed.info.kv_bytes_per_token == 12_240
    assert plain.layout != packed.layout


def test_states_of_another_layout_dont_fit(make: Make) -> None:
    plain, packed = make(), make("q8_0")
    one, two = plain.new_sequence(), packed.new_sequence()
    read(plain, one, tokens_of(plain, 20))
    with pytest.raises(RestoreError, match="another model"):
        packed.load(two, plain.save(one, 0, 20))
    assert packed.positions(two) == []


@pytest.mark.parametrize("place", ["position", "count", "streams", "ranges", "sequences"])
def test_damage_inside_a_state_is_found_before_the_library_sees_it(make: Make, place: str) -> None:
    backend = make()
    sequence, other = backend.new_sequence(), backend.new_sequence()
    read(backend, sequence, tokens_of(backend, 20))
    state = bytearray(backend.save(sequence, 0, 20))
    head = 24 + 8 + 8  # one range, one part
    at = {"ranges": 24, "streams": head + 8, "count": head + 12, "position": head + 16 + 3}
    state[at.get(place, head + 16 + 4)] ^= 0x7F
    with pytest.raises(RestoreError):
        backend.load(other, bytes(state))
    assert backend.positions(other) == []
    backend.load(other, backend.save(sequence, 0, 20))
    assert backend.positions(other) == [(0, 20)]


def test_an_empty_range_saves_nothing(make: Make) -> None:
    backend = make()
    sequence, other = backend.new_sequence(), backend.new_sequence()
    backend.load(other, backend.save(sequence, 0, 100))
    assert backend.positions(other) == []


def test_options_that_make_no_sense_are_named(make: Make) -> None:
    with pytest.raises(InvalidRequest, match="f16, q8_0, q4_0, not int3"):
        make("int3")
    with pytest.raises(EngineError, match="smaller window"):
        make(cells=1 << 30)


def test_q4_0_works_too(make: Make) -> None:
    backend = make("q4_0")
    logits = read(backend, backend.new_sequence(), tokens_of(backend, 20))
    assert np.isfinite(logits).all()


def test_closing_twice_is_harmless(make: Make) -> None:
    backend = make()
    backend.close()
    backend.close()
    assert backend.name == "llama.cpp"


def test_nothing_is_printed(model_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path\n"
        "from engine.load import load_backend\n"
        "from engine.types import EngineOptions\n"
        "b = load_backend(EngineOptions(Path(sys.argv[1]), 'llama.cpp', window=256))\n"
        "b.forward(b.new_sequence(), [1, 2], 0)\n"
        "assert 'torch' not in sys.modules\n"
        "b.close()\n"
    )
    command = [sys.executable, "-c", code, str(model_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


# The tokenizer.


def test_special_tokens_are_recognised_only_where_asked(make: Make) -> None:
    tokenizer = make().tokenizer
    plain = tokenizer.encode("<|im_start|>user")
    special = tokenizer.encode("<|im_start|>user", special=True)
    assert len(special) == 2
    assert len(plain) > 2
    assert tokenizer.piece(special[0]) == b""
    assert b"".join(map(tokenizer.piece, plain)) == b"<|im_start|>user"


def test_the_vocabularys_ends_and_beginnings(make: Make) -> None:
    tokenizer = make().tokenizer
    assert tokenizer.encode("<|im_end|>", special=True)[0] in tokenizer.end_tokens
    assert tokenizer.begin_token is None
    assert tokenizer.marks == ("<|im_start|>", "<|im_end|>")
    assert tokenizer.encode("") == []
    with pytest.raises(ValueError, match="vocabulary"):
        tokenizer.piece(49152)
    long = "word " * 2000
    assert b"".join(map(tokenizer.piece, tokenizer.encode(long))).decode() == long


# The library.


class Handle:
    """Stands for a library whose backends are files."""

    def __init__(self, found: int) -> None:
        self.calls: list[bytes] = []
        self.registered = 0

        def load_all(path: bytes) -> None:
            self.calls.append(path)
            self.registered = found

        def count() -> int:
            return self.registered

        self.ggml_backend_load_all_from_path, self.ggml_backend_reg_count = load_all, count


def test_backends_are_loaded_from_the_librarys_own_folder(tmp_path: Path) -> None:
    from engine.llama_library import _load_backends

    handle = Handle(found=1)
    _load_backends(type("Library", (), {"_lib": handle}), tmp_path / "lib")
    _load_backends(type("Library", (), {"_lib": handle}), tmp_path / "lib")
    assert handle.calls == [str(tmp_path / "lib").encode()]


def test_no_backend_for_the_processor_is_named(tmp_path: Path) -> None:
    from engine.llama_library import _load_backends

    with pytest.raises(BackendUnavailable, match="no backend for this processor"):
        _load_backends(type("Library", (), {"_lib": Handle(found=0)}), tmp_path)


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from engine.llama_library import load_library

    monkeypatch.setitem(sys.modules, "llama_cpp.llama_cpp", None)
    with pytest.raises(BackendUnavailable, match="install it again"):
        load_library.__wrapped__()
