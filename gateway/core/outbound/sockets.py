"""The aiohttp session for WebSockets. They last long, so they do not use the pool of other calls."""

from collections.abc import Mapping

import aiohttp

from gateway.core.outbound.aiohttp_internals import Pool, send_once
from gateway.core.outbound.bodies import read_bounded
from gateway.core.outbound.client import HEAD_LIMITS, USER_AGENT
from gateway.core.outbound.distrust import distrust
from gateway.core.outbound.failures import TooLargeError
from gateway.core.runtime.per_loop import PerLoop

REFUSAL_MAX_BYTES = 64 * 1024


class HandshakeRefusedError(Exception):
    """The other side answered a handshake with a complete response that opens no socket. `body` is empty if it was too large."""

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self.status, self.headers, self.body = status, headers, body
        super().__init__(f"status {status}")


def socket_session() -> aiohttp.ClientSession:
    """Return the running loop's session, opened at its first use. Its owner calls `close_socket_session` before the loop
    ends."""
    return _sessions.get()


async def close_socket_session() -> None:
    """Close the running loop's session and its connections. Safe to call twice, or without a session."""
    if (current := _sessions.pop()) is not None:
        await current.close()


def _open() -> aiohttp.ClientSession:
    session = aiohttp.ClientSession(
        connector=Pool(distrust, limit=0, force_close=True, ttl_dns_cache=30),
        cookie_jar=aiohttp.DummyCookieJar(),
        trust_env=False,
        headers={"User-Agent": USER_AGENT},
        **HEAD_LIMITS,
        middlewares=(_read_refusal,),
    )
    return send_once(session)


async def _read_refusal(request: aiohttp.ClientRequest, send: aiohttp.ClientHandlerType) -> aiohttp.ClientResponse:
    """Raise HandshakeRefusedError with a refusal's body, which the client would not read. Redirects are refusals: the client
    would follow one, and has no option for it."""
    response = await send(request)
    if response.status == 101:
        return response
    try:
        body = await read_bounded(response.content, REFUSAL_MAX_BYTES)
    except TooLargeError:
        body = b""
    finally:
        response.close()
    raise HandshakeRefusedError(response.status, response.headers, body)


_sessions = PerLoop(_open)
