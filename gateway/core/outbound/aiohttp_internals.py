"""All that the gateway uses of aiohttp beyond its documentation, which any release may change (docs/decisions/0065).

`Handler` and `Pool` are thin. What a connection and the pool do differently is in their subclasses (`handlers`, `connections`), which
override only the hooks, and methods that asyncio documents.
"""

import asyncio
import errno
from collections.abc import Awaitable
from functools import partial
from typing import Any, ClassVar

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.client_reqrep import ConnectionKey
from aiohttp.connector import Connection
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.http_parser import RawResponseMessage
from aiohttp.http_writer import StreamWriter
from aiohttp.streams import EMPTY_PAYLOAD
from aiohttp.tracing import Trace
from multidict import CIMultiDictProxy
from yarl import URL

EMPTY_BODY = EMPTY_PAYLOAD
Key = ConnectionKey
"""What the pool finds connections by."""


class Handler(ResponseHandler):
    """The protocol of one connection. It parses what arrives, and queues the heads of responses."""

    transport: asyncio.Transport | None

    def head_arrived(self, status: int) -> None:
        """Hook: a head has arrived, and is queued next."""

    def failed(self, error: BaseException, body: aiohttp.StreamReader | None) -> None:
        """Hook: the response that is awaited has failed. `body` is the one that is being read."""

    def close(self) -> None:
        """Hook: close the connection. The pool does so with those that it does not keep."""
        super().close()

    def abort(self) -> None:
        """Close the connection without sending what is buffered, and without TLS's farewell."""
        super().abort()

    def expect(self, silence_seconds: float | None, head_limits: Any) -> None:
        """Parse what arrives from now on as responses to one request."""
        self.set_response_params(read_until_eof=True, read_timeout=silence_seconds, **head_limits)

    async def next_head(self) -> tuple[int, CIMultiDictProxy[str], aiohttp.StreamReader]:
        """Wait for a head: its status and headers, and its body, which is arriving. Raises the error that ended the connection."""
        message, body = await self.read()
        return message.code, message.headers, body

    def fail(self, error: BaseException, *cause: BaseException) -> None:
        """Fail the response that is awaited."""
        self.set_exception(error, *cause)

    def limit_silence(self, seconds: float) -> None:
        """Set how long the other side may be silent from now on."""
        self.read_timeout = seconds

    def begin_silence(self) -> None:
        """Start to wait for the other side: the request was written."""
        self.start_timeout()

    def forbid_reuse(self) -> None:
        """Have the connection closed after its response."""
        self.force_close()

    @property
    def is_reusable(self) -> bool:
        """Return whether another request may follow: nothing has failed or ended, and no data is left over."""
        return not self.should_close

    @property
    def has_parser(self) -> bool:
        """Return whether what arrives is parsed."""
        return self._parser is not None

    @property
    def is_upgraded(self) -> bool:
        """Return whether the connection has become a WebSocket."""
        return self._upgraded

    @property
    def has_next_head(self) -> bool:
        """Return whether a head is in the queue."""
        return bool(self._buffer)

    @property
    def has_parse_error(self) -> bool:
        """Return whether something arrived that is not HTTP."""
        return isinstance(self._exception, HttpProcessingError)

    @property
    def body(self) -> aiohttp.StreamReader | None:
        """Return the body of the last head, None once the connection is closed."""
        return self._payload

    def take_parser(self) -> Any:
        """Remove and return the parser. What arrives without one is kept unparsed, and makes the connection not reusable."""
        parser, self._parser = self._parser, None
        return parser

    def feed_data(self, data: tuple[RawResponseMessage, aiohttp.StreamReader], size: int = 0) -> None:
        """Override: call the hook."""
        self.head_arrived(data[0].code)
        super().feed_data(data, size)

    def set_exception(self, exc: BaseException, *cause: Any) -> None:
        """Override: call the hook."""
        body = self._payload
        super().set_exception(exc, *cause)
        self.failed(exc, body)


