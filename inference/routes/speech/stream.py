"""The stream formats of speech: raw bytes, or the vendor's events."""

import base64
from collections.abc import Mapping
from typing import Any

import orjson

from billing.rules.quantities import Quantities
from gateway.core.contract.errors import ApiError
from inference.adapters.sse import event_bytes
from inference.interface.answer import Chunk
from inference.interface.request import StreamFormat, StreamMeter

DELTA, DONE = "speech.audio.delta", "speech.audio.done"
EVENT_AUDIO_BYTES = 96 * 1024
"""The audio bytes per event of the gateway; a multiple of three, so that the base64 texts can be joined."""


class SpeechMeter(StreamMeter):
    """Returns a count that is known from the start: the upstream has read all characters before it speaks the first."""

    is_beyond_limit = False

    def __init__(self, quantities: Quantities) -> None:
        self._quantities = quantities
        self.last: Mapping[str, Any] = {"type": DONE}

    def add(self, chunk: Chunk) -> None:
        for event in chunk.events:
            self.last = event

    def reported(self) -> Quantities:
        return self._quantities

    def delivered(self) -> Quantities:
        return self._quantities


class AudioFormat(StreamFormat):
    """Raw bytes: a stream that breaks off is cut (`reports_errors`)."""

    terminator = b""

    def __init__(self, media_type: str) -> None:
        self.media_type = media_type

    def error(self, error: ApiError, request_id: str) -> bytes:
        return b""


class SpeechEventFormat(StreamFormat):
    """Events `speech.audio.…`. The last one is withheld until the call is settled."""

    def __init__(self, meter: SpeechMeter) -> None:
        self._meter = meter

    @property
    def terminator(self) -> bytes:
        return render(self._meter.last)


def render(event: Mapping[str, Any]) -> bytes:
    """Render one event."""
    return event_bytes(orjson.dumps(event))


def delta_of(audio: bytes) -> bytes:
    """Render an event with audio."""
    return render({"type": DELTA, "audio": base64.b64encode(audio).decode()})


def whole_as_events(audio: bytes) -> bytes:
    """Render a complete response as events."""
    pieces = (audio[at : at + EVENT_AUDIO_BYTES] for at in range(0, len(audio), EVENT_AUDIO_BYTES))
    return b"".join([*map(delta_of, pieces), render({"type": DONE})])
