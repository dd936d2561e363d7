"""All that the gateway uses of aiohttp beyond its documentation, which any release may change (docs/decisions/0065)."""

import asyncio
import errno
import select
from collections.abc import Awaitable, Callable
from functools import partial
from http import HTTPStatus
from typing import Any

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.client_reqrep import ConnectionKey
from aiohttp.connector import Connection
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.http_parser import RawResponseMessage
from aiohttp.http_writer import StreamWriter
from aiohttp.tracing import Trace
from multidict import CIMultiDictProxy
from yarl import URL

from gateway.core.outbound.distrust import Distrust, origin

_IDLE_TIMEOUTS = (b"HTTP/1.1 408 ", b"HTTP/1.0 408 ")
"""A server may send this on an idle connection before it closes it (RFC 9110 section 15.5.9). It is nobody's answer."""

_TURNS_MAX = 3
"""So many turns of the event loop read what has arrived: one to notice it, one to handle it, and one for TLS."""


class Handler(ResponseHandler):
    """A connection that fails the body that is being read when it ends, is not reused after a 101, and reports a surplus: data
    that arrives without a request, or after a complete response.

    aiohttp's handler fails only the response that is awaited. The reader of a body with broken chunks, or of a connection that
    is closed on this side, would wait until the call times out. It also treats a 101 without a protocol as an empty response.
    """

    transport: asyncio.Transport | None

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop)
        self.has_surplus = False
        self.is_reused = False
        self._on_surplus: Callable[[], None] | None = None
        self._is_reading = False
        self._rested: Any = None
        self._data_at = 0.0
        self._silence_seconds: float | None = None

    def watch(self, on_surplus: Callable[[], None]) -> None:
        """Call `on_surplus` at the first surplus, which may have arrived already."""
        self._on_surplus = on_surplus
        if self.has_surplus:
            on_surplus()

    def expect(self, silence_seconds: float | None, head_limits: Any) -> None:
        """Parse what arrives from now on as responses to one request."""
        self.set_response_params(read_until_eof=True, read_timeout=silence_seconds, **head_limits)

    async def next_head(self) -> tuple[int, CIMultiDictProxy[str], aiohttp.StreamReader]:
        """Wait for a head: its status and headers, and its body, which is arriving. Raises the error that ended the connection."""
        message, body = await self.read()
        return message.code, message.headers, body

    def limit_silence(self, seconds: float) -> None:
        """Set how long the other side may be silent from now on."""
        self.read_timeout = seconds

    def begin_silence(self) -> None:
        """Start to wait for the other side: the request was written."""
        self.start_timeout()

    def data_received(self, data: bytes) -> None:
        """Take what has arrived."""
        if self._parser is None and data and not self._upgraded and not data.startswith(_IDLE_TIMEOUTS):
            self.note_surplus()
        self._is_reading = True
        super().data_received(data)
        self._is_reading = False
        if self._rested is not None:
            self._check_rested()

    def feed_data(self, data: tuple[RawResponseMessage, aiohttp.StreamReader], size: int = 0) -> None:
        """Take a head. After a 101, the connection is closed: the protocol is unknown from here on (RFC 9110 section 15.2.2)."""
        if data[0].code == HTTPStatus.SWITCHING_PROTOCOLS:
            self.force_close()
        super().feed_data(data, size)

    def set_exception(self, exc: BaseException, *cause: Any) -> None:
        """Fail the response that is awaited, and the body that is being read. It may still arrive if only the request could not be
        written."""
        body = self._payload
        super().set_exception(exc, *cause)
        if isinstance(exc, HttpProcessingError | TimeoutError):
            _fail(body, exc)

    def connection_lost(self, exc: BaseException | None) -> None:
        """Fail the body that is being read if the connection broke. aiohttp takes any end of the connection for the end of a body
        without a length, but a reset is an error (RFC 9112 section 8)."""
        if exc is not None:
            _fail(self._payload, aiohttp.ClientConnectionError("the connection was lost"))
        self._is_reading = True  # the parser has seen the end, and nothing follows that
        super().connection_lost(exc)

    def close(self) -> None:
        """Close the connection, and fail the body that is being read. The pool does so with those that it does not keep."""
        body = self._payload
        super().close()
        _fail(body, aiohttp.ClientConnectionError("the connection was closed"))

    def resume_reading(self, resume_parser: bool = True) -> None:
        """Resume reading, if it was paused. aiohttp calls this after every read of a body, and would run the parser each time."""
        if self._reading_paused:
            super().resume_reading(resume_parser)

    def _reschedule_timeout(self) -> None:
        """Begin the other side's time to be silent. A running timer is moved when it fires, not with every piece of a body."""
        self._data_at = self._loop.time()
        if self._read_timeout_handle is None or self._silence_seconds != self._read_timeout:
            self._silence_seconds = self._read_timeout
            super()._reschedule_timeout()

    def _on_read_timeout(self) -> None:
        left_seconds = self._data_at + (self._silence_seconds or 0) - self._loop.time()
        if left_seconds > 0:
            self._read_timeout_handle = self._loop.call_later(left_seconds, self._on_read_timeout)
        else:
            super()._on_read_timeout()

    def rest(self, *, is_complete: bool) -> None:
        """Remove the parser until the next request. Anything that arrives then is a surplus, and prevents the next request; a parser
        would absorb a partial head. `is_complete`: a whole response was read, so whatever else has arrived is a surplus too."""
        self.is_reused = True
        parser, self._parser = self._parser, None
        self._rested = parser if is_complete else None
        if self._rested is not None and not self._is_reading:
            self._check_rested()

    @property
    def has_next_head(self) -> bool:
        """Return whether a head is in the queue."""
        return bool(self._buffer)

    @property
    def is_quiet(self) -> bool:
        """Return whether nothing has arrived since the last response, not even in the system's buffer, and no end of the
        connection. The event loop may be too busy to have read it."""
        if self.should_close or self.transport is None:
            return False
        incoming = select.poll()
        incoming.register(self.transport.get_extra_info("socket"), select.POLLIN)
        return not incoming.poll(0)

    async def read_arrived(self) -> None:
        """Yield until the event loop has read the socket's buffer: a surplus, the end of the connection, or TLS records."""
        for _ in range(_TURNS_MAX):
            await asyncio.sleep(0)

    def note_surplus(self) -> None:
        """Report a surplus, once for each connection."""
        if not self.has_surplus:
            self.has_surplus = True
            if self._on_surplus is not None:
                self._on_surplus()

    def _check_rested(self) -> None:
        """Note a surplus behind the last response: a complete head in the queue, or something that the parser has begun with or
        failed at."""
        parser, self._rested = self._rested, None
        if self._buffer or isinstance(self._exception, HttpProcessingError) or _has_begun(parser):
            self.force_close()
            self.note_surplus()


