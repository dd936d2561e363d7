"""aiohttp's connections and pool, made safe against broken servers.

The classes depend on aiohttp's internals. Tests over real sockets fail if a new release changes these.
"""

import asyncio
import errno
import select
from functools import partial
from http import HTTPStatus
from typing import Any, ClassVar, TypedDict

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.client_reqrep import ConnectionKey
from aiohttp.connector import Connection
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.http_parser import RawResponseMessage
from aiohttp.streams import StreamReader
from aiohttp.tracing import Trace

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


class CarefulHandler(ResponseHandler):
    """A connection that fails the body that is being read when it ends, and is not reused after a 101.

    aiohttp's handler fails only the response that is awaited. The reader of a body with broken chunks, or of a connection that
    is closed on this side, would wait until the call times out. It also treats a 101 without a protocol as an empty response.
    """

    def feed_data(self, data: tuple[RawResponseMessage, StreamReader], size: int = 0) -> None:
        """Take the head of a response. After a 101 the protocol is unknown (RFC 9110 section 15.2.2)."""
        if data[0].code == HTTPStatus.SWITCHING_PROTOCOLS:
            self.force_close()
        super().feed_data(data, size)

    def set_exception(self, exc: BaseException, *cause: Any) -> None:
        """Fail the response that is awaited, and the body that is being read. The body may still arrive if only the request
        could not be written."""
        body = self._payload
        super().set_exception(exc, *cause)
        if isinstance(exc, HttpProcessingError | TimeoutError):
            _fail(body, exc)

    def connection_lost(self, exc: BaseException | None) -> None:
        """Fail the body that is being read if the connection broke. aiohttp takes any end of the connection for the end of a body
        without a length, but a reset is an error (RFC 9112 section 8)."""
        if exc is not None:
            _fail(self._payload, aiohttp.ClientConnectionError("the connection was lost"))
        super().connection_lost(exc)

    def close(self) -> None:
        """Close the connection, and fail the body that is being read."""
        body = self._payload
        super().close()
        _fail(body, aiohttp.ClientConnectionError("the connection was closed"))

    def rest(self) -> None:
        """Remove the parser until the next request. Anything that arrives then sets `should_close`; a parser would absorb a
        partial head."""
        self._parser = None

    @property
    def is_quiet(self) -> bool:
        """Return whether nothing has arrived since the last response, not even in the system's buffer, and no end of the
        connection. The event loop may be too busy to have read it."""
        if self.should_close or self.transport is None:
            return False
        incoming = select.poll()
        incoming.register(self.transport.get_extra_info("socket"), select.POLLIN)
        return not incoming.poll(0)


class AbortingHandler(CarefulHandler):
    """A connection that is aborted instead of closed: under TLS, a peer that keeps sending would delay the close."""

    def close(self) -> None:
        """Abort the connection."""
        self.abort()


class CarefulConnector(aiohttp.TCPConnector):
    """A pool that discards a connection on which data arrived while it was idle, or that the other side has closed.

    aiohttp's pool only checks whether a connection is open. A response that arrived late, or twice, would be taken for the
    response to the next call, and reach another customer. A request over a closed connection would be lost, and it would be
    unknown whether it was accepted.
    """

    handler: ClassVar[type[ResponseHandler]] = CarefulHandler

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._factory = partial(self.handler, loop=self._loop)

    async def _get(self, key: ConnectionKey, traces: list[Trace]) -> Connection | None:
        while (connection := await super()._get(key, traces)) is not None:
            if isinstance(connection.protocol, CarefulHandler) and connection.protocol.is_quiet:
                return connection
            connection.close()
        return None

    def _release(self, key: ConnectionKey, protocol: ResponseHandler, *, should_close: bool = False) -> None:
        super()._release(key, protocol, should_close=should_close)
        assert isinstance(protocol, CarefulHandler)
        protocol.rest()

    async def _create_connection(
        self, req: aiohttp.ClientRequest, traces: list[Trace], phases: aiohttp.ClientTimeout
    ) -> ResponseHandler:
        protocol = await super()._create_connection(req, traces, phases)
        if protocol.should_close:
            protocol.close()
            raise _not_connected(req.connection_key, "the other side spoke first")
        return protocol

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


def _fail(body: StreamReader | None, error: BaseException) -> None:
    if body is not None and not body.is_eof() and not body.exception():
        body.set_exception(error)
