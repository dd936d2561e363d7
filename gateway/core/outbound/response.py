"""A response from an upstream: its head, and its body as it arrives."""

import asyncio

import aiohttp
from multidict import CIMultiDictProxy

from gateway.core.outbound.aiohttp_internals import BodyWriter, Connection, Handler, fail_body
from gateway.core.outbound.failures import InterimResponsesError

INTERIM_RESPONSES_MAX = 1_000
"""A server may send this many informational responses (1xx) before the final one (RFC 9110 section 15.2). Some send a 102 every
second while they work."""


class Response:
    """A response and its connection, which goes back to the pool at the end of the body.

    `status`, `headers` and `content`, the body, decompressed, are set once it has begun. Times are seconds.
    """

    status: int
    headers: CIMultiDictProxy[str]
    content: aiohttp.StreamReader

    def __init__(self, connection: Connection, handler: Handler, whole_seconds: float | None) -> None:
        self._handler = handler
        self._connection: Connection | None = connection
        self._body: BodyWriter | None = None
        self._writer: asyncio.Task[None] | None = None
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(whole_seconds, self._time_out) if whole_seconds else None

    async def begin(self) -> None:
        """Wait for the head. Raises the client's error, or InterimResponsesError."""
        for _ in range(INTERIM_RESPONSES_MAX + 1):
            status, headers, content = await self._handler.next_head()
            if not 100 <= status < 200 or status == 101:
                break
            self._limit_next_silence()
        else:
            raise InterimResponsesError
        self.status, self.headers, self.content = status, headers, content
        content.on_eof(self._release)

    def attach_writer(self, body: BodyWriter, writer: "asyncio.Task[None]") -> None:
        """Store the task that writes the request's body, which ends with the response."""
        self._body, self._writer = body, writer

    @property
    def closed(self) -> bool:
        """Return whether the whole body has arrived, or the response was closed."""
        return self._connection is None

    def limit_silence(self, seconds: float) -> None:
        """Set how long the server may be silent from now on."""
        self._handler.limit_silence(seconds)

    def close(self) -> None:
        """Close the connection, unless the whole body has arrived and the connection is in the pool again."""
        if self._connection is not None:
            self._finish(reuse=False)

    @property
    def _is_written(self) -> bool:
        return self._writer is None or self._writer.done()

    @property
    def _is_of_another_request(self) -> bool:
        """Return whether a whole answer was there before this request had left, on a connection that has carried others. An early
        error can be this request's own (RFC 9112 section 9.5)."""
        transport, left_bytes = self._handler.transport, self._body.left_bytes if self._body else 0
        is_unsent = bool(left_bytes or (transport is not None and transport.get_write_buffer_size()))
        return is_unsent and self._handler.is_reused and 200 <= self.status < 300

    def _limit_next_silence(self) -> None:
        """Restart the silence limit after an informational response, unless more has arrived or the request is unfinished."""
        if self._is_written and not self._handler.has_next_head:
            self._handler.begin_silence()

    def _release(self) -> None:
        """Return the connection to the pool, unless its request is unfinished: another request must not follow it."""
        if self._connection is not None:
            if self._is_of_another_request:
                self._handler.note_surplus()
                fail_body(self.content, aiohttp.ClientConnectionError("the request was answered before it was sent"))
            self._finish(reuse=self._is_written)

    def _finish(self, *, reuse: bool) -> None:
        connection, self._connection = self._connection, None
        assert connection is not None
        for pending in (self._timer, self._writer):
            if pending is not None:
                pending.cancel()
        transport = connection.transport
        if transport is not None and (not reuse or transport.get_write_buffer_size()):
            transport.abort()  # closing it would keep the rest of the request in memory until the server reads it
            connection.close()
        else:
            connection.release()

    def _time_out(self) -> None:
        self._handler.set_exception(aiohttp.SocketTimeoutError("the response took too long"))