class AbortingHandler(Handler):
    """A connection that is aborted instead of closed, for unknown servers: under TLS, a peer that keeps sending would delay the close."""

    def close(self) -> None:
        """Close the connection without sending what is buffered, and without TLS's farewell."""
        self.abort()


class Pool(aiohttp.TCPConnector):
    """A pool that discards a connection on which data arrived while it was idle, or that the other side has closed. An origin that
    `distrust` covers gets a new connection for each call. `handler` is the class of the connections.

    aiohttp's pool only checks whether a connection is open. A response that arrived late, or twice, would be taken for the
    response to the next call, and reach another customer. A request over a closed connection would be lost, and it would be
    unknown whether it was accepted.
    """

    def __init__(self, distrust: Distrust | None = None, handler: type[Handler] = Handler, **settings: Any) -> None:
        super().__init__(**settings)
        self._factory = partial(handler, loop=self._loop)  # type: ignore[assignment]
        self._distrust = distrust or Distrust()

    def take(self, destination: aiohttp.ClientRequest, phases: aiohttp.ClientTimeout) -> Awaitable[Connection]:
        """Take an idle connection, or open one. Raises aiohttp's error."""
        return self.connect(destination, [], phases)

    async def _get(self, key: ConnectionKey, traces: list[Trace]) -> Connection | None:
        while (connection := await super()._get(key, traces)) is not None:
            handler = handler_of(connection)
            if handler.is_quiet and self._may_reuse(key):
                return connection
            try:
                await handler.read_arrived()  # so that a surplus is noticed
            finally:
                connection.close()
        return None

    def _release(self, key: ConnectionKey, protocol: ResponseHandler, *, should_close: bool = False) -> None:
        assert isinstance(protocol, Handler)
        body = protocol._payload  # noqa: SLF001
        # A body that belongs to a head in the queue is behind the last response.
        is_complete = not should_close and (protocol.has_next_head or body is None or body.is_eof())
        super()._release(key, protocol, should_close=should_close or not self._may_reuse(key))
        protocol.rest(is_complete=is_complete)

    async def _create_connection(
        self, req: aiohttp.ClientRequest, traces: list[Trace], phases: aiohttp.ClientTimeout
    ) -> ResponseHandler:
        protocol = await super()._create_connection(req, traces, phases)
        assert isinstance(protocol, Handler)
        try:
            if not protocol.is_quiet:
                await protocol.read_arrived()
            protocol.watch(partial(self._see_surplus, req.connection_key))
            if protocol.should_close:
                raise _not_connected(req.connection_key, "the other side spoke first")
        except BaseException:
            protocol.close()
            raise
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

    def _may_reuse(self, key: ConnectionKey) -> bool:
        return not (self._distrust.is_any and self._distrust.covers(_origin_of(key)))

    def _see_surplus(self, key: ConnectionKey) -> None:
        """Distrust the origin, and close its idle connections: each may have a surplus on its way."""
        self._distrust.see(_origin_of(key))
        for handler, _ in self._conns.pop(key, ()):
            handler.close()


