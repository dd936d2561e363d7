"""aiohttp's protocols of one connection, made safe against broken servers."""

import asyncio
import select
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

import aiohttp

from gateway.core.outbound.aiohttp_internals import Handler, HttpProcessingError, fail_body, has_begun

_IDLE_TIMEOUTS = (b"HTTP/1.1 408 ", b"HTTP/1.0 408 ")
"""A server may send this on an idle connection before it closes it (RFC 9110 section 15.5.9). It is nobody's answer."""

_TURNS_MAX = 3
"""So many turns of the event loop read what has arrived: one to notice it, one to handle it, and one for TLS."""


class CarefulHandler(Handler):
    """A connection that fails the body that is being read when it ends, is not reused after a 101, and reports a surplus: data
    that arrives without a request, or after a complete response.

    aiohttp's handler fails only the response that is awaited. The reader of a body with broken chunks, or of a connection that
    is closed on this side, would wait until the call times out. It also treats a 101 without a protocol as an empty response.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop)
        self.has_surplus = False
        self.is_reused = False
        self._on_surplus: Callable[[], None] | None = None
        self._is_reading = False
        self._rested: Any = None

    def watch(self, on_surplus: Callable[[], None]) -> None:
        """Call `on_surplus` at the first surplus, which may have arrived already."""
        self._on_surplus = on_surplus
        if self.has_surplus:
            on_surplus()

    def data_received(self, data: bytes) -> None:
        """Take what has arrived."""
        if not self.has_parser and data and not self.is_upgraded and not data.startswith(_IDLE_TIMEOUTS):
            self.note_surplus()
        self._is_reading = True
        super().data_received(data)
        self._is_reading = False
        if self._rested is not None:
            self._check_rested()

    def head_arrived(self, status: int) -> None:
        """Have the connection closed after a 101: the protocol is unknown from here on (RFC 9110 section 15.2.2)."""
        if status == HTTPStatus.SWITCHING_PROTOCOLS:
            self.forbid_reuse()

    def failed(self, error: BaseException, body: aiohttp.StreamReader | None) -> None:
        """Fail the body that is being read as well. It may still arrive if only the request could not be written."""
        if isinstance(error, HttpProcessingError | TimeoutError):
            _fail(body, error)

    def connection_lost(self, exc: BaseException | None) -> None:
        """Fail the body that is being read if the connection broke. aiohttp takes any end of the connection for the end of a body
        without a length, but a reset is an error (RFC 9112 section 8)."""
        if exc is not None:
            _fail(self.body, aiohttp.ClientConnectionError("the connection was lost"))
        self._is_reading = True  # the parser has seen the end, and nothing follows that
        super().connection_lost(exc)

    def close(self) -> None:
        """Close the connection, and fail the body that is being read."""
        body = self.body
        super().close()
        _fail(body, aiohttp.ClientConnectionError("the connection was closed"))

    def rest(self, *, is_complete: bool) -> None:
        """Remove the parser until the next request. Anything that arrives then is a surplus, and prevents the next request; a parser
        would absorb a partial head. `is_complete`: a whole response was read, so whatever else has arrived is a surplus too."""
        self.is_reused = True
        parser = self.take_parser()
        self._rested = parser if is_complete else None
        if self._rested is not None and not self._is_reading:
            self._check_rested()

    @property
    def is_quiet(self) -> bool:
        """Return whether nothing has arrived since the last response, not even in the system's buffer, and no end of the
        connection. The event loop may be too busy to have read it."""
        if not self.is_reusable or self.transport is None:
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
        if self.has_next_head or self.has_parse_error or has_begun(parser):
            self.forbid_reuse()
            self.note_surplus()


class AbortingHandler(CarefulHandler):
    """A connection that is aborted instead of closed: under TLS, a peer that keeps sending would delay the close."""

    def close(self) -> None:
        """Abort the connection."""
        self.abort()


def _fail(body: aiohttp.StreamReader | None, error: BaseException) -> None:
    if body is not None and not body.is_eof() and not body.exception():
        fail_body(body, error)
