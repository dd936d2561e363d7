"""The four text streams, fed with bytes as they arrive from an upstream."""

import dataclasses
import re
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from billing.rules.prices import PriceList
from inference.adapters.streams import EventStream
from inference.adapters.translated import TranslatedStream
from inference.interface.model import ServedModel
from inference.interface.request import StreamedRequest
from inference.interface.upstream import Attempt, StreamBroken
from inference.routes.responses.bound import StreamedResponse
from inference.routes.responses.request import read_request
from inference.rules.json_body import JsonBody
from inference.rules.token_charge import TokenCharge
from inference.rules.token_usage import read_response
from inference.vendors.openai.chat.stream import ChatStream
from inference.vendors.openai.forms import CHAT_COMPLETIONS, OPENAI_RESPONSES
from inference.vendors.openai.responses.stream import ResponseStream
from inference.vendors.translated.chat import TranslatedChat
from inference.vendors.translated.responses import TranslatedResponses
from tests.inference.adapters.attempts import chat

Kind = Callable[[Attempt[Any], Any], EventStream]


def response_over_chat(attempt: Attempt[Any], response: Any) -> EventStream:
    """Translate chunks to typed events."""
    return TranslatedStream(attempt, response, TranslatedResponses(CHAT_COMPLETIONS))


def chat_over_responses(attempt: Attempt[Any], response: Any) -> EventStream:
    """Translate typed events to chunks."""
    return TranslatedStream(attempt, response, TranslatedChat(OPENAI_RESPONSES))


OVER_CHAT: Sequence[Kind] = (ChatStream, response_over_chat)
OVER_RESPONSES: Sequence[Kind] = (ResponseStream, chat_over_responses)

CHAT_END = b"data: [DONE]\n\n"
ITEM = b'{"type":"message","id":"msg_up","status":"in_progress","role":"assistant","content":[]}'
RESPONSE = b'{"id":"resp_up","status":"%b","output":[],"usage":%b}'


@dataclass
class Body:
    """A response's body as aiohttp provides it: some bytes at each read, nothing at its end."""

    reads: deque[bytes]
    closed: bool = False
    content: "Body" = field(init=False)

    def __post_init__(self) -> None:
        self.content = self

    async def readany(self) -> bytes:
        """Return the next read."""
        return self.reads.popleft() if self.reads else b""

    def is_eof(self) -> bool:
        """Return whether everything was read."""
        return not self.reads

    def exception(self) -> None:
        """Return None: no read fails."""

    def close(self) -> None:
        """Close the connection."""
        self.closed = True


@dataclass
class Seen:
    """The result of a stream. `left` is the ending that is written if it broke off, which contains the text until then."""

    data: bytes = b""
    deltas: int = 0
    size_bytes: int = 0
    audio_tokens: int = 0
    tier: Any = None
    usage: Any = None
    broken: str | None = None
    left: bytes = b""


async def seen(kind: Kind, reads: Sequence[bytes], *, recognizes: bool = True) -> Seen:
    """Read a stream to its end, with every event parsed unless it `recognizes` them."""
    attempt = attempt_of(kind)
    meter = attempt.request.meter()
    layout = attempt.request.stream_format(attempt.call.public_model, attempt.call.public_id, meter)
    whole = Seen()
    try:
        stream = kind(attempt, Body(deque(reads)))
        if not recognizes:
            never(stream)
        async for chunk in stream:
            meter.add(chunk)
            whole.data += chunk.data
            whole.deltas += chunk.output_deltas
            whole.size_bytes += chunk.output_bytes
            whole.usage = chunk.usage or whole.usage
            whole.audio_tokens += chunk.audio_tokens
            whole.tier = whole.tier if chunk.service_tier is None else chunk.service_tier
    except StreamBroken as broken:
        whole.broken = broken.reason
    whole.left = timeless(layout.cut())
    whole.data = timeless(whole.data)
    return whole


def never(stream: EventStream) -> None:
    """Have a stream recognize no event."""
    assert stream.templates is not None
    stream.templates.learn = lambda *_: None  # type: ignore[method-assign]


def kind_of(kind: Kind) -> type[EventStream]:
    """Return the class of a kind's streams."""
    return kind if isinstance(kind, type) else TranslatedStream


def timeless(data: bytes) -> bytes:
    """Remove the timestamps."""
    return re.sub(rb'"created(_at)?":\d+', b"", data)


def attempt_of(kind: Kind) -> Attempt[Any]:
    """Return the attempt whose client requested this stream."""
    attempt = chat("http://upstream.test", body={"stream": True})
    if kind in (ChatStream, chat_over_responses):
        return attempt
    request: StreamedRequest = _response_request()
    call = dataclasses.replace(attempt.call, public_id="resp_01k6wq5zj3y8r2v7n4m9tbcdef")
    return dataclasses.replace(attempt, request=request, call=call)


def _response_request() -> StreamedResponse:
    members = {"model": "fast", "input": "hello", "store": False, "stream": True}
    request = read_request(JsonBody(members, 100, b"", b"", is_large=False), ServedModel("fast"))
    return StreamedResponse(0, members, False, request, TokenCharge(PriceList(), read_response), 1000)


def chat_event(text: bytes, *, padding: bytes | None = None, index: bytes = b"0", member: bytes = b"content") -> bytes:
    """Write a chunk with a text in its JSON form."""
    padded = b"" if padding is None else b',"obfuscation":"%b"' % padding
    choice = b'{"index":%b,"delta":{"%b":"%b"},"finish_reason":null}' % (index, member, text)
    return b'data: {"id":"up-100%%d","choices":[%b],"usage":null%b}\n\n' % (choice, padded)


def delta_event(
    text: bytes, *, number: bytes = b"7", padding: bytes | None = None, kind: bytes = b"output_text"
) -> bytes:
    """Write a delta with a text in its JSON form."""
    name = b"response.%b.delta" % kind
    padded = b"" if padding is None else b',"obfuscation":"%b"' % padding
    place = b'"item_id":"msg_up","output_index":0,"content_index":0'
    data = b'{"type":"%b","sequence_number":%b,%b,"delta":"%b","logprobs":[]%b}' % (name, number, place, text, padded)
    return b"event: %b\ndata: %b\n\n" % (name, data)


def item_event(item: bytes = ITEM) -> bytes:
    """Write the event that begins an item, by default a message."""
    return b'data: {"type":"response.output_item.added","output_index":0,"item":%b}\n\n' % item


def chat_choice(choice: bytes) -> bytes:
    """Write a chunk with a choice in its JSON form."""
    return b'data: {"id":"up","choices":[%b]}\n\n' % choice


def begin_events() -> list[bytes]:
    """Write the events that begin a response."""
    part = b'"output_index":0,"content_index":0,"part":{"type":"output_text","text":""}'
    created = b'{"type":"response.created","response":%b}' % (RESPONSE % (b"in_progress", b"null"))
    return [b"data: %b\n\n" % created, item_event(), b'data: {"type":"response.content_part.added",%b}\n\n' % part]


def end_event() -> bytes:
    """Write the event that ends a response."""
    usage = b'{"input_tokens":3,"output_tokens":20,"total_tokens":23}'
    return b'data: {"type":"response.completed","response":%b}\n\n' % (RESPONSE % (b"completed", usage))