class Pool(aiohttp.TCPConnector):
    """Opens connections and keeps idle ones. `handler` is the class of their protocols."""

    handler: ClassVar[type[Handler]] = Handler

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._factory = partial(self.handler, loop=self._loop)  # type: ignore[assignment]

    def may_reuse(self, key: Key, handler: Handler) -> bool:
        """Hook: return whether an idle connection may carry another request."""
        return True

    async def discarding(self, handler: Handler) -> None:
        """Hook: an idle connection that may not be reused is closed next."""

    async def connected(self, key: Key, handler: Handler) -> None:
        """Hook: a new connection is there. Raises to close it."""

    def keeps(self, key: Key) -> bool:
        """Hook: return whether connections go back to the pool."""
        return True

    def released(self, handler: Handler, *, is_complete: bool) -> None:
        """Hook: a connection was closed, or is idle now. `is_complete`: no body was being read."""

    def take(self, destination: aiohttp.ClientRequest, phases: aiohttp.ClientTimeout) -> Awaitable[Connection]:
        """Take an idle connection, or open one. Raises aiohttp's error."""
        return self.connect(destination, [], phases)

    def close_idle(self, key: Key) -> None:
        """Close the idle connections to one place."""
        for handler, _ in self._conns.pop(key, ()):
            handler.close()

    async def _get(self, key: Key, traces: list[Trace]) -> Connection | None:
        while (connection := await super()._get(key, traces)) is not None:
            handler = handler_of(connection)
            if self.may_reuse(key, handler):
                return connection
            try:
                await self.discarding(handler)
            finally:
                connection.close()
        return None

    def _release(self, key: Key, protocol: ResponseHandler, *, should_close: bool = False) -> None:
        assert isinstance(protocol, Handler)
        is_complete = not should_close and _is_complete(protocol)
        super()._release(key, protocol, should_close=should_close or not self.keeps(key))
        self.released(protocol, is_complete=is_complete)

    async def _create_connection(
        self, req: aiohttp.ClientRequest, traces: list[Trace], phases: aiohttp.ClientTimeout
    ) -> ResponseHandler:
        protocol = await super()._create_connection(req, traces, phases)
        assert isinstance(protocol, Handler)
        try:
            await self.connected(req.connection_key, protocol)
        except BaseException:
            protocol.close()
            raise
        return protocol

    async def _wait_for_available_connection(self, key: Key, traces: list[Trace]) -> None:
        """Wait for a connection. Closing the pool ends the wait with an error; it does not cancel the waiting task."""
        try:
            await super()._wait_for_available_connection(key, traces)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if not self.closed or task is None or task.cancelling():
                raise
            raise not_connected(key, "the pool was closed") from None


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


def place_of(key: Key) -> tuple[str, str, int | None]:
    """Return the scheme, host and port."""
    return "https" if key.is_ssl else "http", key.host, key.port


def not_connected(key: Key, why: str) -> aiohttp.ClientConnectorError:
    """Build the error of a connection that could not be used."""
    return aiohttp.ClientConnectorError(key, ConnectionAbortedError(errno.ECONNABORTED, why))


def fail_body(body: aiohttp.StreamReader, error: BaseException) -> None:
    """Have the reader of a body get an error, whether or not all of it has arrived."""
    body.set_exception(error)


def has_begun(parser: Any) -> bool:
    """Return whether a parser that was taken from its handler has read a part of another head."""
    try:
        return parser.feed_eof() is not None
    except Exception:  # noqa: BLE001 - the part is invalid, too
        return True


def send_once(session: aiohttp.ClientSession) -> aiohttp.ClientSession:
    """Return the session, which from now on sends each request once.

    aiohttp sends a GET a second time if the connection is lost before the response, even on a new connection. Whether a call is
    repeated is for the gateway to decide.
    """
    session._retry_connection = False  # noqa: SLF001
    return session


def _is_complete(handler: Handler) -> bool:
    """Return whether no body is being read. One that belongs to a head in the queue is behind the last response."""
    body = handler.body
    return handler.has_next_head or body is None or body.is_eof()
