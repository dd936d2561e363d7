"""The event stream of an image."""

from typing import Any

from inference.adapters.errors import broken_by_event
from inference.adapters.exchange import NotJSONError, parse_object
from inference.adapters.streams import EventStream
from inference.interface.answer import Chunk
from inference.interface.upstream import Attempt
from inference.routes.images.stream import COMPLETED, PARTIAL, event_of, render
from inference.vendors.openai.images.shapes import created_of, image_properties, read_data

_DONE = b"[DONE]"


class ImageStream(EventStream):
    """Forwards partial images. The final image is held back."""

    event_max_bytes = 24 * 1024 * 1024

    def __init__(self, attempt: Attempt[Any], response: Any) -> None:
        super().__init__(attempt, response)
        self._partial_images = 0

    def translate(self, data: bytes) -> Chunk | None:
        """Rewrite one event. Data after the last event is not read, and events of other types are omitted."""
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
        """Number a partial image. Raises NotJSONError if there are more than requested."""
        if self._partial_images >= self._attempt.request.params.partial_images:
            raise NotJSONError("more partial images than requested")
        ours = _ours(event, partial_image_index=self._partial_images)
        self._partial_images += 1
        return Chunk(render(ours), events=(ours,))


def _ours(event: dict[str, Any], **members: Any) -> dict[str, Any]:
    """Keep only the documented members of an event."""
    described = {**image_properties(event), "created": created_of(event, "created_at")}
    return event_of(event["type"], read_data(event), described, **members)


def _usage(event: dict[str, Any]) -> dict[str, Any] | None:
    usage = event.get("usage")
    if usage is None or isinstance(usage, dict):
        return usage
    raise NotJSONError("usage is not an object")
