"""The event stream of a transcription: its meter and its format."""

from collections.abc import Callable, Mapping
from typing import Any

import orjson

from billing.rules.quantities import Quantities
from inference.adapters.sse import event_bytes
from inference.interface.answer import Chunk
from inference.interface.request import StreamFormat, StreamMeter

DELTA, DONE = "transcript.text.delta", "transcript.text.done"
Event = Mapping[str, Any]


class TranscriptMeter(StreamMeter):
    """Waits for the last event, which states the usage. The upstream always has the whole file, so a stream that breaks
    off has used the file's seconds."""

    is_beyond_limit = False

    def __init__(self, read_usage: Callable[[Mapping[str, Any] | None], Quantities]) -> None:
        self._read_usage = read_usage
        self.last: Event | None = None

    def add(self, chunk: Chunk) -> None:
        for event in chunk.events:
            if event["type"] == DONE:
                self.last = event

    def reported(self) -> Quantities:
        """Return the seconds that the last event states, or the file's."""
        return self._read_usage(self.last.get("usage") if self.last else None)

    def delivered(self) -> Quantities:
        return self._read_usage(None)


class TranscriptFormat(StreamFormat):
    """Events `transcript.text.…`. The last one is withheld until the call is settled."""

    def __init__(self, meter: TranscriptMeter) -> None:
        self._meter = meter

    @property
    def terminator(self) -> bytes:
        return render(self._meter.last) if self._meter.last is not None else b""


def render(event: Event) -> bytes:
    """Render one event."""
    return event_bytes(orjson.dumps(event))


def whole_as_events(body: Any) -> bytes:
    """Render a complete response, JSON or text, as one delta and the last event."""
    text = body if isinstance(body, str) else body["text"]
    done = {"type": DONE, "text": text}
    if isinstance(body, Mapping):
        done |= {name: body[name] for name in ("logprobs", "languages", "usage") if body.get(name) is not None}
    return render({"type": DELTA, "delta": text}) + render(done)
