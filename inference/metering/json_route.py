"""Routes that take a JSON object, as most do."""

from typing import ClassVar, TypeVar

from gateway.api.json import strict_loads_async
from gateway.api.offload import is_large
from gateway.contract.errors import UnsupportedMediaType
from gateway.contract.limits import MODEL_BODY_MAX_BYTES
from inference.metering.route import Headers, MeteredRequest, MeteredRoute
from inference.rules.json_body import JsonBody

Valid = TypeVar("Valid")


class JsonRoute(MeteredRoute[JsonBody, Valid]):
    """A route that takes a JSON object."""

    body_max_bytes: ClassVar[int] = MODEL_BODY_MAX_BYTES

    async def read(self, request: MeteredRequest) -> JsonBody:
        """Read and parse the body, a large one beside the event loop."""
        _check_media_type(request.raw_headers)
        body = await request.read_body(self.body_max_bytes)
        return JsonBody(await strict_loads_async(body), is_large(body), len(body))


def _check_media_type(headers: Headers) -> None:
    sent = [value for name, value in headers if name == b"content-type"]
    media_type, _, parameters = sent[0].partition(b";") if len(sent) == 1 else (b"", b"", b"")
    charset = parameters.strip().lower().replace(b'"', b"").replace(b" ", b"")
    if media_type.strip().lower() != b"application/json" or charset not in (b"", b"charset=utf-8", b"charset=utf8"):
        raise UnsupportedMediaType(headers={"Accept": "application/json"})
