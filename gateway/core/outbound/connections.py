"""The HTTP client's connections, made safe against what a broken server sends.

The classes reach into aiohttp's own; tests over real sockets fail where a new release changes what they rely on.
"""

from functools import partial
from http import HTTPStatus
from typing import Any, ClassVar

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.client_reqrep import ConnectionKey
from aiohttp.connector import Connection
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.http_parser import RawResponseMessage
from aiohttp.streams import StreamReader
from aiohttp.tracing import Trace


class CarefulHandler(ResponseHandler):
    """A connection that tells the reader of a body at once where its framing breaks, and serves no call after a 101.

    The stock one tells only who waits for the next answer: a body whose chunks go wrong behind its first bytes would be
    waited for until the whole call times out. And it takes a 101 that does not name its protocol for an empty answer.
    """

    def feed_data(self, data: tuple[RawResponseMessage, StreamReader], size: int = 0) -> None:
        """Take the head of an answer. Behind a 101 nobody knows what is said (RFC 9110 section 15.2.2)."""
        if data[0].code == HTTPStatus.SWITCHING_PROTOCOLS:
            self.force_close()
        super().feed_data(data, size)

    def set_exception(self, exc: BaseException, *cause: Any) -> None:
        """Fail the answer that is waited for, and the body that is being read."""
        body = self._payload
        super().set_exception(exc, *cause)
        if isinstance(exc, HttpProcessingError) and body is not None and not body.is_eof() and not body.exception():
            body.set_exception(exc)


class AbortingHandler(CarefulHandler):
    """A connection that is cut, not closed: under TLS, a peer that goes on sending would keep a close waiting."""

    def close(self) -> None:
        """Cut the connection at once."""
        self.abort()


class CarefulConnector(aiohttp.TCPConnector):
    """A pool that never hands out a connection on which something arrived while nobody had asked.

    The stock pool only looks whether a connection is still up, and whatever an upstream sent too late, or twice, would
    be taken for the answer to the next call: one customer's answer given to another.
    """

    handler: ClassVar[type[ResponseHandler]] = CarefulHandler

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._factory = partial(self.handler, loop=self._loop)

    async def _get(self, key: ConnectionKey, traces: list[Trace]) -> Connection | None:
        while (connection := await super()._get(key, traces)) is not None:
            if connection.protocol is not None and not connection.protocol.should_close:
                return connection
            connection.close()
        return None


class AbortingConnector(CarefulConnector):
    """A pool whose connections are cut, for peers that nobody knows."""

    handler = AbortingHandler
