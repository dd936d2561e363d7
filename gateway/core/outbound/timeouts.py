"""Timeouts for each phase of an outbound call, in seconds."""

from functools import lru_cache

import aiohttp
from django.conf import settings

from gateway.core.contract.limits import UPSTREAM_CONNECT_MAX_SECONDS

SOCKET_CLOSE_SECONDS = 1.0


def answer_timeout(seconds: float) -> aiohttp.ClientTimeout:
    """Return the timeouts of a call with a whole answer: `seconds` without data, and as long until the answer is
    complete."""
    return _phases(silence=seconds, whole=seconds)


def stream_timeout(first_byte_seconds: float, whole_seconds: float) -> aiohttp.ClientTimeout:
    """Return the timeouts of a stream, until its first byte and in total; see `idle_seconds` for the time between bytes."""
    return _phases(silence=first_byte_seconds, whole=whole_seconds)


def socket_timeout() -> aiohttp.ClientWSTimeout:
    """Return the timeout of a WebSocket's closing handshake. Pings detect a lost idle connection."""
    return aiohttp.ClientWSTimeout(ws_close=SOCKET_CLOSE_SECONDS)


def idle_seconds(first_byte_seconds: float) -> float:
    """Return the idle timeout of an open stream, at most the timeout of its first byte."""
    return min(settings.UPSTREAM_IDLE_SECONDS, first_byte_seconds)


def _phases(*, silence: float, whole: float) -> aiohttp.ClientTimeout:
    """Add a connect timeout. It is the shortest, so that a failed connection is never mistaken for a lost answer."""
    return _with_connecting(
        min(settings.UPSTREAM_CONNECT_SECONDS, UPSTREAM_CONNECT_MAX_SECONDS, silence), silence, whole
    )


@lru_cache
def _with_connecting(connect: float, silence: float, whole: float) -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(
        total=whole, connect=connect, sock_connect=connect, sock_read=silence, ceil_threshold=whole + 60
    )