class BodyWriter:
    """Writes a request's body as fast as the server reads it, and never more than its length."""

    def __init__(self, handler: Handler, payload: aiohttp.Payload) -> None:
        self._payload = payload
        self._writer = StreamWriter(handler, asyncio.get_running_loop())
        self._writer.length = payload.size  # it drops what exceeds this

    @property
    def left_bytes(self) -> int:
        """Return how much of the length is not yet written."""
        return self._writer.length or 0

    async def write(self) -> None:
        """Write the body."""
        await self._payload.write_with_length(self._writer, None)


def handler_of(connection: Connection) -> Handler:
    """Return the protocol of a connection that is not yet released."""
    assert isinstance(connection.protocol, Handler)
    return connection.protocol


def destination(url: URL) -> aiohttp.ClientRequest:
    """Build the request by which the pool finds a URL's connections and opens new ones."""
    return aiohttp.ClientRequest("POST", url, loop=asyncio.get_running_loop())


def fail_body(body: aiohttp.StreamReader, error: BaseException) -> None:
    """Have the reader of a body get an error, whether or not all of it has arrived."""
    body.set_exception(error)


def send_once(session: aiohttp.ClientSession) -> aiohttp.ClientSession:
    """Return the session, which from now on sends each request once.

    aiohttp sends a GET a second time if the connection is lost before the response, even on a new connection. Whether a call is
    repeated is for the gateway to decide.
    """
    session._retry_connection = False  # noqa: SLF001
    return session


def _origin_of(key: ConnectionKey) -> str:
    return origin("https" if key.is_ssl else "http", key.host, key.port)


def _not_connected(key: ConnectionKey, why: str) -> aiohttp.ClientConnectorError:
    return aiohttp.ClientConnectorError(key, ConnectionAbortedError(errno.ECONNABORTED, why))


def _fail(body: aiohttp.StreamReader | None, error: BaseException) -> None:
    if body is not None and not body.is_eof() and not body.exception():
        fail_body(body, error)


def _has_begun(parser: Any) -> bool:
    """Return whether a parser that was taken from its handler has read a part of another head."""
    try:
        return parser.feed_eof() is not None
    except Exception:  # noqa: BLE001 - the part is invalid, too
        return True
