"""The stream of an image: its events, what they cost, and its format."""

import time
from collections.abc import Mapping
from typing import Any, Protocol

import orjson

from billing.rules.prices import PriceList
from billing.rules.quantities import Quantities
from gateway.core.contract.errors import ApiError
from inference.interface.answer import Chunk
from inference.interface.request import StreamFormat, StreamMeter
from inference.routes.images.kinds import AUTO, kind_of, most_expensive
from inference.routes.images.request import ImageRequest
from inference.rules.usage import MissingUsage

PARTIAL = "image_generation.partial_image"
COMPLETED = "image_generation.completed"

Event = Mapping[str, Any]

ESTIMATED_TOKENS = {"low": 272, "medium": 1_056, "high": 4_160}
"""The vendor's published output tokens of a square image, by quality. Any other quality counts as medium."""


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


class ImageBound(Protocol):
    """The interface of a request that a meter needs."""

    @property
    def params(self) -> ImageRequest: ...

    @property
    def prices(self) -> PriceList: ...

    @property
    def image_tokens(self) -> int: ...

    def quantities(self, images: int, properties: Mapping[str, Any], usage: Mapping[str, Any]) -> Quantities: ...


class ImageMeter(StreamMeter):
    """The running count of one stream. `last` is the event with the image, None until it arrives."""

    is_beyond_limit = False  # a stream ends with its image, and is broken off at an excess partial image

    def __init__(self, request: ImageBound) -> None:
        self._request = request
        self._partial: Event | None = None
        self.last: Event | None = None

    def add(self, chunk: Chunk) -> None:
        for event in chunk.events:
            if event["type"] == COMPLETED:
                self.last = event
            else:
                self._partial = event

    def reported(self) -> Quantities:
        """Count the image, of the kind that its event states, and read the tokens."""
        if self.last is None:
            raise MissingUsage("no image came")
        return self._request.quantities(1, self.last, self.last.get("usage") or {})

    def delivered(self) -> Quantities:
        """Count one image as soon as a partial one arrived: a client that leaves then has seen the work.

        Its tokens are estimated, within the hold.
        """
        seen = self.last or self._partial
        if seen is None:
            return Quantities(images=0)
        params, prices = self._request.params, self._request.prices
        kind = kind_of(prices, params.kind, seen)
        if kind not in prices.images:
            kind = most_expensive(prices, params.kind)
        if not prices.needs_token_usage:
            return Quantities(images=1, image_kind=kind)
        tokens = ESTIMATED_TOKENS.get(str(seen.get("quality")), ESTIMATED_TOKENS["medium"])
        output_tokens = min(tokens, self._request.image_tokens)
        return Quantities(images=1, image_kind=kind, input_tokens=params.input_estimate, output_tokens=output_tokens)


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
