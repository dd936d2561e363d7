"""The events of an image stream, as the vendor names them."""

import time
from collections.abc import Mapping
from typing import Any

import orjson

from inference.routes.images.kinds import AUTO

PARTIAL = "image_generation.partial_image"
COMPLETED = "image_generation.completed"

Event = Mapping[str, Any]


def render(event: Event) -> bytes:
    """Render one event, named by its type."""
    return b"event: %b\ndata: %b\n\n" % (event["type"].encode(), orjson.dumps(event))


def events_of(answer: Mapping[str, Any]) -> bytes:
    """Render a complete response as the last event of a stream, with its first image."""
    return render(event_of(COMPLETED, answer["data"][0]["b64_json"], answer, usage=answer.get("usage")))


def event_of(kind: str, b64_json: str, properties: Mapping[str, Any], **members: Any) -> dict[str, Any]:
    """Build an image event. Missing properties are `auto`, or PNG for the format."""
    return {
        "type": kind,
        "b64_json": b64_json,
        "background": properties.get("background") or AUTO,
        "created_at": properties.get("created") or int(time.time()),
        "output_format": properties.get("output_format") or "png",
        "quality": properties.get("quality") or AUTO,
        "size": properties.get("size") or AUTO,
        **members,
    }
