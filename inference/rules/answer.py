"""What came back from an upstream, and what the client gets of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gateway.core.contract.values import value_class

EVENT_STREAM_TYPE = "text/event-stream"


@value_class(frozen=True, slots=True)
class Answer:
    """A complete 2xx. `body` is of the route's own kind: a JSON object, or bytes.

    `usage` is the vendor's usage object as it came (unchecked), or None where it sent none.
    """

    body: Any
    usage: Mapping[str, Any] | None


@dataclass(slots=True)  # frozen, it would take three times as long to make, for every event of every stream
class Chunk:
    """Bytes to forward as they are (whole events, ids and model already ours), and what they tell.

    `data` may be empty (a usage event that the client did not ask for). `output_deltas` counts the events that carried
    output, `output_bytes` their UTF-8 bytes, `audio_tokens` estimates the sound beside them. `usage` is the vendor's usage
    object where this chunk carried one. `events` are the events themselves, already ours, where the route looks at them;
    one that is not in `data` is held back.
    """

    data: bytes
    output_deltas: int = 0
    output_bytes: int = 0
    audio_tokens: int = 0
    usage: Mapping[str, Any] | None = None
    events: tuple[Mapping[str, Any], ...] = ()


@value_class(frozen=True, slots=True)
class Content:
    """A whole answer as the client gets it. Under an event stream's media type, its terminator is in it."""

    media_type: str
    body: bytes
