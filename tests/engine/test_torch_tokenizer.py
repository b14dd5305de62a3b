"""Tokenizers of Hugging Face folders."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tokenizers import (
    AddedToken,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    trainers,
)
from tokenizers.processors import TemplateProcessing

from engine.errors import ModelCorrupt, ModelNotFound
from engine.torch_folder import open_folder
from engine.torch_tokenizer import FolderTokenizer

TEXT = [
    "The Supplier shall deliver the goods within thirty days of the order.",
    "Die Lieferung erfolgt binnen dreißig Tagen; Zahlung: 1.000 € netto.",
]
SPECIAL = ["<|begin|>", "<|im_start|>", "<|im_end|>"]


def byte_level() -> Tokenizer:
    """As in GPT-2, Llama 3, Qwen and SmolLM."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(TEXT, trainer)
    return tokenizer


def sentencepiece() -> Tokenizer:
    """As in Llama 2, Gemma and Phi 3: spaces are ▁, unknown characters are bytes."""
    pieces = [*SPECIAL, *(f"<0x{byte:02X}>" for byte in range(256))]
    letters = [*sorted(set("".join(TEXT)) - {"€", " "}), "▁"]
    vocabulary = {piece: number for number, piece in enumerate([*pieces, *letters])}
    model = models.BPE(vocab=vocabulary, merges=[], byte_fallback=True, unk_token=None)
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    )
    tokenizer.add_special_tokens([AddedToken(name, special=True) for name in SPECIAL])
    return tokenizer


def folder_of(tokenizer: Tokenizer, path: Path, **settings: object) -> FolderTokenizer:
    (path / "config.json").write_text(json.dumps({"eos_token_id": 2, **settings}))
    (path / "model.safetensors").write_bytes(b"")
    tokenizer.save(str(path / "tokenizer.json"))
    return FolderTokenizer(open_folder(path))


@pytest.fixture(params=[byte_level, sentencepiece], ids=["byte-level", "sentencepiece"])
def tokenizer(request: pytest.FixtureRequest, tmp_path: Path) -> FolderTokenizer:
    return folder_of(request.param(), tmp_path)


@pytest.mark.parametrize(
    "text", [*TEXT, "", " leading", "two  spaces\n\nlines", "违约责任 🙂", "a<|im_end|>b"]
)
def test_there_and_back(tokenizer: FolderTokenizer, text: str) -> None:
    ids = tokenizer.encode(text)
    assert b"".join(map(tokenizer.piece, ids)).decode() == text
    assert not tokenizer.end_tokens & set(ids)


def test_special_tokens_only_where_asked_for(tokenizer: FolderTokenizer) -> None:
    assert tokenizer.encode("<|im_start|>", special=True) == [1]
    assert tokenizer.piece(1) == b""
    assert tokenizer.encode("<|im_start|>")[0] != 1
    assert tokenizer.end_tokens == {2}


def test_pieces_join_as_their_texts_do(tokenizer: FolderTokenizer) -> None:
    """Segments are encoded one by one: no space may appear between them."""
    ids = [
        *tokenizer.encode("The Supplier"),
        *tokenizer.encode(" shall"),
        *tokenizer.encode("deliver"),
    ]
    assert b"".join(map(tokenizer.piece, ids)) == b"The Supplier shalldeliver"


def test_a_token_beyond_the_vocabulary(tokenizer: FolderTokenizer) -> None:
    with pytest.raises(ValueError, match="token 99999 isn't in the vocabulary"):
        tokenizer.piece(99999)


def test_begin_token_is_what_the_tokenizer_puts_first(tmp_path: Path) -> None:
    plain = byte_level()
    (tmp_path / "plain").mkdir()
    assert folder_of(plain, tmp_path / "plain").begin_token is None
    plain.post_processor = TemplateProcessing(
        single="<|begin|> $A", special_tokens=[("<|begin|>", 0)]
    )
    assert folder_of(plain, tmp_path).begin_token == 0


def test_end_tokens_come_from_every_place(tmp_path: Path) -> None:
    (tmp_path / "generation_config.json").write_text(json.dumps({"eos_token_id": [2, 5]}))
    settings = {"eos_token": {"content": "<|im_start|>"}, "chat_template": "{{ messages }}"}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    assert folder_of(byte_level(), tmp_path, eos_token_id=None).end_tokens == {1, 2, 5}
    assert open_folder(tmp_path).chat_template == "{{ messages }}"


def test_added_tokens_that_arent_special_are_text(tmp_path: Path) -> None:
    tokenizer = byte_level()
    tokenizer.add_tokens([AddedToken("<clause>", special=False)])
    found = folder_of(tokenizer, tmp_path)
    ids = found.encode("see <clause> 7", special=True)
    assert b"".join(map(found.piece, ids)) == b"see <clause> 7"


def test_chat_templates(tmp_path: Path) -> None:
    folder_of(byte_level(), tmp_path)
    named = [{"name": "tool", "template": "t"}, {"name": "default", "template": "d"}]
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"chat_template": named}))
    assert open_folder(tmp_path).chat_template == "d"
    (tmp_path / "chat_template.jinja").write_text("file")
    assert open_folder(tmp_path).chat_template == "file"


def test_a_missing_or_damaged_tokenizer(tmp_path: Path) -> None:
    folder_of(byte_level(), tmp_path)
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(ModelCorrupt, match="can't be read"):
        FolderTokenizer(open_folder(tmp_path))
    (tmp_path / "tokenizer.json").unlink()
    with pytest.raises(ModelNotFound, match=r"tokenizer.json is missing"):
        FolderTokenizer(open_folder(tmp_path))
