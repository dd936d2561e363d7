"""The lean handler: from an ASGI scope to a view and back."""

import asyncio
from collections.abc import Sequence
from functools import lru_cache

from corsheaders.middleware import CorsMiddleware
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import Resolver404, ResolverMatch, URLPattern

from gateway.core.contract.errors import NotFound
from gateway.core.contract.headers import REQUEST_ID
from gateway.core.django_internals import resolver_of
from gateway.core.http import edge
from gateway.core.http.exceptions import answered
from gateway.core.http.lean.answers import LeanAnswer, LeanResponse
from gateway.core.http.lean.bodies import BodyReader, ClientLeft, Receive
from gateway.core.http.lean.disconnects import DisconnectWatch
from gateway.core.http.lean.memory import BodyMemory, LargeBodies
from gateway.core.http.lean.requests import LeanRequest, Scope
from gateway.core.http.lean.sending import Send, cut, send_response
from gateway.core.http.lean.streams import Incomplete
from gateway.core.http.request_ids import request_id_of_scope
from gateway.core.http.responses import error_response, style_of

REMEMBERED_PATH_MAX_CHARACTERS = 256

DEFAULT_HEADERS = ((b"vary", b"origin"), (b"cache-control", b"no-store"))
_REQUEST_ID = REQUEST_ID.lower().encode("ascii")


class LeanHandler:
    """Serves a URLconf of coroutine views without leaving the event loop."""

    def __init__(self, patterns: Sequence[URLPattern]) -> None:
        self._resolve_long = resolver_of(patterns)
        self._resolve_short = lru_cache(maxsize=1024)(self._resolve_long)
        self.large_bodies = LargeBodies()

    def serves(self, path: str) -> bool:
        """Return whether this handler serves a path, whatever the method."""
        try:
            self._resolve(path)
        except Resolver404:
            return False
        return True

    def route_of(self, path: str) -> str:
        """Return the pattern of a path in the URLconf, "" if this handler does not serve it."""
        try:
            return self._resolve(path).route or ""
        except Resolver404:
            return ""

    def _resolve(self, path: str) -> ResolverMatch:
        """Resolve a path. Long paths are not cached, so that unknown paths take at most 256 KiB."""
        if len(path) > REMEMBERED_PATH_MAX_CHARACTERS:
            return self._resolve_long(path)
        return self._resolve_short(path)

    def _error_style(self, path: str) -> str:
        try:
            return style_of(self._resolve(path).func)
        except Resolver404:
            return "api"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request. A client's disconnect cancels its view, even if no stream is open."""
        watch, memory = DisconnectWatch(receive), BodyMemory(self.large_bodies)
        try:
            request_id = request_id_of_scope(scope)
            response = await self._answer(scope, receive, watch, memory, request_id)
            # Not set on the response: Django checks each header's characters several times.
            headers = [*DEFAULT_HEADERS, (_REQUEST_ID, request_id.encode("ascii"))]
            if self._error_style(scope["path"]) == "messages":  # the vendor's name of the same header
                headers.append((b"request-id", request_id.encode("ascii")))
            await send_response(send, response, headers)
            watch.is_answered = True
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
    ) -> LeanAnswer:
        try:
            edge.check(scope["path"], *_texts(scope))
            request = LeanRequest(scope, BodyReader(receive, scope["headers"]), memory, watch, request_id)
            # Without an Origin, CORS would only add the Vary header.
            return await (self._respond_to_page(request) if request.has_origin else self._respond(request))
        except ClientLeft:
            raise
        except Exception as error:  # noqa: BLE001 - nothing but the catalogue's answers leaves
            return error_response(answered(error), request_id, style=self._error_style(scope["path"]))

    async def _respond(self, request: LeanRequest) -> LeanAnswer:
        try:
            match = self._resolve(request.path)
        except Resolver404:
            raise NotFound from None
        response: LeanAnswer = await match.func(request, *match.args, **match.kwargs)
        return response

    async def _respond_to_page(self, request: LeanRequest) -> LeanAnswer:
        """Respond to a browser page with the CORS headers of its origin."""

        async def respond(_: HttpRequest) -> HttpResponseBase:
            response = await self._respond(request)
            return response.to_django() if isinstance(response, LeanResponse) else response

        return await CorsMiddleware(respond)(request.to_django())  # type: ignore[misc] # asynchronous, as `respond` is


def _texts(scope: Scope) -> tuple[str, str]:
    """Return the raw query and the values of all headers."""
    headers = b" ".join([value for _, value in scope["headers"]])
    return str(scope["query_string"], "latin-1"), str(headers, "latin-1")


def _clear_cancellation() -> None:
    """Clear the cancellation: it was ours, and the server's own task continues."""
    task = asyncio.current_task()
    if task:
        task.uncancel()
