"""A named timeout for every phase of an outbound call, in seconds."""

from functools import lru_cache

import aiohttp
from django.conf import settings

from gateway.core.contract.limits import UPSTREAM_CONNECT_MAX_SECONDS

SOCKET_CLOSE_SECONDS = 1.0


def answer_timeout(seconds: float) -> aiohttp.ClientTimeout:
    """Bound a call that is answered as a whole: `seconds` of silence, and about as long until the answer is
    complete."""
    return _phases(silence=seconds, whole=seconds)


def stream_timeout(first_byte_seconds: float, whole_seconds: float) -> aiohttp.ClientTimeout:
    """Bound a stream until its first byte, and as a whole; see `idle_seconds` for the time between."""
    return _phases(silence=first_byte_seconds, whole=whole_seconds)


def socket_timeout() -> aiohttp.ClientWSTimeout:
    """Bound how long a WebSocket waits for the other side to say goodbye. Silence is the matter of pings."""
    return aiohttp.ClientWSTimeout(ws_close=SOCKET_CLOSE_SECONDS)


def idle_seconds(first_byte_seconds: float) -> float:
    """Return how long a stream that has begun may be silent: never longer than it might have taken to begin."""
    return min(settings.UPSTREAM_IDLE_SECONDS, first_byte_seconds)


def _phases(*, silence: float, whole: float) -> aiohttp.ClientTimeout:
    """Add time for connecting on top, so that a connection that never came is never taken for a lost answer."""
    return _with_connecting(
        min(settings.UPSTREAM_CONNECT_SECONDS, UPSTREAM_CONNECT_MAX_SECONDS, silence), silence, whole
    )


@lru_cache
def _with_connecting(connect: float, silence: float, whole: float) -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(
        total=whole + connect, connect=connect, sock_connect=connect, sock_read=silence, ceil_threshold=whole + 60
    )
