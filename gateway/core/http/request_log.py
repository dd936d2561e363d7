"""One log line for each request (LOG_REQUESTS=true): its route as a pattern, never its path with ids, query, headers or body."""

import logging
import time
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any, Protocol

from django.http import HttpRequest

log = logging.getLogger("gateway.requests")

REQUEST_ID = b"x-request-id"
UNMATCHED = "-"
"""The route of a request for an address that there is not, or that was answered before it was looked up."""

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
OTHER = "OTHER"
"""Instead of any other word that a client sends as its method."""

STARTS = ("http.response.start", "websocket.http.response.start")

Application = Callable[[dict[str, Any], Any, Any], Awaitable[None]]


class Known(Protocol):
    """What is observed of a metered request."""

    usage_id: str
    account: str


class Line:
    """What is known of a request so far."""

    __slots__ = ("began_at", "known", "method", "request_id", "route", "status")

    def __init__(self, method: str) -> None:
        self.method = method if method in METHODS else OTHER
        self.began_at = time.perf_counter()
        self.known: Known | None = None
        self.request_id: str | None = None
        self.route = ""
        self.status: int | None = None

    def sent(self, message: dict[str, Any]) -> None:
        """Note what a message of the response says."""
        if message["type"] in STARTS:
            self.status = message["status"]
        elif message["type"] == "websocket.accept":
            self.status = 101
        elif message["type"] == "websocket.close" and self.status is None:
            self.status = 403  # as servers answer a handshake that is not accepted
        for name, value in message.get("headers", ()):
            if name.lower() == REQUEST_ID:
                self.request_id = value.decode("latin-1")

    def write(self) -> None:
        """Write the line. A request whose client left before its response has no status."""
        duration_ms = round((time.perf_counter() - self.began_at) * 1000, 1)
        route = self.route or UNMATCHED
        extra = {"method": self.method, "route": route, "status": self.status, "duration_ms": duration_ms}
        if self.known is not None:
            extra |= {"usage_id": self.known.usage_id or None, "account": self.known.account or None}
        if self.request_id is not None:
            extra["request_id"] = self.request_id
        text = (self.method, route, UNMATCHED if self.status is None else self.status, duration_ms)
        log.info("%s %s %s %s ms", *text, extra=extra)


_current: ContextVar[Line | None] = ContextVar("request_line", default=None)


class RequestLog:
    """Wraps the application. `route_of` finds the pattern of a path that Django does not resolve."""

    def __init__(self, application: Application, route_of: Callable[[str], str]) -> None:
        self._application = application
        self._route_of = route_of

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """Serve one request, and write its line."""
        if scope["type"] not in ("http", "websocket"):
            await self._application(scope, receive, send)
            return
        line = Line(scope.get("method", "GET"))

        async def send_noted(message: dict[str, Any]) -> None:
            line.sent(message)
            await send(message)

        _current.set(line)
        try:
            await self._application(scope, receive, send_noted)
        finally:
            line.route = line.route or _rooted(self._route_of(scope["path"]))
            line.write()


def note_route(request: HttpRequest) -> None:
    """Note the pattern that Django found for a request."""
    line = _current.get()
    if line is not None and request.resolver_match is not None:
        line.route = _rooted(request.resolver_match.route)


def note_known(known: Known) -> None:
    """Note what is observed of the current request; it is read when its line is written."""
    line = _current.get()
    if line is not None:
        line.known = known


def _rooted(route: str) -> str:
    return f"/{route}" if route else ""
