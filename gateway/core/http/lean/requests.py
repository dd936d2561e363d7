"""A request on the event loop, as its view sees it."""

from collections.abc import Callable
from io import BytesIO
from typing import Any

from gateway.core.contract.errors import InvalidRequest
from gateway.core.http.codings import HEADER, check_coding
from gateway.core.http.lean.bodies import BodyReader
from gateway.core.http.lean.disconnects import DisconnectWatch
from gateway.core.http.lean.memory import BodyMemory
from gateway.core.http.multipart import Form, boundary_of
from gateway.core.http.requests import Utf8Request

Scope = dict[str, Any]

_CODING = HEADER.lower().encode("ascii")


class LeanRequest:
    """A request as the server passes it on: header names are lower case, and the view reads the body when it is ready for it."""

    __slots__ = ("_memory", "_reader", "_scope", "_watch", "method", "path", "raw_headers", "raw_path", "request_id")

    def __init__(
        self, scope: Scope, reader: BodyReader, memory: BodyMemory, watch: DisconnectWatch, request_id: str
    ) -> None:
        self.method: str = scope["method"].upper()
        self.path: str = scope["path"]
        self.raw_headers: list[tuple[bytes, bytes]] = scope["headers"]
        self.raw_path: bytes = scope.get("raw_path") or scope["path"].encode()
        self.request_id = request_id
        self._scope = scope
        self._reader = reader
        self._memory = memory
        self._watch = watch

    @property
    def has_origin(self) -> bool:
        """Return whether a browser page sent this request."""
        for name, _ in self.raw_headers:  # noqa: SIM110 - any() takes three times as long
            if name == b"origin":
                return True
        return False

    async def read_body(self, limit_bytes: int) -> bytes:
        """Read the body (once), then watch for the client's disconnect."""
        self._check_coding()
        body = await self._memory.read(self._reader, limit_bytes)
        self._watch.watch()
        return body

    async def read_form(self, limit_bytes: int) -> Form:
        """Read a multipart body (once) with its file on disk, then watch for the client's disconnect. A caller that
        needs the file longer than the response takes must `keep` it."""
        self._check_coding()
        boundary = boundary_of([value for name, value in self.raw_headers if name == b"content-type"])
        form = await self._memory.read_form(self._reader, boundary, limit_bytes)
        self._watch.watch()
        return form

    def take_memory(self, size_bytes: int) -> None:
        """Reserve memory beside the body's until the response is sent. Raises NotReady if there is not enough."""
        self._memory.take(size_bytes)

    def on_end(self, call: Callable[[bool], None]) -> None:
        """Call a function once, when the request has ended, with whether its whole response was sent. It must not raise or wait."""
        self._watch.on_end = call

    def to_django(self) -> Utf8Request:
        """Build Django's request, without the body, for middleware. Raises InvalidRequest if the query is not UTF-8."""
        try:
            request = Utf8Request(self._scope, BytesIO())
        except UnicodeDecodeError:
            raise InvalidRequest("The query is not UTF-8.") from None
        request.path = request.path_info = self.path  # also where the server has a root path
        return request

    def _check_coding(self) -> None:
        for name, value in self.raw_headers:
            if name == _CODING:
                check_coding(value.decode("latin-1"))
