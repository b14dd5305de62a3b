"""Records survive the pipe, and what is not a record is refused."""

from __future__ import annotations

import dataclasses
import json

import pytest

from desktop_app import codec, records
from rag.types import Answer, Chunk, Citation, Document, Hit, IngestResult, Span

CHUNK = Chunk(3, "合同.pdf", 0, "text", "7 > 7.2", (Span(1, 0, 4), Span(2, 0, 9)))
ANSWER = Answer("Yes [1].", True, (Citation("a", 2, "yes", 3, (Span(2, 0, 3),)),), {"ttft_ms": 1.5})
SAMPLES = [
    records.Ingest(1, ("/a/张 三.pdf", "b"), "pw"),
    records.Ask(2, "c", "How?", ("a",), use_cache=False),
    records.ForkConversation(3, "c", None),
    records.ChangeSettings(4, {"window": 2048, "model": None}),
    records.Stop(5, 2),
    records.Ingested(1, IngestResult("/a", "a", "needs_password", error="locked")),
    records.DocumentList(1, (Document("a", "/a", "00", 3, 4, "2026-01-01"),)),
    records.PageList(1, "a", (records.PageEntry(1, "iv", "ocr"),)),
    records.Evidence(2, "How?", (Hit(CHUNK, 0.5),)),
    records.Answered(2, "c", 0, ANSWER),
    records.ConversationOpened(
        3, records.ConversationEntry("c", "t", "now", 1), (records.Message(0, "q", ANSWER),)
    ),
    records.Rectangles(6, "a", 1, "q", ((0.0, 1.5, 2.0, 3.0),)),
]


@pytest.mark.parametrize("record", SAMPLES, ids=lambda r: type(r).__name__)
def test_records_come_back_equal(record: records.Request | records.Reply) -> None:
    decode = (
        records.decode_request
        if type(record).__name__ in records.REQUESTS
        else records.decode_reply
    )
    assert decode(records.encode(record)) == record


def test_every_record_has_a_job_first() -> None:
    for cls in (*records.REQUESTS.values(), *records.REPLIES.values()):
        assert dataclasses.fields(cls)[0].name == "job", cls


def test_lone_surrogates_of_file_names_survive() -> None:
    request = records.Ingest(1, ("bad\udcff.pdf",))
    assert records.decode_request(records.encode(request)) == request


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"{", "not JSON"),
        (b"[]", "unknown record"),
        (b'{"type":"Nothing"}', "unknown record 'Nothing'"),
        (b'{"type":"Delta","job":1,"text":"a"}', "unknown record 'Delta'"),
        (b'{"type":"Remove"}', "missing"),
        (b'{"type":"Remove","job":"1","documents":[]}', "Remove.job"),
        (b'{"type":"Remove","job":true,"documents":[]}', "Remove.job"),
        (b'{"type":"Remove","job":1,"documents":"a"}', "must be a list"),
        (b'{"type":"Remove","job":1,"documents":[2]}', r"documents\[0\]"),
        (b'{"type":"Stop","job":1,"target":2,"more":3}', "no field 'more'"),
        (b'{"type":"ForkConversation","job":1,"conversation":"c","turns":"x"}', "turns"),
        (b'{"type":"ChangeSettings","job":1,"values":[]}', "values"),
    ],
)
def test_what_is_not_a_request_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(codec.CodecError, match=message):
        records.decode_request(data)


def test_replies_check_nested_records_and_literals() -> None:
    good = json.loads(records.encode(SAMPLES[5]))
    good["result"]["status"] = "perhaps"
    with pytest.raises(codec.CodecError, match="status"):
        records.decode_reply(json.dumps(good).encode())
    with pytest.raises(codec.CodecError, match="must have 4 items"):
        records.decode_reply(
            b'{"type":"Rectangles","job":1,"document":"a","page":1,"quote":"","rectangles":[[1]]}'
        )


def test_only_plain_values_can_be_sent() -> None:
    with pytest.raises(codec.CodecError, match="set can't be sent"):
        records.encode(records.ChangeSettings(1, {"a": {1}}))
