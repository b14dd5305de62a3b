"""The records that go over the pipe between the window and the library worker, and their JSON.

Requests and replies are frozen dataclasses; decoding checks every field. The records know no
process, no Qt and no library.
"""

from __future__ import annotations

from desktop_app import codec
from desktop_app.replies import (
    Answered,
    CacheFigures,
    ConversationEntry,
    ConversationList,
    ConversationOpened,
    Delta,
    DoctorFindings,
    DocumentList,
    Draft,
    Evidence,
    Failed,
    Finished,
    Ingested,
    Message,
    ModelList,
    Notice,
    PageEntry,
    PageList,
    Progress,
    Reading,
    Rectangles,
    Reply,
    SettingsChanged,
    Started,
)
from desktop_app.requests import (
    Ask,
    ChangeSettings,
    ClearCache,
    DeleteConversation,
    Doctor,
    Edit,
    FindRectangles,
    ForkConversation,
    GetCacheReport,
    Ingest,
    ListConversations,
    ListDocuments,
    ListModels,
    ListPages,
    NewConversation,
    OpenConversation,
    Regenerate,
    Remove,
    RenameConversation,
    Request,
    Stop,
)

__all__ = [
    "Answered",
    "Ask",
    "CacheFigures",
    "ChangeSettings",
    "ClearCache",
    "ConversationEntry",
    "ConversationList",
    "ConversationOpened",
    "DeleteConversation",
    "Delta",
    "Doctor",
    "DoctorFindings",
    "DocumentList",
    "Draft",
    "Edit",
    "Evidence",
    "Failed",
    "FindRectangles",
    "Finished",
    "ForkConversation",
    "GetCacheReport",
    "Ingest",
    "Ingested",
    "ListConversations",
    "ListDocuments",
    "ListModels",
    "ListPages",
    "Message",
    "ModelList",
    "NewConversation",
    "Notice",
    "OpenConversation",
    "PageEntry",
    "PageList",
    "Progress",
    "Reading",
    "Rectangles",
    "Regenerate",
    "Remove",
    "RenameConversation",
    "Reply",
    "Request",
    "SettingsChanged",
    "Started",
    "Stop",
    "decode_reply",
    "decode_request",
    "encode",
]

REQUESTS: dict[str, type] = {cls.__name__: cls for cls in Request.__args__}
REPLIES: dict[str, type] = {cls.__name__: cls for cls in Reply.__args__}


def encode(record: Request | Reply) -> bytes:
    """A record's bytes."""
    return codec.encode(record)


def decode_request(data: bytes) -> Request:
    """A request from its bytes. Raises CodecError."""
    request: Request = codec.decode(data, REQUESTS)
    return request


def decode_reply(data: bytes) -> Reply:
    """A reply from its bytes. Raises CodecError."""
    reply: Reply = codec.decode(data, REPLIES)
    return reply
