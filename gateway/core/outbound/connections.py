"""aiohttp's pool of connections, made safe against broken servers."""

from functools import partial
from typing import Any, TypedDict

from gateway.core.outbound.aiohttp_internals import Handler, Key, Pool, not_connected, place_of
from gateway.core.outbound.distrust import Distrust, origin
from gateway.core.outbound.handlers import AbortingHandler, CarefulHandler

USER_AGENT = "account-gateway"

KEEPALIVE_SECONDS = 4.0
"""Shorter than the 5 s after which uvicorn and Node close an idle connection. If a request is sent while the server
closes the connection, it is unknown whether the server took it; so the gateway closes first."""


class HeadLimits(TypedDict):
    """Limits on the head of a response, by aiohttp's names; sizes are bytes."""

    max_line_size: int
    max_field_size: int
    max_headers: int


HEAD_LIMITS: HeadLimits = {"max_line_size": 8 * 1024, "max_field_size": 16 * 1024, "max_headers": 128}


class CarefulConnector(Pool):
    """A pool that discards a connection on which data arrived while it was idle, or that the other side has closed. An origin that
    `distrust` covers gets a new connection for each call.

    aiohttp's pool only checks whether a connection is open. A response that arrived late, or twice, would be taken for the
    response to the next call, and reach another customer. A request over a closed connection would be lost, and it would be
    unknown whether it was accepted.
    """

    handler = CarefulHandler

    def __init__(self, distrust: Distrust | None = None, **settings: Any) -> None:
        super().__init__(**settings)
        self._distrust = distrust or Distrust()

    def may_reuse(self, key: Key, handler: Handler) -> bool:
        """Return whether nothing has arrived since the last response, and the origin is not distrusted."""
        return _careful(handler).is_quiet and self.keeps(key)

    async def discarding(self, handler: Handler) -> None:
        """Read what has arrived, so that a surplus is noticed."""
        await _careful(handler).read_arrived()

    async def connected(self, key: Key, handler: Handler) -> None:
        """Watch a new connection for a surplus. Raises an error if the other side has already said something."""
        handler = _careful(handler)
        if not handler.is_quiet:
            await handler.read_arrived()
        handler.watch(partial(self._see_surplus, key))
        if not handler.is_reusable:
            raise not_connected(key, "the other side spoke first")

    def keeps(self, key: Key) -> bool:
        """Return whether the origin's connections may be reused."""
        return not (self._distrust.is_any and self._distrust.covers(origin(*place_of(key))))

    def released(self, handler: Handler, *, is_complete: bool) -> None:
        """Parse nothing on an idle connection."""
        _careful(handler).rest(is_complete=is_complete)

    def _see_surplus(self, key: Key) -> None:
        """Distrust the origin, and close its idle connections: each may have a surplus on its way."""
        self._distrust.see(origin(*place_of(key)))
        self.close_idle(key)


class AbortingConnector(CarefulConnector):
    """A pool whose connections are aborted, for unknown servers."""

    handler = AbortingHandler


def _careful(handler: Handler) -> CarefulHandler:
    assert isinstance(handler, CarefulHandler)
    return handler
