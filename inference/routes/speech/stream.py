"""The streams of speech: bytes as they come, or the vendor's events."""

import base64
from collections.abc import Mapping
from typing import Any

import orjson

from billing.rules.quantities import Quantities
from gateway.core.contract.errors import ApiError
from inference.adapters.sse import event_bytes
from inference.rules.answer import Chunk
from inference.rules.request import StreamFormat, StreamMeter

DELTA, DONE = "speech.audio.delta", "speech.audio.done"
EVENT_AUDIO_BYTES = 96 * 1024
"""One event of ours carries so much sound; a multiple of three, so that the texts can be joined."""


class SpeechMeter(StreamMeter):
    """Knows the count from the beginning: the upstream has read all characters before it says the first."""

    is_beyond_limit = False

    def __init__(self, quantities: Quantities) -> None:
        self._quantities = quantities
        self.last: Mapping[str, Any] = {"type": DONE}

    def add(self, chunk: Chunk) -> None:
        """Note the last event."""
        for event in chunk.events:
            self.last = event

    def reported(self) -> Quantities:
        """Return the characters."""
        return self._quantities

    def delivered(self) -> Quantities:
        """Return the characters."""
        return self._quantities


class SoundFormat(StreamFormat):
    """Bytes, and nothing else: one that breaks off is cut (`tells_errors`)."""

    terminator = b""

    def __init__(self, media_type: str) -> None:
        self.media_type = media_type

    def error(self, error: ApiError, request_id: str) -> bytes:
        """Render nothing."""
        return b""

    def cut(self) -> bytes:
        """Render nothing."""
        return b""


class SpeechEventFormat(StreamFormat):
    """Events `speech.audio.…`. The last one is held back until the call is settled."""

    def __init__(self, meter: SpeechMeter) -> None:
        self._meter = meter

    @property
    def terminator(self) -> bytes:
        """Render the last event."""
        return render(self._meter.last)

    def error(self, error: ApiError, request_id: str) -> bytes:
        """Render an error as the vendor's SDKs look for it in a stream."""
        return event_bytes(orjson.dumps(error.body(request_id)))

    def cut(self) -> bytes:
        """Render nothing: speech has no limit that it could go beyond."""
        return b""


def render(event: Mapping[str, Any]) -> bytes:
    """Render one event."""
    return event_bytes(orjson.dumps(event))


def delta_of(sound: bytes) -> bytes:
    """Render the event of some sound."""
    return render({"type": DELTA, "audio": base64.b64encode(sound).decode()})


def whole_as_events(sound: bytes) -> bytes:
    """Render a whole answer as events."""
    pieces = (sound[at : at + EVENT_AUDIO_BYTES] for at in range(0, len(sound), EVENT_AUDIO_BYTES))
    return b"".join([*map(delta_of, pieces), render({"type": DONE})])
