"""The stream format of an image."""

import orjson

from gateway.core.contract.errors import ApiError
from inference.interface.request import StreamFormat
from inference.routes.images.events import render
from inference.routes.images.meter import ImageMeter


class ImageFormat(StreamFormat):
    """The vendor's events. The last one, with the image, is withheld until the call is settled."""

    def __init__(self, meter: ImageMeter) -> None:
        self._meter = meter

    @property
    def terminator(self) -> bytes:
        """Render the event with the image."""
        return render(self._meter.last) if self._meter.last else b""

    def error(self, error: ApiError, request_id: str) -> bytes:
        """Render an error in the form that the vendor's SDKs expect in a stream."""
        return b"event: error\ndata: %b\n\n" % orjson.dumps({"type": "error", **error.body(request_id)})

    def cut(self) -> bytes:
        """Render nothing: an image stream has no output limit to exceed."""
        return b""
