"""Speech at upstreams that speak the public vendor API."""

import re
from typing import Any

import aiohttp

from gateway.core.outbound.bodies import read_bounded
from inference.adapters.byte_stream import ByteStream
from inference.adapters.errors import broken_by_event
from inference.adapters.exchange import ANSWER_MAX_BYTES, NotJSONError, is_event_stream, parse_object
from inference.adapters.http_endpoint import JsonSender
from inference.adapters.streams import EventStream, HttpStream
from inference.routes.speech.bound import BoundedSpeech
from inference.routes.speech.request import MEDIA_TYPES
from inference.routes.speech.stream import DELTA, DONE, render
from inference.rules.answer import EVENT_STREAM_TYPE, Answer, Chunk
from inference.rules.upstream import Attempt

SOUND_TYPE = "application/octet-stream"
"""What the vendor's own SDKs ask for."""
_PARAMETERS = re.compile(r"[\w!#$&^.+/-]+(; ?[\w-]{1,32}=[\w.,-]{1,32}){0,4}", re.ASCII)


class SpeechEventStream(EventStream):
    """Forwards the vendor's events up to the last one, which is held back."""

    def translate(self, data: bytes) -> Chunk | None:
        """Check one event. What comes behind the last one is not read."""
        if self._ended:
            return None
        if data == b"[DONE]":
            raise NotJSONError("the stream ended without a last event")
        event = parse_object(data)
        kind = event.get("type")
        if event.get("error") or kind == "error":
            raise broken_by_event(self._attempt, event)
        if kind == DONE:
            self._ended = True
            usage = event.get("usage")
            last = {"type": DONE, **({"usage": usage} if isinstance(usage, dict) else {})}
            return Chunk(b"", events=(last,))
        if kind != DELTA or not isinstance(event.get("audio"), str):
            raise NotJSONError("an event that is no sound")
        return Chunk(render({"type": DELTA, "audio": event["audio"]}), 1)


class OpenAISpeech(JsonSender[BoundedSpeech]):
    """`POST /audio/speech`. What comes is handed on as it comes."""

    path = "/audio/speech"

    def body(self, attempt: Attempt[BoundedSpeech], *, streams: bool) -> dict[str, Any]:
        """Build the body; a member that an upstream of another kind takes for a stream of its own is left out."""
        body = super().body(attempt, streams=streams)
        body.pop("stream", None)
        return body

    def stream_accept(self, attempt: Attempt[BoundedSpeech]) -> str:
        """Ask for events, or for bytes of any type: which types may come, `stream_of` checks."""
        return EVENT_STREAM_TYPE if attempt.request.asked.as_events else SOUND_TYPE

    def stream_of(self, attempt: Attempt[BoundedSpeech], response: aiohttp.ClientResponse) -> HttpStream | None:
        """Return the events, or the bytes under their media type; None for bytes where events were asked for."""
        if attempt.request.asked.as_events:
            return SpeechEventStream(attempt, response) if is_event_stream(response) else None
        return ByteStream(attempt, response, media_type_of(attempt, response))

    async def read(self, attempt: Attempt[BoundedSpeech], response: aiohttp.ClientResponse) -> Answer:
        """Read sound that came in one piece."""
        media_type_of(attempt, response)
        sound = await read_bounded(response, ANSWER_MAX_BYTES)
        if not sound:
            raise NotJSONError("an empty body")
        return Answer(sound, None)


def media_type_of(attempt: Attempt[BoundedSpeech], response: aiohttp.ClientResponse) -> str:
    """Return the media type of the answer, or raise NotJSONError where it is not of the format that was asked for."""
    sent = response.headers.get("Content-Type", "").strip()
    plain = sent.partition(";")[0].strip().lower()
    if plain not in MEDIA_TYPES[attempt.request.asked.audio_format]:
        raise NotJSONError(f"content type {plain}")
    return sent if _PARAMETERS.fullmatch(sent) else plain
