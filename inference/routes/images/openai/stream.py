"""The event stream of an image."""

from typing import Any

from inference.adapters.errors import broken_by_event
from inference.adapters.exchange import NotJSONError, parse_object
from inference.adapters.streams import EventStream
from inference.routes.images.events import COMPLETED, PARTIAL, event_of, render
from inference.routes.images.openai.shapes import created_of, read_data, told_of
from inference.rules.answer import Chunk
from inference.rules.upstream import Attempt

_DONE = b"[DONE]"


class ImageStream(EventStream):
    """Forwards partial images, up to the image itself, which is held back."""

    event_max_bytes = 24 * 1024 * 1024

    def __init__(self, attempt: Attempt[Any], response: Any) -> None:
        super().__init__(attempt, response)
        self._partial_images = 0

    def translate(self, data: bytes) -> Chunk | None:
        """Rewrite one event. What comes behind the last one is not read, and an event of another kind is left out."""
        if self._ended:
            return None
        if data == _DONE:
            raise NotJSONError("the stream ended without an image")
        event = parse_object(data)
        kind = event.get("type")
        if event.get("error") or kind == "error":
            raise broken_by_event(self._attempt, event)
        if kind == COMPLETED:
            self._ended = True
            return Chunk(b"", events=(_ours(event, usage=_usage(event)),))
        if kind != PARTIAL:
            return Chunk(b"")
        return self._partial(event)

    def _partial(self, event: dict[str, Any]) -> Chunk:
        """Number a partial image. More of them than were asked for is no answer to the request."""
        if self._partial_images >= self._attempt.request.asked.partial_images:
            raise NotJSONError("more partial images than were asked for")
        ours = _ours(event, partial_image_index=self._partial_images)
        self._partial_images += 1
        return Chunk(render(ours), events=(ours,))


def _ours(event: dict[str, Any], **members: Any) -> dict[str, Any]:
    """Keep what the vendor documents of an event."""
    told = {**told_of(event), "created": created_of(event, "created_at")}
    return event_of(event["type"], read_data(event), told, **members)


def _usage(event: dict[str, Any]) -> dict[str, Any] | None:
    usage = event.get("usage")
    if usage is None or isinstance(usage, dict):
        return usage
    raise NotJSONError("usage is no object")
