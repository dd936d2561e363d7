"""The lean handler: from an ASGI scope to a view and back."""

import asyncio
from collections.abc import Sequence
from functools import lru_cache
from io import BytesIO
from typing import Any

from corsheaders.middleware import CorsMiddleware
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import Resolver404, ResolverMatch, URLPattern, URLResolver
from django.urls.resolvers import RegexPattern

from gateway.core.contract.errors import InvalidRequest, NotFound
from gateway.core.contract.headers import REQUEST_ID
from gateway.core.http import edge
from gateway.core.http.codings import HEADER, check_coding
from gateway.core.http.exceptions import answered
from gateway.core.http.lean.bodies import BodyReader, ClientLeft, Receive
from gateway.core.http.lean.disconnects import DisconnectWatch
from gateway.core.http.lean.memory import BodyMemory, LargeBodies
from gateway.core.http.lean.sending import Send, cut, send_response
from gateway.core.http.lean.streams import Incomplete
from gateway.core.http.multipart import Form, boundary_of
from gateway.core.http.request_ids import request_id_of_scope
from gateway.core.http.responses import error_response

Scope = dict[str, Any]

REMEMBERED_PATH_MAX_CHARACTERS = 256

DEFAULT_HEADERS = ((b"vary", b"origin"), (b"cache-control", b"no-store"))
_REQUEST_ID = REQUEST_ID.lower().encode("ascii")
_CODING = HEADER.lower().encode("ascii")


class LeanHandler:
    """Serves a URLconf of coroutine views without leaving the event loop."""

    def __init__(self, patterns: Sequence[URLPattern]) -> None:
        self._resolver = URLResolver(RegexPattern(r"^/"), list(patterns))
        self._resolve_short = lru_cache(maxsize=1024)(self._resolver.resolve)
        self._with_cors = CorsMiddleware(self._respond)
        self.large_bodies = LargeBodies()

    def serves(self, path: str) -> bool:
        """Return whether this handler serves a path, whatever the method."""
        try:
            self._resolve(path)
        except Resolver404:
            return False
        return True

    def _resolve(self, path: str) -> ResolverMatch:
        """Resolve a path. Long paths are not cached, so that unknown paths take at most 256 KiB."""
        if len(path) > REMEMBERED_PATH_MAX_CHARACTERS:
            return self._resolver.resolve(path)
        return self._resolve_short(path)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request. A client's disconnect cancels its view, even if no stream is open."""
        watch, memory = DisconnectWatch(receive), BodyMemory(self.large_bodies)
        try:
            request_id = request_id_of_scope(scope)
            response = await self._answer(scope, receive, watch, memory, request_id)
            # Not set on the response: Django checks each header's characters several times.
            await send_response(send, response, [*DEFAULT_HEADERS, (_REQUEST_ID, request_id.encode("ascii"))])
        except ClientLeft:
            pass
        except Incomplete:
            watch.stop()  # it would cancel the wait for the same event
            await cut(scope, receive)
        except asyncio.CancelledError:
            if not watch.has_left:
                raise
            _clear_cancellation()
        finally:
            watch.stop()
            memory.release()

    async def _answer(
        self, scope: Scope, receive: Receive, watch: DisconnectWatch, memory: BodyMemory, request_id: str
    ) -> HttpResponseBase:
        try:
            edge.check(scope["path"], *_texts(scope))
            request = LeanRequest(scope, BodyReader(receive, scope["headers"]), memory, watch, request_id)
            # Without an Origin, the middleware would only add the Vary header.
            respond = self._with_cors if request.has_origin else self._respond
            return await respond(request)  # type: ignore[misc]
        except ClientLeft:
            raise
        except UnicodeDecodeError:
            return error_response(InvalidRequest("The query is not UTF-8."), request_id)
        except Exception as error:  # noqa: BLE001 - nothing but the catalogue's answers leaves
            return error_response(answered(error), request_id)

    async def _respond(self, request: HttpRequest) -> HttpResponseBase:
        try:
            match = self._resolve(request.path_info)
        except Resolver404:
            raise NotFound from None
        request.resolver_match = match
        response: HttpResponseBase = await match.func(request, *match.args, **match.kwargs)
        return response


class LeanRequest(ASGIRequest):
    """Django's request, built from the scope only as far as it is used; the view reads its body when it is ready for
    it."""

    def __init__(
        self, scope: Scope, reader: BodyReader, memory: BodyMemory, watch: DisconnectWatch, request_id: str
    ) -> None:
        self.scope = scope
        self.method: str = scope["method"].upper()
        self.path = self.path_info = scope["path"]
        self.raw_headers: list[tuple[bytes, bytes]] = scope["headers"]
        self.raw_path: bytes = scope.get("raw_path") or scope["path"].encode()
        self.request_id = request_id
        self.resolver_match = None
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

    def _check_coding(self) -> None:
        for name, value in self.raw_headers:
            if name == _CODING:
                check_coding(value.decode("latin-1"))

    def __getattr__(self, name: str) -> Any:
        """Set up an attribute of Django's request on first use."""
        if name.startswith("__") or "META" in self.__dict__:
            raise AttributeError(name)
        ours = dict(self.__dict__)
        super().__init__(self.scope, BytesIO())
        self.__dict__.update(ours)
        return getattr(self, name)


def _texts(scope: Scope) -> tuple[str, str]:
    """Return the raw query and the values of all headers."""
    headers = b" ".join([value for _, value in scope["headers"]])
    return str(scope["query_string"], "latin-1"), str(headers, "latin-1")


def _clear_cancellation() -> None:
    """Clear the cancellation: it was ours, and the server's own task continues."""
    task = asyncio.current_task()
    if task:
        task.uncancel()
