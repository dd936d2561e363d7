"""aiohttp's connections and pool, made safe against broken servers.

The classes depend on aiohttp's internals. Tests over real sockets fail if a new release changes these.
"""

import asyncio
import errno
from functools import partial
from typing import Any, ClassVar, TypedDict

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.client_reqrep import ConnectionKey
from aiohttp.connector import Connection
from aiohttp.tracing import Trace

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


class CarefulConnector(aiohttp.TCPConnector):
    """A pool that discards a connection on which data arrived while it was idle, or that the other side has closed. An origin that
    `distrust` covers gets a new connection for each call.

    aiohttp's pool only checks whether a connection is open. A response that arrived late, or twice, would be taken for the
    response to the next call, and reach another customer. A request over a closed connection would be lost, and it would be
    unknown whether it was accepted.
    """

    handler: ClassVar[type[ResponseHandler]] = CarefulHandler

    def __init__(self, distrust: Distrust | None = None, **settings: Any) -> None:
        super().__init__(**settings)
        self._factory = partial(self.handler, loop=self._loop)
        self._distrust = distrust or Distrust()

    async def _get(self, key: ConnectionKey, traces: list[Trace]) -> Connection | None:
        while (connection := await super()._get(key, traces)) is not None:
            assert isinstance(connection.protocol, CarefulHandler)
            if connection.protocol.is_quiet and not self._is_distrusted(key):
                return connection
            try:
                await connection.protocol.read_arrived()
            finally:
                connection.close()
        return None

    def _release(self, key: ConnectionKey, protocol: ResponseHandler, *, should_close: bool = False) -> None:
        assert isinstance(protocol, CarefulHandler)
        is_complete = not should_close and protocol.is_complete
        super()._release(key, protocol, should_close=should_close or self._is_distrusted(key))
        protocol.rest(is_complete=is_complete)

    async def _create_connection(
        self, req: aiohttp.ClientRequest, traces: list[Trace], phases: aiohttp.ClientTimeout
    ) -> ResponseHandler:
        protocol, key = await super()._create_connection(req, traces, phases), req.connection_key
        assert isinstance(protocol, CarefulHandler)
        try:
            if not protocol.is_quiet:
                await protocol.read_arrived()
            protocol.watch(partial(self._see_surplus, key))
        except BaseException:
            protocol.close()
            raise
        if protocol.should_close:
            protocol.close()
            raise _not_connected(key, "the other side spoke first")
        return protocol

    def _see_surplus(self, key: ConnectionKey) -> None:
        """Distrust the origin, and close its idle connections: each may have a surplus on its way."""
        self._distrust.see(_origin_of(key))
        for protocol, _ in self._conns.pop(key, ()):
            protocol.close()

    def _is_distrusted(self, key: ConnectionKey) -> bool:
        return self._distrust.is_any and self._distrust.covers(_origin_of(key))

    async def _wait_for_available_connection(self, key: ConnectionKey, traces: list[Trace]) -> None:
        """Wait for a connection. Closing the pool ends the wait with an error; it does not cancel the waiting task."""
        try:
            await super()._wait_for_available_connection(key, traces)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if not self.closed or task is None or task.cancelling():
                raise
            raise _not_connected(key, "the pool was closed") from None


class AbortingConnector(CarefulConnector):
    """A pool whose connections are aborted, for unknown servers."""

    handler = AbortingHandler


def _not_connected(key: ConnectionKey, why: str) -> aiohttp.ClientConnectorError:
    return aiohttp.ClientConnectorError(key, ConnectionAbortedError(errno.ECONNABORTED, why))


def _origin_of(key: ConnectionKey) -> str:
    return origin("https" if key.is_ssl else "http", key.host, key.port)
