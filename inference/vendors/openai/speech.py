"""Speech at upstreams that implement the public vendor API."""

import re
from typing import Any, Self

from gateway.core.outbound.bodies import read_bounded, read_part
from gateway.core.outbound.response import Response
from inference.adapters.errors import broken_by
from inference.adapters.exchange import ANSWER_MAX_BYTES, NotJSONError, is_event_stream
from inference.adapters.http_endpoint import JsonSender
from inference.adapters.streams import STREAM_MAX_BYTES, HttpStream, LastEventStream
from inference.interface.answer import EVENT_STREAM_TYPE, Answer, Chunk
from inference.interface.upstream import Attempt
from inference.routes.speech.bound import BoundedSpeech
from inference.routes.speech.request import MEDIA_TYPES
from inference.routes.speech.stream import DELTA, DONE, render

AUDIO_TYPE = "application/octet-stream"
"""The media type that the vendor's own SDKs request. Its reference documents it for every format."""
_PARAMETERS = re.compile(r"[\w!#$&^.+/-]+(; ?[\w-]{1,32}=[\w.,-]{1,32}){0,4}", re.ASCII)


class SpeechEventStream(LastEventStream):
    """Forwards the vendor's events."""

    def rewrite(self, event: dict[str, Any]) -> Chunk:
        kind = event.get("type")
        if kind == DONE:
            self._ended = True
            usage = event.get("usage")
            last = {"type": DONE, **({"usage": usage} if isinstance(usage, dict) else {})}
            return Chunk(b"", events=(last,))
        if kind != DELTA or not isinstance(event.get("audio"), str):
            raise NotJSONError("an event without audio")
        return Chunk(render({"type": DELTA, "audio": event["audio"]}), 1)


class OpenAISpeech(JsonSender[BoundedSpeech]):
    """`POST /audio/speech`. Audio is forwarded as it arrives."""

    path = "/audio/speech"

    def body(self, attempt: Attempt[BoundedSpeech], *, streams: bool) -> dict[str, Any]:
        """Build the body without `stream`, which some upstreams take as a request for a different kind of stream."""
        body = super().body(attempt, streams=streams)
        body.pop("stream", None)
        return body

    def stream_accept(self, attempt: Attempt[BoundedSpeech]) -> str:
        """Return the media type of events, or one for bytes of any type; `stream_of` checks the type that is sent."""
        return EVENT_STREAM_TYPE if attempt.request.params.as_events else AUDIO_TYPE

    def stream_of(self, attempt: Attempt[BoundedSpeech], response: Response) -> HttpStream | None:
        """Return the events, or the bytes under their media type. Return None for bytes if events were requested."""
        if attempt.request.params.as_events:
            return SpeechEventStream(attempt, response) if is_event_stream(response) else None
        return ByteStream(attempt, response, media_type_of(attempt, response))

    async def read(self, attempt: Attempt[BoundedSpeech], response: Response) -> Answer:
        """Read audio that was sent in one piece."""
        media_type_of(attempt, response)
        audio = await read_bounded(response.content, ANSWER_MAX_BYTES)
        if not audio:
            raise NotJSONError("an empty body")
        return Answer(audio, None)


def media_type_of(attempt: Attempt[BoundedSpeech], response: Response) -> str:
    """Return the media type of the answer. Raises NotJSONError if it is not one of the requested format or of any bytes."""
    sent = response.headers.get("Content-Type", "").strip()
    plain = sent.partition(";")[0].strip().lower()
    if plain != AUDIO_TYPE and plain not in MEDIA_TYPES[attempt.request.params.audio_format]:
        raise NotJSONError(f"content type {plain}")
    return sent if _PARAMETERS.fullmatch(sent) else plain


class ByteStream(HttpStream):
    """A body under the upstream's own media type. One without a length is complete when its connection is closed (RFC 9112
    section 8), as HTTP/1.0 servers send it."""

    def __init__(self, attempt: Attempt[Any], response: Response, media_type: str) -> None:
        self.media_type = media_type
        self._attempt = attempt
        self._response = response
        self._first: bytes | None = None
        self._read_bytes = 0

    async def begin(self) -> None:
        """Wait for the first bytes. Raises NotJSONError if there are none."""
        self._first = await self._read()
        if not self._first:
            raise NotJSONError("an empty body")

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Chunk:
        try:
            data, self._first = self._first or await self._read(), None
        except Exception as error:
            self.ended(whole=False)
            raise broken_by(self._attempt, error) from error
        if data:
            return Chunk(data)
        self.ended(whole=True)
        raise StopAsyncIteration

    async def close(self) -> None:
        """Close the response. A body that was read to its end has already released its connection."""
        self.on_end = None
        self._response.close()

    async def _read(self) -> bytes:
        data = await read_part(self._response.content)
        self._read_bytes += len(data)
        if self._read_bytes > STREAM_MAX_BYTES:
            raise NotJSONError("stream too large")
        return data
