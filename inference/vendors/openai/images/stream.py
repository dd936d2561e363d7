"""The event stream of an image. Of the upstream's images, only documented members are read, in their documented shape."""

import re
import time
from collections.abc import Mapping
from typing import Any

from inference.adapters.exchange import NotJSONError
from inference.adapters.streams import LastEventStream
from inference.interface.answer import Chunk
from inference.interface.upstream import Attempt
from inference.routes.images.stream import COMPLETED, PARTIAL, event_of, render

REPORTED = ("background", "output_format", "quality", "size")
"""The members with which an answer or an event describes its image."""

_HEAD = re.compile(r"[A-Za-z0-9+/]+={0,2}", re.ASCII)

_HEAD_CHARACTERS = 64


class ImageStream(LastEventStream):
    """Forwards partial images. The final image is held back."""

    event_max_bytes = 24 * 1024 * 1024

    def __init__(self, attempt: Attempt[Any], response: Any) -> None:
        super().__init__(attempt, response)
        self._partial_images = 0

    def rewrite(self, event: dict[str, Any]) -> Chunk:
        """Rewrite one event. Events of other types are omitted."""
        if event.get("type") == COMPLETED:
            self._ended = True
            return Chunk(b"", events=(_ours(event, usage=_usage(event)),))
        if event.get("type") != PARTIAL:
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


def read_data(holder: Mapping[str, Any]) -> str:
    """Return an image's base64. Raises NotJSONError. Only its beginning is checked, because it may have many megabytes."""
    data = holder.get("b64_json")
    if not isinstance(data, str) or not data.isascii() or not _HEAD.fullmatch(data[:_HEAD_CHARACTERS]):
        raise NotJSONError("an image without its data")
    return data


def image_properties(holder: Mapping[str, Any]) -> dict[str, str]:
    """Return the members with which an answer or an event describes its image."""
    return {name: holder[name] for name in REPORTED if isinstance(holder.get(name), str)}


def created_of(holder: Mapping[str, Any], name: str) -> int:
    """Return the creation time of an image in Unix seconds, or the current time if the upstream does not report it."""
    created = holder.get(name)
    return created if type(created) is int and created >= 0 else int(time.time())
