"""Upstream responses, and their content for the client."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gateway.core.contract.values import value_class

EVENT_STREAM_TYPE = "text/event-stream"


@value_class(frozen=True, slots=True)
class Answer:
    """A complete 2xx response. `body` depends on the route: a JSON object, or bytes.

    `usage` is the vendor's usage object, unchecked, or None if it sent none.
    """

    body: Any
    usage: Mapping[str, Any] | None


@dataclass(slots=True)  # frozen, it would take three times as long to create, for every event of every stream
class Chunk:
    """Bytes to forward unchanged (whole events, ids and model already replaced), and what they contain.

    `data` may be empty (a usage event that the client did not request). `output_deltas` counts the events with output,
    `output_bytes` their UTF-8 bytes, `audio_tokens` estimates their audio. `usage` is the vendor's usage object if this
    chunk has one, `service_tier` the tier that it reports, unchecked. `events` are the events themselves, already
    rewritten, if the route inspects them; an event that is not in `data` is withheld.
    """

    data: bytes
    output_deltas: int = 0
    output_bytes: int = 0
    audio_tokens: int = 0
    usage: Mapping[str, Any] | None = None
    events: tuple[Mapping[str, Any], ...] = ()
    service_tier: Any = None


@value_class(frozen=True, slots=True)
class Content:
    """A complete response for the client. As an event stream it includes its terminator."""

    media_type: str
    body: bytes
