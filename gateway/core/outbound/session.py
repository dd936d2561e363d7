"""The one HTTP client session of a process: pooled, without cookies, and without automatic proxies or redirects."""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import aiohttp
from django.conf import settings

from gateway.core.api.per_loop import PerLoop
from gateway.core.outbound.connections import CarefulConnector

KEEPALIVE_SECONDS = 4.0
"""Shorter than the 5 s after which uvicorn and Node close an idle connection. A request that meets a connection in the
act of closing is lost without anyone knowing whether it was taken, so ours is always the first to hang up."""

HEADER_LINE_MAX_BYTES = 8 * 1024
HEADER_FIELD_MAX_BYTES = 16 * 1024
HEADERS_MAX = 128

on_send: ContextVar[Callable[[], None] | None] = ContextVar("on_send", default=None)
"""Called right before the first byte of a request with a body is written. (aiohttp's own tracing would take twenty
times as long for it.)"""


def session() -> aiohttp.ClientSession:
    """Return the running loop's session, opened at its first use. Its owner calls `close_session` before the loop
    ends."""
    current = _sessions.get()
    if current.closed:
        _sessions.pop()
        current = _sessions.get()
    return current


def socket_session() -> aiohttp.ClientSession:
    """Return the running loop's session for WebSockets, which live long: they take no places of other calls."""
    return _socket_sessions.get()


async def close_session() -> None:
    """Close the running loop's sessions and their connections. Safe to call twice, or without a session."""
    for sessions in (_sessions, _socket_sessions):
        if (current := sessions.pop()) is not None:
            await current.close()


def _open() -> aiohttp.ClientSession:
    return _session(_connector())


def _open_for_sockets() -> aiohttp.ClientSession:
    connector = CarefulConnector(limit=0, keepalive_timeout=KEEPALIVE_SECONDS, ttl_dns_cache=30)
    return _session(connector, middlewares=(_refuse_redirects,))


def _session(connector: aiohttp.BaseConnector, **options: Any) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        trust_env=False,
        headers={"User-Agent": "account-gateway"},
        request_class=_Request,
        max_line_size=HEADER_LINE_MAX_BYTES,
        max_field_size=HEADER_FIELD_MAX_BYTES,
        max_headers=HEADERS_MAX,
        **options,
    )


async def _refuse_redirects(request: aiohttp.ClientRequest, send: aiohttp.ClientHandlerType) -> aiohttp.ClientResponse:
    """Refuse to be sent elsewhere: the client follows a redirect of a handshake, and has no option for it."""
    response = await send(request)
    if 300 <= response.status < 400:
        response.close()
        raise aiohttp.WSServerHandshakeError(
            response.request_info, (), status=response.status, message="redirect", headers=response.headers
        )
    return response


class _Request(aiohttp.ClientRequest):
    async def write_bytes(self, *args: Any, **options: Any) -> None:
        # Not when the connection is made: a task of its own writes, and a process may die before that has its turn.
        if (call := on_send.get()) is not None:
            call()
        await super().write_bytes(*args, **options)


def _connector() -> aiohttp.TCPConnector:
    """Bound the pool, and keep a quarter of it from any single host, so that one that hangs cannot starve the rest.

    The event loop sets TCP_NODELAY on every connection.
    """
    most = settings.UPSTREAM_CONNECTIONS_MAX
    return CarefulConnector(
        limit=most, limit_per_host=max(1, most * 3 // 4), keepalive_timeout=KEEPALIVE_SECONDS, ttl_dns_cache=30
    )


_sessions = PerLoop(_open)
_socket_sessions = PerLoop(_open_for_sockets)
