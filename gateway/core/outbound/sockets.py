"""The aiohttp session for WebSockets. They last long, so they do not use the pool of other calls."""

import aiohttp

from gateway.core.api.per_loop import PerLoop
from gateway.core.outbound.connections import (
    HEAD_LIMITS,
    KEEPALIVE_SECONDS,
    USER_AGENT,
    CarefulConnector,
)


def socket_session() -> aiohttp.ClientSession:
    """Return the running loop's session, opened at its first use. Its owner calls `close_socket_session` before the loop
    ends."""
    return _sessions.get()


async def close_socket_session() -> None:
    """Close the running loop's session and its connections. Safe to call twice, or without a session."""
    if (current := _sessions.pop()) is not None:
        await current.close()


def _open() -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        connector=CarefulConnector(limit=0, keepalive_timeout=KEEPALIVE_SECONDS, ttl_dns_cache=30),
        cookie_jar=aiohttp.DummyCookieJar(),
        trust_env=False,
        headers={"User-Agent": USER_AGENT},
        **HEAD_LIMITS,
        middlewares=(_refuse_redirects,),
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


_sessions = PerLoop(_open)
