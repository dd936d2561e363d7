"""The stream format of an image."""

import time
from collections.abc import Mapping
from typing import Any

import orjson

from gateway.core.contract.errors import ApiError
from inference.interface.request import StreamFormat
from inference.routes.images.kinds import AUTO
from inference.routes.images.meter import ImageMeter

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


class ImageFormat(StreamFormat):
    """The vendor's events. The last one, with the image, is withheld until the call is settled."""

    def __init__(self, meter: ImageMeter) -> None:
        self._meter = meter

    @property
    def terminator(self) -> bytes:
        return render(self._meter.last) if self._meter.last else b""

    def error(self, error: ApiError, request_id: str) -> bytes:
        """Render an error in the form that the vendor's SDKs expect in a stream."""
        return b"event: error\ndata: %b\n\n" % orjson.dumps({"type": "error", **error.body(request_id)})

    def cut(self) -> bytes:
        """Render nothing: an image stream has no output limit to exceed."""
        return b""
